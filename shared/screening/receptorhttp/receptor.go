// Package receptorhttp serves the receptor: the endpoints at which the adapters of screening providers deliver their
// answers (docs/contract/screening.md, Adapters).
package receptorhttp

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"sluice/openapi/wire"
	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/fault"
	"sluice/shared/kit/objects"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
)

// Receptor answers the routes of the receptor.
type Receptor struct {
	Providers Providers
	Batches   Batches
	Answers   Answers
	Uploads   adapter.UploadStore
	Files     Files
	// UploadLifetime is how long signed URLs of uploads are valid.
	UploadLifetime time.Duration
	Now            func() time.Time
	// NewID returns a new UUID for an upload.
	NewID func() string
	Log   *slog.Logger
}

// Providers reads the providers of tenants with their keys. It is a part of screening.ProviderStore.
type Providers interface {
	// GetProvider reads a provider, with its keys sealed.
	GetProvider(ctx context.Context, tenant, id string) (screening.Provider, error)
	// Reveal returns the provider with its keys opened.
	Reveal(ctx context.Context, p screening.Provider) (screening.Provider, error)
}

// Batches reads the batches that answers are about. It is a part of screening.Store.
type Batches interface {
	// Get reads a batch.
	Get(ctx context.Context, tenant, id string) (screening.Batch, error)
	// GetEntities reads the given entities of a batch.
	GetEntities(ctx context.Context, tenant, batchID string, ids []string) ([]screening.Entity, error)
}

// Answers records the answers of providers.
type Answers interface {
	// Record records an answer and returns the outcome: recorded, repeated, late or unknown. It may be
	// repeated. Matches need their entities, aliases, unique IDs and data.
	Record(ctx context.Context, tenant, batchID, providerID, answerID string, matches []screening.Match,
		failure *screening.ProviderError) (outcome string, err error)
}

// Files holds uploaded responses.
type Files interface {
	// SignPutOf is as in objects.Bucket.
	SignPutOf(ctx context.Context, key string, size int64, lifetime time.Duration) (objects.SignedURL, error)
	// Empty is as in objects.Bucket.
	Empty(ctx context.Context, key string) error
	// Open returns the bytes [from, to) of an object, or those from from on if to is negative.
	Open(ctx context.Context, key, etag string, from, to int64) (io.ReadCloser, error)
}

const path = "/screeningreceptor/api/receptor"

// Routes returns the routes of the receptor.
func (s *Receptor) Routes() []httpapi.Route {
	permissions := []string{permission.ScreeningReceptor}
	return httpapi.WithLimit(ratelimit.Platform, []httpapi.Route{
		{Method: http.MethodPost, Path: path, Permissions: permissions, MaxBody: adapter.MaxBodyBytes,
			Endpoint: platform.Endpoint(s.Receive, platform.Unenveloped("message"), platform.FlattenErrors(),
				platform.HideAttemptedValues())},
		{Method: http.MethodPost, Path: path + "/upload-url", Permissions: permissions, Query: httpapi.NoQuery,
			Opens: []ratelimit.Setting{ratelimit.OpenAnswers},
			Endpoint: platform.Endpoint(s.CreateUpload, platform.Unenveloped("upload"), platform.OptionalBody(),
				platform.FlattenErrors())},
	}...)
}

var (
	errOtherTenant = fault.New(fault.Forbidden, "TenantMismatch", "The message names another tenant than the token.")
	// errNotAuthentic does not tell the cause, or whether there is such a provider.
	errNotAuthentic = fault.New(fault.Forbidden, "message_not_authentic",
		"The message could not be authenticated with the keys of the provider. Nothing was recorded.")
	errOngoing = fault.New(fault.BadRequest, "ongoing_screening_unsupported",
		"Ongoing screening is not supported. Use the types Screen, ResolveMatches and Test.")
	errNoUpload = fault.New(fault.BadRequest, "response_upload_not_found",
		"There is no such upload, or it has expired. Ask for a new one.")
	errNotUploaded = fault.New(fault.BadRequest, "response_not_uploaded",
		"The response has not been uploaded. PUT it to signedUrl first.")
	errUploadUsed = fault.New(fault.BadRequest, "response_upload_used",
		"Another message has used the upload. Ask for a new one.")
	errUploadTooLarge = fault.Newf(fault.TooLarge, "response_too_large",
		"An uploaded response has at most %d bytes.", adapter.MaxUploadBytes)
)

// UploadRequest asks for the upload of a response; every member may be absent, and so may the body.
type UploadRequest struct {
	platform.Announced
	Data *platform.Announced `json:"data"`
}

// announced returns the announcement of the body, or of its data.
func (in *UploadRequest) announced() platform.Announced {
	if in.Data != nil {
		return *in.Data
	}
	return in.Announced
}

// Check validates the request.
func (in *UploadRequest) Check(v *platform.ValidationErrors) {
	if in.Data != nil && in.ContentLength != nil {
		v.Add("data", "The request is either the body or in data, not both.", platform.CodeRequired)
		return
	}
	in.announced().CheckSize(v, adapter.MaxUploadBytes)
}

// uploadGrace is how long after the end of its URL a message may name an upload.
const uploadGrace = 15 * time.Minute

// CreateUpload makes a place for a response that is too large for a message, and signs the URL for it. Each call makes
// another one.
func (s *Receptor) CreateUpload(ctx context.Context, r *platform.Request, in UploadRequest) (
	wire.ScreeningAnswerUpload, error) {
	now := s.Now().UTC()
	if err := s.checkOpen(ctx, r, now); err != nil {
		return wire.ScreeningAnswerUpload{}, err
	}
	u := adapter.Upload{Tenant: r.Tenant, ID: s.NewID(), CreatedAt: now, CreatedBy: r.Client,
		Expires: now.Add(s.UploadLifetime + uploadGrace)}
	audit.AddObject(ctx, "uploadId", u.ID)
	if err := s.Uploads.CreateUpload(ctx, u); err != nil {
		return wire.ScreeningAnswerUpload{}, err
	}
	signed, err := s.Files.SignPutOf(ctx, adapter.UploadKey(u.Tenant, u.ID), in.announced().Size(), s.UploadLifetime)
	return wire.ScreeningAnswerUpload{UploadID: u.ID, SignedURL: signed.URL, RequiredHeaders: signed.Headers,
		ExpiresAt: u.Expires}, err
}

// openRetry is how long a client is told to wait that has too many uploads open.
const openRetry = 30 * time.Second

// checkOpen refuses another upload of a tenant that has as many as it may have. Uploads that are made at the same time
// may pass together.
func (s *Receptor) checkOpen(ctx context.Context, r *platform.Request, now time.Time) error {
	most := ratelimit.ParseSettings(r.Attributes[ratelimit.Attribute]).Get(ratelimit.OpenAnswers)
	if most == 0 {
		return nil
	}
	open, err := s.Uploads.CountOpenUploads(ctx, r.Tenant, most, now)
	if err != nil || open < most {
		return err
	}
	return fault.Newf(fault.Throttled, "too_many_open_answers",
		"The tenant has as many uploads of answers that no message has used as it may have: %d. Send the messages "+
			"that use them; others count until %d minutes after their signedUrl has ended.", most,
		int(uploadGrace.Minutes())).WithRetryAfter(openRetry)
}
