// Package batchhttp serves batches under /tm/realtime (docs/contract/batch.md).
package batchhttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"time"

	"sluice/openapi/wire"
	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/idempotency"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/observation/lines"
	"sluice/shared/kit/fault"
	"sluice/shared/kit/objects"
)

type reports interface {
	lines.Work
	SignGet(ctx context.Context, key string, d objects.Download, lifetime time.Duration) (objects.SignedURL, error)
}

type exports interface {
	SignGet(ctx context.Context, key string, d objects.Download, lifetime time.Duration) (objects.SignedURL, error)
}

// store is the part of batch.Store that the batch interface needs.
type store interface {
	Create(ctx context.Context, b batch.Batch) error
	ExtendUpload(ctx context.Context, id batch.ID, by time.Time) (batch.Batch, error)
	Get(ctx context.Context, id batch.ID) (batch.Batch, error)
	Apply(ctx context.Context, id batch.ID, t batch.Transition) (batch.Batch, error)
	Chunks(ctx context.Context, id batch.ID) ([]batch.Chunk, error)
	List(ctx context.Context, tenant string, f batch.Filter, after batch.ID, limit int) ([]batch.Batch, batch.ID, error)
	CountOpen(ctx context.Context, tenant string, enough batch.OpenWork, now time.Time) (batch.OpenWork, error)
	RecordCompletion(ctx context.Context, id batch.ID, completion string, at time.Time) (batch.Batch, error)
}

// positions is the part of admission.Positions that the status needs.
type positions interface {
	Position(ctx context.Context, b batch.Batch) (position int64, isWaiting bool, err error)
}

// singles is the part of observationdb.Store that the endpoints need: what became of single transactions.
type singles interface {
	Refused(ctx context.Context, tenant, day, after string, limit int) (ids []string, next string, err error)
	Count(ctx context.Context, tenant, first, last string) (map[string]observation.Counts, error)
	Events(ctx context.Context, tenant, modification string, since time.Time, after string, limit int) (
		events []observation.Event, next string, err error)
}

// Batches answers the routes of batches.
type Batches struct {
	Store   store
	Uploads uploads
	Reports reports
	// Exports has the files of accepted lines.
	Exports exports
	// Positions tells how many batches get a slot before one that waits for it.
	Positions positions
	// Closer closes batches that are cancelled.
	Closer closer
	// Paging seals the tokens of pages.
	Paging *platform.Paging
	// Lists are the lists with which names can be screened.
	Lists watchlists
	// Singles are the observations of single transactions.
	Singles singles
	// Lines finds what became of lines.
	Lines *lines.Finder
	// UploadLifetime and DownloadLifetime are how long signed URLs are valid.
	UploadLifetime, DownloadLifetime time.Duration
	// UploadPatience is how long after its latest URL has expired an upload is given up.
	UploadPatience time.Duration
	// PartSize is the size of the parts of an upload in parts, unless there would be too many.
	PartSize int64
	// MaxBytes is the size of the largest upload, which clients are told.
	MaxBytes int64
	// ReportDays is how many days a report is kept; 0 means without end.
	ReportDays int
	// ParquetDays is how many days a Parquet file is kept; 0 means without end.
	ParquetDays int
	Now         func() time.Time
	NewID       func() (batch.ID, error)
	// NewKey returns a random digest key.
	NewKey func() [16]byte
	Log    *slog.Logger
}

// Routes returns the routes of batches. A tenant without the batch feature begins no batch, and still reads those that
// it has.
func (s *Batches) Routes() []httpapi.Route {
	const base = "/tm/realtime/api/transactions/batch"
	upload, read := []string{permission.BatchUpload}, []string{permission.BatchRead}
	routes := s.uploadRoutes(base, httpapi.Route{Permissions: upload, Limit: ratelimit.UploadParts})
	routes = append(routes, s.observedRoutes()...)
	return append(routes, []httpapi.Route{
		{Method: http.MethodPost, Path: base + "/generate-upload-url", Feature: tenancy.BatchFeature,
			Limit: ratelimit.UploadURLs, Permissions: upload, Endpoint: httpapi.JSON(s.GenerateUploadURL),
			Opens: []ratelimit.Setting{ratelimit.OpenBatches, ratelimit.UnvalidatedBytes},
			// The answer is not stored: everyone who has a signed URL can use it.
			Idempotency: &httpapi.Idempotency{NewID: s.newIDText}},
		{Method: http.MethodGet, Path: base + "/status/{batch_id}", Limit: ratelimit.BatchStatuses,
			Permissions: read, Endpoint: s.Status},
		{Method: http.MethodGet, Path: base + "/validation-result/{batch_id}", Limit: ratelimit.BatchResults,
			Permissions: read, Endpoint: s.ValidationResult},
		{Method: http.MethodGet, Path: base + "/screening-result/{batch_id}", Limit: ratelimit.BatchResults,
			Permissions: read, Query: httpapi.NoQuery, Endpoint: s.ScreeningResult},
		{Method: http.MethodGet, Path: base, Limit: ratelimit.BatchLists, Permissions: read, Endpoint: s.List},
		{Method: http.MethodPost, Path: base + "/cancel/{batch_id}", Limit: ratelimit.BatchCancels, Permissions: upload,
			Query: httpapi.NoQuery, Endpoint: s.Cancel},
	}...)
}

// GenerateUploadURL creates a batch and signs the URL to which its file is uploaded. A repeated request is answered
// with the batch that it has created.
func (s *Batches) GenerateUploadURL(ctx context.Context, caller httpapi.Caller, in UploadRequest) (wire.Upload, error) {
	out, err := s.createUpload(ctx, caller, in)
	out.IgnoredParameters = in.ignored()
	return out, err
}

