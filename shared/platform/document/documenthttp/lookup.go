package documenthttp

import (
	"context"
	"errors"
	"strings"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/fault"
	"sluice/shared/platform/document"
)

var (
	errNotFound = fault.New(fault.NotFound, "document_not_found", "There is no such document.")
	errChanged  = fault.New(fault.Conflict, "document_changed",
		"The document was changed at the same time. Read it again.")
	errExists  = fault.New(fault.Conflict, "document_exists", "A document with this ID already exists.")
	errTooMany = fault.New(fault.TooLarge, "too_many_documents",
		"The reply would be too large. Use the pages of POST /entity/paged.")
	errOutOfReach = fault.New(fault.Forbidden, "access_layers_missing",
		"The client lacks the access layers of this document.")
)

var errStorage = fault.New(fault.Unavailable, "storage", "The file cannot be deleted now. Try again.")

// faultOf returns the fault for an outcome of the store, and every other error as it is.
func faultOf(err error) error {
	switch {
	case errors.Is(err, document.ErrNotFound):
		return errNotFound
	case errors.Is(err, document.ErrChanged):
		return errChanged.WithCause(err)
	case errors.Is(err, document.ErrExists):
		return errExists
	}
	return err
}

// entityTypeNames lists the entity types.
func entityTypeNames() []string {
	names := make([]string, len(document.EntityTypes))
	for i, t := range document.EntityTypes {
		names[i] = string(t)
	}
	return names
}

// requestedType returns the entity type that the query parameter names; "" if there is no parameter.
func requestedType(r *platform.Request) (document.EntityType, error) {
	const name = "documentEntityType"
	values := r.Query(name)
	if len(values) == 0 {
		return "", nil
	}
	t, ok := document.ParseEntityType(values[0])
	if !ok || len(values) > 1 {
		return "", r.InvalidParameter(fault.InQuery, name,
			"The value must be one of "+strings.Join(entityTypeNames(), ", ")+", given once.", platform.CodeOneOf)
	}
	return t, nil
}

// findByPath reads the document that the path names, in or out of the caller's reach.
func (s *Documents) findByPath(ctx context.Context, r *platform.Request) (document.Document, document.File, error) {
	id, err := r.PathUUID("id")
	if err != nil {
		return document.Document{}, document.File{}, err
	}
	return s.read(ctx, r, id)
}

func (s *Documents) read(ctx context.Context, r *platform.Request,
	id string) (document.Document, document.File, error) {
	d, file, err := s.Store.Get(ctx, r.Tenant, strings.ToLower(id))
	return d, file, faultOf(err)
}

// typedCommands are the commands at the routes of one entity type.
type typedCommands struct {
	*Documents
	// entityType is the type of the documents that are found if the query parameter does not name one; "" for any.
	entityType document.EntityType
}

// find reads the document that a command's path names. The caller must reach it.
func (c typedCommands) find(ctx context.Context, r *platform.Request) (document.Document, error) {
	t, err := requestedType(r)
	if err != nil {
		return document.Document{}, err
	}
	id, err := r.PathUUID("id")
	if err != nil {
		return document.Document{}, err
	}
	return c.findOfType(ctx, r, id, t)
}

// findOfType reads a document, which must be of the requested type or, if that is "", of the commands' type. The caller
// must reach it.
func (c typedCommands) findOfType(ctx context.Context, r *platform.Request, id string,
	requested document.EntityType) (document.Document, error) {
	if requested == "" {
		requested = c.entityType
	}
	d, _, err := c.read(ctx, r, id)
	switch {
	case err != nil:
		return d, err
	case requested != "" && d.EntityType != requested:
		return d, errNotFound
	case !r.Layers.CanReach(d.Layers):
		return d, errOutOfReach
	}
	return d, nil
}

// edit changes the document that a command's path names and stores it.
func (c typedCommands) edit(ctx context.Context, r *platform.Request,
	change func(*document.Document) error) (document.Document, error) {
	d, err := c.find(ctx, r)
	if err != nil {
		return d, err
	}
	if err := change(&d); err != nil {
		return d, err
	}
	d.UpdatedBy, d.UpdatedAt = r.Client, c.Now()
	d, err = c.Store.Save(ctx, d)
	return d, faultOf(err)
}
