package batchhttp

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"sluice/openapi/wire"
	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/idempotency"
	"sluice/shared/access/ratelimit"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/fault"
	"sluice/shared/kit/objects"
)

// uploads is the bucket of uploads.
type uploads interface {
	SignPutOfContent(ctx context.Context, key string, c objects.Content, lifetime time.Duration) (objects.SignedURL,
		error)
	StartParts(ctx context.Context, key string, withChecksums bool) (uploadID string, err error)
	SignPart(ctx context.Context, key, uploadID string, p objects.Part, lifetime time.Duration) (objects.SignedURL,
		error)
	ListParts(ctx context.Context, key, uploadID string) ([]objects.Part, error)
	CompleteParts(ctx context.Context, key, uploadID string, parts []objects.Part) error
	AbortParts(ctx context.Context, key, uploadID string) error
}

// DeclaredUpload is the part of the body of generate-upload-url that announces the upload.
type DeclaredUpload struct {
	// ContentLength is the number of bytes; not known if it is absent.
	ContentLength *int64 `json:"content_length"`
	// ChecksumSHA256 is their SHA-256 in base64; not known if it is absent.
	ChecksumSHA256 *string `json:"checksum_sha256"`
	// Upload is uploadSingle if it is absent.
	Upload *string `json:"upload"`
	// PartChecksums means that every part of a multipart upload is sent with its SHA-256; false if it is absent.
	PartChecksums *bool `json:"part_checksums"`
}

// Values of DeclaredUpload.Upload.
const (
	uploadSingle    = "single"
	uploadMultipart = "multipart"
)

func (in DeclaredUpload) isMultipart() bool { return in.Upload != nil && *in.Upload == uploadMultipart }

// check returns the errors of the values, each by itself.
func (in DeclaredUpload) check() []fault.Detail {
	var details []fault.Detail
	if n := in.ContentLength; n != nil && *n < 0 {
		details = append(details, bodyDetail("The value must not be negative.", "number_range", *n, "content_length"))
	}
	if sum := in.ChecksumSHA256; sum != nil && parseSHA256(*sum) == nil {
		details = append(details, checksumDetail(*sum, "checksum_sha256"))
	}
	if in.Upload != nil && *in.Upload != uploadSingle && *in.Upload != uploadMultipart {
		details = append(details, bodyDetail("The value must be single or multipart.", "enum",
			httpapi.AttemptedText(*in.Upload), "upload"))
	}
	return details
}

// checkTogether returns the errors of combinations of values, for files of at most a number of bytes.
func (in DeclaredUpload) checkTogether(maxBytes int64) []fault.Detail {
	var details []fault.Detail
	switch n := in.ContentLength; {
	case n != nil && *n > maxBytes:
		details = append(details, bodyDetail(fmt.Sprintf("The file has %d bytes; at most %d are allowed. "+
			"Split it into several batches.", *n, maxBytes), "number_range", *n, "content_length"))
	case n == nil && in.isMultipart():
		details = append(details, bodyDetail("An upload in parts needs the number of bytes of the file.", "missing",
			nil, "content_length"))
	}
	if in.PartChecksums != nil && *in.PartChecksums && !in.isMultipart() {
		details = append(details, bodyDetail("Only an upload in parts has checksums of parts.", "multipart_only", true,
			"part_checksums"))
	}
	return details
}

func checksumDetail(attempted string, path ...any) fault.Detail {
	return bodyDetail("The value must be a SHA-256 in base64: 44 characters.", "checksum",
		httpapi.AttemptedText(attempted), path...)
}

// parseSHA256 returns a SHA-256 in base64; nil if the text is not one.
func parseSHA256(text string) []byte {
	sum, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(sum) != sha256.Size || len(text) != base64.StdEncoding.EncodedLen(sha256.Size) {
		return nil
	}
	return sum
}

// declare records the announced upload on a new batch. An empty file is recorded by its checksum, since a length of 0
// means that it is not known.
func (in DeclaredUpload) declare(b *batch.Batch) {
	if in.ContentLength != nil {
		b.Declared.Length = *in.ContentLength
		if *in.ContentLength == 0 {
			nothing := sha256.Sum256(nil)
			b.Declared.SHA256 = nothing[:]
		}
	}
	if in.ChecksumSHA256 != nil {
		b.Declared.SHA256 = parseSHA256(*in.ChecksumSHA256)
	}
}

