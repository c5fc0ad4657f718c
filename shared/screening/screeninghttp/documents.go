package screeninghttp

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/fault"
	"sluice/shared/kit/objects"
	"sluice/shared/platform/document"
	"sluice/shared/screening"
)

// fileBucket holds the files of documents.
type fileBucket interface {
	document.Emptier
	// SignPutOf is as in objects.Bucket.
	SignPutOf(ctx context.Context, key string, size int64, lifetime time.Duration) (objects.SignedURL, error)
}

var (
	errNoDocument = fault.New(fault.NotFound, "screening_document_not_found",
		"There is no such document of the entity or match in this batch.")
	errTooManyDocuments = fault.Newf(fault.BadRequest, "too_many_screening_documents",
		"An entity has at most %d documents in a batch, the documents of its matches included. Delete some first.",
		screening.MaxDocuments)
	errNotCompleted = fault.New(fault.BadRequest, "document_not_completed",
		"Only a document with the status Completed can be reused.")
	errOtherEntry = fault.New(fault.BadRequest, "other_match",
		"The document belongs to a match with another entry: both matches must have the same entityUniqueId.")
	errKeyUsed = fault.New(fault.BadRequest, "idempotency_key_used",
		"The idempotency key belongs to another document. Use a new one.")
	errBeingDeleted = fault.New(fault.Conflict, "document_being_deleted",
		"The document with this idempotency key is being deleted. Repeat the deletion, or use another key.")
	errStorage = fault.New(fault.Unavailable, "storage", "The file cannot be deleted now. Try again.")
)

// place is the owner of a document: an entity of a batch, or one of its matches.
type place struct {
	batch screening.Batch
	// match is zero for the documents of the entity.
	match    screening.Match
	entityID string
}

// findPlace reads the batch, the entity and the match, if any, that the path names.
func (s *Screenings) findPlace(ctx context.Context, r *platform.Request, batchParameter string) (place, error) {
	b, err := s.findBatch(ctx, r, batchParameter)
	if err != nil {
		return place{}, err
	}
	p := place{batch: b, entityID: entityID(r.PathValue("entityId"))}
	if !b.HasEntity(p.entityID) {
		return place{}, errNoEntity
	}
	if r.PathValue("matchId") != "" {
		p.match, err = s.findMatch(ctx, r, b)
	}
	return p, err
}

// newDocument returns a document without IDs in a place.
func (s *Screenings) newDocument(r *platform.Request, p place) screening.Document {
	return screening.Document{ID: s.NewID(), DocumentID: s.NewID(), BatchID: p.batch.ID, EntityID: p.entityID,
		MatchID: p.match.ID, MatchUniqueID: p.match.UniqueID, CreatedBy: r.Client, CreatedAt: s.Now().UTC()}
}

