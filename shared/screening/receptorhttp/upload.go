package receptorhttp

import (
	"context"
	"time"

	"sluice/openapi/wire"
	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/fault"
	"sluice/shared/screening/adapter"
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