// startUpload starts the upload in parts of a new batch, if it is one, and sets when the upload ends.
func (s *Batches) startUpload(ctx context.Context, b *batch.Batch, in DeclaredUpload) error {
	in.declare(b)
	b.Reserved = s.MaxBytes
	if in.ContentLength != nil {
		b.Reserved = *in.ContentLength
	}
	b.UploadBy = b.CreatedAt.Add(s.UploadLifetime)
	if !in.isMultipart() {
		return nil
	}
	m := batch.Multipart{HasChecksums: in.PartChecksums != nil && *in.PartChecksums,
		PartSize: batch.PartSizeFor(b.Declared.Length, s.PartSize, objects.MaxParts)}
	m.PartCount = batch.PartCountFor(b.Declared.Length, m.PartSize)
	var err error
	m.UploadID, err = s.Uploads.StartParts(ctx, intake.UploadKey(b.Tenant, b.ID), m.HasChecksums)
	b.Multipart = &m
	return err
}

// describeUpload returns everything that a client needs to upload the file of a batch. It signs the URL anew.
func (s *Batches) describeUpload(ctx context.Context, b batch.Batch) (wire.Upload, error) {
	if m := b.Multipart; m != nil {
		return wire.Upload{BatchID: string(b.ID), UploadID: m.UploadID, PartSize: m.PartSize, PartCount: m.PartCount,
			ExpiresAt: s.giveUpAt(b), MaxBytes: s.MaxBytes}, nil
	}
	content := objects.Content{Size: b.Declared.Length, SHA256: b.Declared.SHA256}
	signed, err := s.Uploads.SignPutOfContent(ctx, intake.UploadKey(b.Tenant, b.ID), content, s.UploadLifetime)
	if err != nil {
		return wire.Upload{}, err
	}
	return wire.Upload{URL: signed.URL, BatchID: string(b.ID), Method: signed.Method, RequiredHeaders: signed.Headers,
		ExpiresAt: signed.Expires, MaxBytes: s.MaxBytes}, nil
}

// giveUpAt returns when a batch that awaits its upload is given up if no URL is asked for.
func (s *Batches) giveUpAt(b batch.Batch) time.Time {
	at, last := b.UploadBy.Add(s.UploadPatience), b.CreatedAt.Add(batch.MaxMultipartAge)
	if b.Multipart != nil && at.After(last) {
		at = last
	}
	return at.UTC().Truncate(time.Second)
}

// uploadTimes returns when the latest URL of a batch expires, and when the batch is given up; nil unless it awaits its
// upload.
func (s *Batches) uploadTimes(b batch.Batch) (expiresAt, uploadBy *time.Time) {
	if b.Status != batch.AwaitingUpload {
		return nil, nil
	}
	return new(b.UploadBy.UTC().Truncate(time.Second)), new(s.giveUpAt(b))
}

// SignUpload signs the URL for the file of a batch again. It puts off the end of the upload.
func (s *Batches) SignUpload(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	if err := checkNoBody(r); err != nil {
		return httpapi.Reply{}, err
	}
	b, err := s.find(ctx, caller, r)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if b.Multipart != nil {
		return httpapi.Reply{}, errMultipart
	}
	out, err := s.signAgain(ctx, caller, b)
	if conflict, ok := errors.AsType[*batch.ConflictError](err); ok {
		code := "upload_complete"
		if conflict.Current.Object == (batch.Object{}) {
			code = "batch_ended"
		}
		err = fault.New(fault.Conflict, code, describeNotAwaiting(conflict.Current))
	}
	return httpapi.Reply{Body: out}, err
}

// signAgain returns what a client needs to upload the file of a batch, which is given as long for it as if it was
// created now. It returns a *batch.ConflictError if the batch does not await its upload.
func (s *Batches) signAgain(ctx context.Context, caller httpapi.Caller, b batch.Batch) (wire.Upload, error) {
	if b.Status == batch.AwaitingUpload && !b.CountsAsOpen(s.Now()) { // it will count from now on
		if err := s.checkOpen(ctx, caller); err != nil {
			return wire.Upload{}, err
		}
	}
	extended, err := s.Store.ExtendUpload(ctx, b.ID, s.Now().Add(s.UploadLifetime))
	if err != nil {
		return wire.Upload{}, err
	}
	return s.describeUpload(ctx, extended)
}