// addDocument stores the document that made returns for the place in the path, whose batch must be open. It returns
// false if the document is stored already.
func (s *Screenings) addDocument(ctx context.Context, r *platform.Request,
	made func(place) (screening.Document, error)) (d screening.Document, p place, isNew bool, err error) {
	err = retryIfChanged(func() error {
		if p, err = s.findPlace(ctx, r, "id"); err != nil {
			return err
		}
		if d, err = made(p); err != nil {
			return err
		}
		there, err := s.Store.ListDocuments(ctx, r.Tenant, p.batch.ID, p.entityID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(there, func(other screening.Document) bool { return other.ID == d.ID })
		switch {
		case i >= 0 && there[i].IsBeingRemoved:
			return errBeingDeleted
		case i >= 0:
			isNew = false
			return nil
		case p.batch.Status != screening.Open:
			return errNotOpen
		}
		isNew = true
		switch err = s.Store.AddDocument(ctx, p.batch, d, len(there)); {
		case errors.Is(err, screening.ErrExists):
			isNew, err = false, nil
		case errors.Is(err, screening.ErrTooManyDocuments):
			err = errTooManyDocuments
		}
		return err
	})
	return d, p, isNew, err
}

// UploadDocument stores a document whose file is still to be uploaded, and signs the URL for it. A request that is
// repeated with its idempotency key gets the same document and no URL.
func (s *Screenings) UploadDocument(ctx context.Context, r *platform.Request, in UploadRequest) (UploadReply, error) {
	if err := r.Validate(func(v *platform.ValidationErrors) { in.CheckSize(v, s.MaxBytes) }); err != nil {
		return UploadReply{}, err
	}
	limit := cmp.Or(in.Size(), s.MaxBytes)
	if err := document.CheckOpen(ctx, s.Documents, r.Tenant, ratelimit.ParseSettings(r.Attributes[ratelimit.Attribute]),
		limit, s.Now()); err != nil {
		return UploadReply{}, err
	}
	d, full, isNew, err := s.createDocument(ctx, r, in.DocumentDetails, func(full *document.Document) {
		full.FileID, full.FileLimit = s.NewID(), limit
	})
	reply := UploadReply{DocumentID: d.ID, ExternalDocumentID: d.DocumentID, RequiredHeaders: map[string]string{}}
	if err != nil || !isNew {
		return reply, err
	}
	signed, err := s.Files.SignPutOf(ctx, full.FileKey(), in.Size(), s.UploadLifetime)
	reply.SignedURL, reply.RequiredHeaders = &signed.URL, signed.Headers
	return reply, err
}

// AddVirtualDocument stores a document that is a link.
func (s *Screenings) AddVirtualDocument(ctx context.Context, r *platform.Request,
	in VirtualRequest) (VirtualReply, error) {
	d, _, _, err := s.createDocument(ctx, r, in.DocumentDetails, func(full *document.Document) {
		full.Virtual, full.URL, full.State.Status = true, in.DocumentURL, document.Completed
	})
	return VirtualReply{d.ID, d.DocumentID}, err
}

// createDocument stores a document here first and then in document management, so that a request that ends between the
// two leaves nothing visible. It returns false if it is stored already in both.
func (s *Screenings) createDocument(ctx context.Context, r *platform.Request, in DocumentDetails,
	complete func(*document.Document)) (screening.Document, document.Document, bool, error) {
	d, p, _, err := s.addDocument(ctx, r, func(p place) (screening.Document, error) {
		d := s.newDocument(r, p)
		if in.IdempotencyKey != "" {
			d = d.WithKey(in.IdempotencyKey)
		}
		return d, nil
	})
	if err != nil {
		return d, document.Document{}, false, err
	}
	audit.AddObject(ctx, "documentId", d.DocumentID)
	full := document.Document{
		ID: d.DocumentID, Tenant: r.Tenant, EntityType: document.Screening, EntityID: p.entityID,
		JourneyID: p.batch.JourneyID, FileName: in.FileName, Type: in.DocumentType, FriendlyName: in.FriendlyName,
		State: document.State{Status: document.Processing}, UploadedBy: r.Client, UploadedByName: r.Client,
		CreatedAt: d.CreatedAt, UpdatedBy: r.Client, UpdatedAt: d.CreatedAt, Version: 1,
	}
	full.SetLayers(full.Layers)
	complete(&full)
	err = s.Documents.Create(ctx, full, false)
	if !errors.Is(err, document.ErrExists) {
		return d, full, err == nil, err
	}
	stored, _, err := s.Documents.Get(ctx, r.Tenant, full.ID)
	if err == nil && (stored.FileName != full.FileName || stored.Type != full.Type || stored.URL != full.URL) {
		err = errKeyUsed
	}
	return d, stored, false, err
}

// ReuseDocument stores a document that shares the file of a completed document of the entity in another batch.
func (s *Screenings) ReuseDocument(ctx context.Context, r *platform.Request, in ReuseRequest) (ReuseReply, error) {
	return s.ReuseMatchDocument(ctx, r, ReuseMatchRequest{ReuseRequest: in})
}

// ReuseMatchDocument stores a document that shares the file of a completed document of a match with the same entry.
func (s *Screenings) ReuseMatchDocument(ctx context.Context, r *platform.Request, in ReuseMatchRequest) (ReuseReply,
	error) {
	source, err := s.findSource(ctx, r, in)
	if err != nil {
		return ReuseReply{}, err
	}
	full, file, err := s.Documents.Get(ctx, r.Tenant, source.DocumentID)
	switch {
	case errors.Is(err, document.ErrNotFound) || err == nil && !r.Layers.CanReach(full.Layers):
		return ReuseReply{}, errNoDocument
	case err != nil:
		return ReuseReply{}, err
	case full.EffectiveState(file).Status != document.Completed:
		return ReuseReply{}, errNotCompleted
	}
	d, p, _, err := s.addDocument(ctx, r, func(p place) (screening.Document, error) {
		d := s.newDocument(r, p)
		d.ReusedFromBatchID, d.ReusedFromMatchID = source.BatchID, source.MatchID
		if source.MatchUniqueID != p.match.UniqueID {
			return d, errOtherEntry
		}
		return d, nil
	})
	if err != nil {
		return ReuseReply{}, err
	}
	audit.AddObject(ctx, "documentId", d.DocumentID)
	clone := full.Clone(d.DocumentID, r.Client, d.CreatedAt)
	clone.JourneyID = p.batch.JourneyID
	err = s.Documents.Create(ctx, clone, clone.FileID != "")
	if errors.Is(err, document.ErrNotFound) {
		err = errNoDocument // its file was deleted meanwhile
	}
	return ReuseReply{d.ID}, err
}

// findSource finds the document to reuse.
func (s *Screenings) findSource(ctx context.Context, r *platform.Request,
	in ReuseMatchRequest) (screening.Document, error) {
	from, err := s.Store.Get(ctx, r.Tenant, strings.ToLower(in.ReuseFromBatchID))
	if err != nil {
		return screening.Document{}, faultOf(err)
	}
	all, err := s.Store.ListDocuments(ctx, r.Tenant, from.ID, entityID(r.PathValue("entityId")))
	for _, d := range all {
		if d.ID == strings.ToLower(in.DocumentID) && d.MatchID == strings.ToLower(in.ReuseFromMatchID) {
			return d, nil
		}
	}
	if err == nil {
		err = errNoDocument
	}
	return screening.Document{}, err
}