func (s *Batches) createUpload(ctx context.Context, caller httpapi.Caller, in UploadRequest) (wire.Upload, error) {
	run := idempotency.FromContext(ctx)
	if b, err := s.begun(ctx, caller, run); b != nil || err != nil {
		if err != nil {
			return wire.Upload{}, err
		}
		return s.answerAgain(ctx, caller, *b)
	}
	settings, err := tenancy.ParseSettings(caller.Attributes)
	if err != nil {
		return wire.Upload{}, fmt.Errorf("read the tenant's settings: %w", err)
	}
	b := batch.Batch{Tenant: caller.Tenant, Client: caller.Client, Status: batch.AwaitingUpload, Settings: settings}
	if err := in.apply(&b); err != nil {
		return wire.Upload{}, err
	}
	if details := in.checkTogether(s.MaxBytes); len(details) > 0 {
		return wire.Upload{}, fault.NewInvalid(details...)
	}
	if b.Screening, err = s.screening(ctx, caller.Tenant, in.ScreenUnknown); err != nil {
		return wire.Upload{}, err
	}
	if err := s.checkOpen(ctx, caller); err != nil {
		return wire.Upload{}, err
	}
	if b.ID, err = s.newBatchID(run); err != nil {
		return wire.Upload{}, err
	}
	b.CreatedAt = s.Now()
	if run != nil && run.Repeats { // a list selects by the time in the ID, too
		b.CreatedAt = b.ID.Time()
	}
	b.UpdatedAt, b.DigestKey = b.CreatedAt, s.NewKey()
	if err := s.startUpload(ctx, &b, in.DeclaredUpload); err != nil {
		return wire.Upload{}, err
	}
	reply, err := s.describeUpload(ctx, b)
	if err != nil {
		return wire.Upload{}, err
	}
	// The row must exist when the event of the upload arrives. A row without an upload costs nothing.
	if stored, err := s.create(ctx, b, run); err != nil {
		return wire.Upload{}, err
	} else if stored != nil {
		return s.answerAgain(ctx, caller, *stored)
	}
	audit.AddObject(ctx, "batch_id", string(b.ID))
	return reply, nil
}

// openRetry is how long a client is told to wait that has too much open. A batch of some size takes about as long.
const openRetry = 30 * time.Second

// checkOpen refuses another batch of a tenant that has as much open as its limits allow. Requests at the same time may
// pass together, no more of them than the limit of upload URLs allows.
func (s *Batches) checkOpen(ctx context.Context, caller httpapi.Caller) error {
	limits := ratelimit.ParseSettings(caller.Attributes[ratelimit.Attribute])
	most := batch.OpenWork{Batches: limits.Get(ratelimit.OpenBatches), UnvalidatedBytes: limits.Get(
		ratelimit.UnvalidatedBytes)}
	if most == (batch.OpenWork{}) {
		return nil
	}
	enough := most
	for _, n := range []*int64{&enough.Batches, &enough.UnvalidatedBytes} {
		if *n == 0 {
			*n = math.MaxInt64
		}
	}
	open, err := s.Store.CountOpen(ctx, caller.Tenant, enough, s.Now())
	if err != nil {
		return err
	}
	switch {
	case open.Batches >= enough.Batches:
		return fault.Newf(fault.Throttled, "too_many_open_batches",
			"The tenant has as many batches that have not ended as it may have: %d. Awaiting their upload: "+
				"%d (GET batch?state=awaiting_upload). Cancel one, which makes room at once, or wait until one has "+
				"ended; one whose URL has ended counts for a quarter of an hour more.", most.Batches, open.Awaiting).
			WithRetryAfter(openRetry)
	case open.UnvalidatedBytes >= enough.UnvalidatedBytes:
		return fault.Newf(fault.Throttled, "too_many_unvalidated_bytes",
			"The tenant has as many bytes not validated as it may have: %d. Of these, %d batches that await their "+
				"upload hold %d: each its content_length or, without one, as much as the largest file. Give "+
				"content_length, cancel batches that are not uploaded (GET batch?state=awaiting_upload), or wait "+
				"until one is validated.",
			most.UnvalidatedBytes, open.Awaiting, open.ReservedBytes).WithRetryAfter(openRetry)
	}
	return nil
}

var errNotFound = fault.New(fault.NotFound, "batch_not_found", "Batch not found.")

// find reads the batch that a request names. Another tenant's batch is not found, so that nobody learns of it.
func (s *Batches) find(ctx context.Context, caller httpapi.Caller, r *http.Request) (batch.Batch, error) {
	return findBatch(ctx, s.Store, caller, r)
}

// getter reads batches; batch.ErrNotFound if the batch does not exist.
type getter interface {
	Get(ctx context.Context, id batch.ID) (batch.Batch, error)
}

func findBatch(ctx context.Context, s getter, caller httpapi.Caller, r *http.Request) (batch.Batch, error) {
	id, err := batch.ParseID(r.PathValue("batch_id"))
	if err != nil {
		return batch.Batch{}, fault.NewInvalid(fault.Detail{
			Source: fault.InPath, Path: []any{"batch_id"}, Message: "The value must be a UUID.", Code: "uuid",
			AttemptedValue: httpapi.AttemptedText(r.PathValue("batch_id")),
		})
	}
	b, err := s.Get(ctx, id)
	if err == nil && b.Tenant != caller.Tenant {
		audit.SetReason(ctx, "foreign_tenant")
	}
	if errors.Is(err, batch.ErrNotFound) || err == nil && b.Tenant != caller.Tenant {
		return batch.Batch{}, errNotFound
	}
	return b, err
}