// describeNotAwaiting says why a batch is to get no URL.
func describeNotAwaiting(b batch.Batch) string {
	if !b.Status.IsVisible() {
		return "The batch awaits no upload: its file has arrived and is not processed yet."
	}
	return strings.TrimSpace(fmt.Sprintf("The batch awaits no upload: it is %s. %s", b.Status, b.ErrorMessage))
}

// uploadRoutes returns the routes of uploads that have begun.
func (s *Batches) uploadRoutes(base string, route httpapi.Route) []httpapi.Route {
	var routes []httpapi.Route
	for _, r := range []httpapi.Route{
		{Method: http.MethodPost, Path: base + "/upload-url/{batch_id}", Endpoint: s.SignUpload,
			Opens: []ratelimit.Setting{ratelimit.OpenBatches, ratelimit.UnvalidatedBytes}},
		{Method: http.MethodPost, Path: base + "/upload-parts/{batch_id}", Endpoint: s.SignParts},
		{Method: http.MethodGet, Path: base + "/upload-parts/{batch_id}", Endpoint: s.Parts},
		{Method: http.MethodDelete, Path: base + "/upload-parts/{batch_id}", Endpoint: s.GiveUpUpload},
		{Method: http.MethodPost, Path: base + "/complete-upload/{batch_id}", Endpoint: s.CompleteUpload,
			MaxBody: maxCompletionBody},
	} {
		r.Permissions, r.Limit, r.Query = route.Permissions, route.Limit, httpapi.NoQuery
		routes = append(routes, r)
	}
	return routes
}

// maxCompletionBody has room for MaxParts parts, with white space.
const maxCompletionBody = 2 << 20

// newIDText makes the ID that an idempotency key pins.
func (s *Batches) newIDText() (string, error) {
	id, err := s.NewID()
	return string(id), err
}

// newBatchID returns the ID for the batch of a request: the one that its idempotency key has pinned, or else a new one.
func (s *Batches) newBatchID(run *idempotency.Run) (batch.ID, error) {
	if run != nil {
		return batch.ID(run.ID), nil
	}
	id, err := s.NewID()
	if err != nil {
		return "", fmt.Errorf("make a batch ID: %w", err)
	}
	return id, nil
}

// begun returns the batch that an earlier run of a request has created; nil if no run has, also after a restore of the
// table of batches.
func (s *Batches) begun(ctx context.Context, caller httpapi.Caller, run *idempotency.Run) (*batch.Batch, error) {
	if run == nil || !run.Repeats && run.Answer == nil {
		return nil, nil
	}
	b, err := s.Store.Get(ctx, batch.ID(run.ID))
	switch {
	case errors.Is(err, batch.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case b.Tenant != caller.Tenant:
		return nil, fmt.Errorf("batch %s of an idempotency key belongs to another tenant", b.ID)
	}
	return &b, nil
}

// create stores the batch of a request. If another run of the same request has stored it before, it returns that batch,
// otherwise nil.
func (s *Batches) create(ctx context.Context, b batch.Batch, run *idempotency.Run) (*batch.Batch, error) {
	err := s.Store.Create(ctx, b)
	if err == nil || run == nil {
		return nil, err
	}
	stored, getErr := s.Store.Get(ctx, b.ID)
	if getErr != nil || stored.Tenant != b.Tenant {
		return nil, err
	}
	return &stored, nil
}

// answerAgain answers a repeated request with the batch that it has created. While the batch awaits its upload, the URL
// is signed anew, and the batch is given as long for its upload as if it was created now.
func (s *Batches) answerAgain(ctx context.Context, caller httpapi.Caller, b batch.Batch) (wire.Upload, error) {
	audit.AddObject(ctx, "batch_id", string(b.ID))
	out, err := s.signAgain(ctx, caller, b)
	if conflict, ok := errors.AsType[*batch.ConflictError](err); ok {
		return wire.Upload{BatchID: string(b.ID), MaxBytes: s.MaxBytes, Message: describeNotAwaiting(conflict.Current)},
			nil
	}
	return out, err
}
