// Package documenthttp serves document management (docs/contract/platform.md, Documents).
package documenthttp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"sluice/shared/document"
	"sluice/shared/fault"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
	"sluice/shared/objects"
)

type files interface {
	SignPut(ctx context.Context, key string, lifetime time.Duration) (objects.SignedURL, error)
	SignGet(ctx context.Context, key, filename string, lifetime time.Duration) (objects.SignedURL, error)
	// Delete removes an object; one that is not there is success.
	Delete(ctx context.Context, key string) error
}

// Documents serves commands and queries.
type Documents struct {
	Store            document.Store
	Files            files
	UploadLifetime   time.Duration
	DownloadLifetime time.Duration
	Now              func() time.Time
	NewID            func() string // a UUID
	Paging           *platform.Paging
}

var (
	errNotFound = fault.New(fault.NotFound, "document_not_found", "There is no such document.")
	errChanged  = fault.New(fault.Conflict, "document_changed", "The document was changed at the same time. Read it again.")
	errTooMany  = fault.New(fault.TooLarge, "too_many_documents", "The reply would be too large. Use the pages of POST /entity/paged.")
	errReach    = fault.New(fault.Forbidden, "access_layers_missing", "The client lacks the access layers of this document.")
)

var entityTypes = []string{string(document.Entity), string(document.Product), string(document.Deal), string(document.Screening)}

// asked is the type that the parameter names; "" if it is not given.
func asked(r *http.Request) (document.EntityType, error) {
	values, given := r.URL.Query()["documentEntityType"]
	if !given {
		return "", nil
	}
	t, ok := document.ParseEntityType(values[0])
	if !ok || len(values) > 1 {
		var f platform.Faults
		f.Add("documentEntityType", "The value must be one of "+strings.Join(entityTypes, ", ")+", given once.", platform.Enum)
		return "", f.Err()
	}
	return t, nil
}

// routeType is the type of the documents that a route is about.
func routeType(r *http.Request) document.EntityType {
	rest, _ := strings.CutPrefix(r.URL.Path, commands+"/")
	segment, _, _ := strings.Cut(rest, "/")
	switch segment {
	case "product":
		return document.Product
	case "deal":
		return document.Deal
	}
	return document.Entity
}

// find reads the document that a command names, if the caller reaches it. Its type must be the parameter's, or else the
// route's; archive and unarchive, which have one route for all types, find any.
func (s *Documents) find(ctx context.Context, c httpapi.Caller, r *http.Request) (document.Document, error) {
	want, err := asked(r)
	if want == "" && r.Method != http.MethodPost {
		want = routeType(r)
	}
	if err != nil {
		return document.Document{}, err
	}
	return s.reach(ctx, c, r.PathValue("id"), want)
}

// reach reads a document of the wanted type, "" for any, if the caller reaches it.
func (s *Documents) reach(ctx context.Context, c httpapi.Caller, id string, want document.EntityType) (document.Document, error) {
	d, _, err := s.read(ctx, c, id)
	if err == nil && want != "" && d.EntityType != want {
		err = errNotFound
	}
	if err == nil && !c.Layers.CanReach(d.Layers) {
		err = errReach
	}
	return d, err
}

func (s *Documents) read(ctx context.Context, c httpapi.Caller, id string) (document.Document, document.File, error) {
	if !platform.IsUUID(id) {
		var f platform.Faults
		f.UUID("id", id)
		return document.Document{}, document.File{}, f.Err()
	}
	d, file, err := s.Store.Get(ctx, c.Tenant, strings.ToLower(id))
	return d, file, outcome(err)
}

// change does what a command wants with its document.
func (s *Documents) change(ctx context.Context, c httpapi.Caller, r *http.Request, edit func(*document.Document) error) (document.Document, error) {
	d, err := s.find(ctx, c, r)
	if err != nil {
		return d, err
	}
	if err := edit(&d); err != nil {
		return d, err
	}
	d.UpdatedBy, d.UpdatedAt = c.Client, s.Now()
	d, err = s.Store.Save(ctx, d)
	return d, outcome(err)
}

// outcome gives the store's outcomes their faults.
func outcome(err error) error {
	switch {
	case errors.Is(err, document.ErrNotFound):
		return errNotFound
	case errors.Is(err, document.ErrChanged):
		return errChanged.Because(err)
	case errors.Is(err, document.ErrExists):
		return fault.New(fault.Conflict, "document_exists", "A document of this id exists already.")
	}
	return err
}

// fileKey is where a file lies in its bucket.
func fileKey(tenant, file string) string { return document.FilePrefix + tenant + "/" + file }

// unique notes a text that stands twice.
func unique(f *platform.Faults, name string, values []string) {
	sorted := slices.Clone(values)
	if slices.Sort(sorted); len(slices.Compact(sorted)) < len(values) {
		f.Add(name, "The list has an item twice.", platform.Unique)
	}
}
