package screeninghttp

import (
	"context"
	"errors"
	"slices"
	"strings"

	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/platform/document"
	"sluice/shared/screening"
)

// DeleteDocument deletes a document of an open batch, and its file if no other document shares it. One write, which
// requires the batch to be open, begins the deletion; after that it can be repeated until it is complete, with any
// status of the batch.
func (s *Screenings) DeleteDocument(ctx context.Context, r *platform.Request, _ platform.NoBody) (platform.NoData,
	error) {
	var d screening.Document
	err := retryIfChanged(func() (err error) {
		d, err = s.beginRemoval(ctx, r)
		return err
	})
	if err != nil {
		return platform.NoData{}, err
	}
	audit.AddObject(ctx, "documentId", d.DocumentID)
	if err := s.deleteFromManagement(ctx, r, d.DocumentID); err != nil {
		return platform.NoData{}, err
	}
	return platform.NoData{}, s.Store.RemoveDocument(ctx, r.Tenant, d)
}

// beginRemoval marks the document that the path names as being removed, unless it is marked already.
func (s *Screenings) beginRemoval(ctx context.Context, r *platform.Request) (screening.Document, error) {
	p, err := s.findPlace(ctx, r, "id")
	if err != nil {
		return screening.Document{}, err
	}
	all, err := s.Store.ListDocuments(ctx, r.Tenant, p.batch.ID, p.entityID)
	if err != nil {
		return screening.Document{}, err
	}
	i := slices.IndexFunc(all, func(d screening.Document) bool {
		return d.ID == strings.ToLower(r.PathValue("documentId")) && d.MatchID == p.match.ID
	})
	switch {
	case i < 0:
		return screening.Document{}, errNoDocument
	case all[i].IsBeingRemoved:
		return all[i], nil
	case p.batch.Status != screening.Open:
		return screening.Document{}, errNotOpen
	}
	if err := s.requireReach(ctx, r, all[i].DocumentID); err != nil {
		return screening.Document{}, err
	}
	err = s.Store.BeginRemoval(ctx, p.batch, all[i])
	if errors.Is(err, screening.ErrNotFound) {
		err = errNoDocument
	}
	return all[i], err
}

// requireReach returns errNoDocument for a document of document management that the caller does not reach.
func (s *Screenings) requireReach(ctx context.Context, r *platform.Request, id string) error {
	full, _, err := s.Documents.Get(ctx, r.Tenant, id)
	switch {
	case errors.Is(err, document.ErrNotFound):
		return nil
	case err == nil && !r.Layers.CanReach(full.Layers):
		return errNoDocument
	}
	return err
}

// deleteFromManagement deletes a document from document management. Deleting it again succeeds.
func (s *Screenings) deleteFromManagement(ctx context.Context, r *platform.Request, id string) error {
	for range maxAttempts {
		full, _, err := s.Documents.Get(ctx, r.Tenant, id)
		switch {
		case errors.Is(err, document.ErrNotFound):
			return nil
		case err != nil:
			return err
		case !r.Layers.CanReach(full.Layers):
			return errNoDocument
		}
		last, err := document.ReleaseFile(ctx, s.Documents, s.Files, full)
		if errors.Is(err, document.ErrStorage) {
			return errStorage.WithCause(err)
		}
		if err == nil {
			err = s.Documents.Delete(ctx, full, last)
		}
		if !errors.Is(err, document.ErrChanged) {
			return err
		}
	}
	return errBusy
}
