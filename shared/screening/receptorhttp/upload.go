package receptorhttp

import (
	"context"
	"time"

	"sluice/openapi/wire"
	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/objects"
	"sluice/shared/screening/adapter"
)

// UploadRequest asks for the upload of a response; every member may be absent, and so may the body.
type UploadRequest struct {
	uploadDetails
	Data *uploadDetails `json:"data"`
}

type uploadDetails struct {
	// ContentLength is the size of the file in bytes: the URL then takes no other one.
	ContentLength *int `json:"contentLength"`
}

// size returns the announced size, nil if there is none.
func (in *UploadRequest) size() *int {
	if in.Data != nil {
		return in.Data.ContentLength
	}
	return in.ContentLength
}

// Check validates the request.
func (in *UploadRequest) Check(v *platform.ValidationErrors) {
	if in.Data != nil && in.ContentLength != nil {
		v.Add("data", "The request is either the body or in data, not both.", platform.CodeRequired)
		return
	}
	if n := in.size(); n != nil {
		v.CheckBetween("contentLength", *n, 1, adapter.MaxUploadBytes)
	}
}

// uploadGrace is how long after the end of its URL a message may name an upload.
const uploadGrace = 15 * time.Minute

// CreateUpload makes a place for a response that is too large for a message, and signs the URL for it. Each call makes
// another one.
func (s *Receptor) CreateUpload(ctx context.Context, r *platform.Request, in UploadRequest) (
	wire.ScreeningAnswerUpload, error) {
	now := s.Now().UTC()
	u := adapter.Upload{Tenant: r.Tenant, ID: s.NewID(), CreatedAt: now, CreatedBy: r.Client,
		Expires: now.Add(s.UploadLifetime + uploadGrace)}
	audit.AddObject(ctx, "uploadId", u.ID)
	if err := s.Uploads.CreateUpload(ctx, u); err != nil {
		return wire.ScreeningAnswerUpload{}, err
	}
	var signed objects.SignedURL
	var err error
	if n := in.size(); n != nil {
		signed, err = s.Files.SignPutOf(ctx, adapter.UploadKey(u.Tenant, u.ID), int64(*n), s.UploadLifetime)
	} else {
		signed, err = s.Files.SignPut(ctx, adapter.UploadKey(u.Tenant, u.ID), s.UploadLifetime)
	}
	return wire.ScreeningAnswerUpload{UploadID: u.ID, SignedURL: signed.URL, RequiredHeaders: signed.Headers,
		ExpiresAt: u.Expires}, err
}
