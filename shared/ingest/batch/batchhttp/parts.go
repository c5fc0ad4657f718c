package batchhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/fault"
	"sluice/shared/kit/objects"
)

// maxSignedParts is the number of parts for which one request can ask URLs.
const maxSignedParts = 100

// PartsRequest asks for the URLs of parts.
type PartsRequest struct {
	PartNumbers []int64 `json:"part_numbers"`
	// ChecksumsSHA256 are the checksums of the parts, in the order of PartNumbers. They are given if the upload was
	// begun with part_checksums, and only then.
	ChecksumsSHA256 []string `json:"checksums_sha256"`
}

// SignParts signs the URLs to which parts are uploaded. Repeating it signs them anew. It puts off the end of the
// upload.
func (s *Batches) SignParts(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	var in PartsRequest
	if err := decodeStrictly(r, &in); err != nil {
		return httpapi.Reply{}, err
	}
	b, err := s.find(ctx, caller, r)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if err := s.checkAwaitsParts(b); err != nil {
		return httpapi.Reply{}, err
	}
	if details := in.check(*b.Multipart); len(details) > 0 {
		return httpapi.Reply{}, fault.NewInvalid(details...)
	}
	// The deadline is extended first, because every URL may be used.
	_, err = s.Store.ExtendUpload(ctx, b.ID, s.Now().Add(s.UploadLifetime))
	if conflict, ok := errors.AsType[*batch.ConflictError](err); ok {
		return httpapi.Reply{}, s.checkAwaitsParts(conflict.Current)
	}
	if err != nil {
		return httpapi.Reply{}, err
	}
	out := wire.SignedParts{Parts: []wire.SignedPart{}}
	for i, number := range in.PartNumbers {
		part := objects.Part{Number: int32(number), Size: b.Multipart.SizeOf(number, b.Declared.Length)}
		if b.Multipart.HasChecksums {
			part.SHA256 = in.ChecksumsSHA256[i]
		}
		signed, err := s.Uploads.SignPart(ctx, intake.UploadKey(b.Tenant, b.ID), b.Multipart.UploadID, part,
			s.UploadLifetime)
		if err != nil {
			return httpapi.Reply{}, err
		}
		out.Parts = append(out.Parts, wire.SignedPart{PartNumber: number, URL: signed.URL,
			RequiredHeaders: signed.Headers, ExpiresAt: signed.Expires})
	}
	return httpapi.Reply{Body: out}, nil
}

// check returns the errors of the request for an upload.
func (in PartsRequest) check(m batch.Multipart) []fault.Detail {
	var details []fault.Detail
	add := func(code, message string, path ...any) {
		details = append(details, bodyDetail(message, code, nil, path...))
	}
	switch n := len(in.PartNumbers); {
	case n == 0:
		add("array_too_short", "Name the parts to be uploaded.", "part_numbers")
	case n > maxSignedParts:
		add("array_too_long", fmt.Sprintf("Name at most %d parts.", maxSignedParts), "part_numbers")
		return details
	}
	for i, number := range in.PartNumbers {
		details = append(details, checkNumber(m, in.PartNumbers[:i], number, "part_numbers", i)...)
	}
	switch {
	case !m.HasChecksums && in.ChecksumsSHA256 != nil:
		add("extra_forbidden", "The upload was begun without part_checksums.", "checksums_sha256")
	case m.HasChecksums && len(in.ChecksumsSHA256) != len(in.PartNumbers):
		add("missing", "The upload was begun with part_checksums: give the SHA-256 of each part, in the order of "+
			"part_numbers.",
			"checksums_sha256")
	}
	for i, sum := range in.ChecksumsSHA256 {
		if parseSHA256(sum) == nil {
			details = append(details, checksumDetail(sum, "checksums_sha256", i))
		}
	}
	return details
}

// checkNumber returns the error of the number of a part that follows others in a list.
func checkNumber(m batch.Multipart, before []int64, number int64, path ...any) []fault.Detail {
	switch {
	case number < 1 || number > m.PartCount:
		return []fault.Detail{bodyDetail(fmt.Sprintf("The value must be 1 to %d.", m.PartCount), "number_range", number,
			path...)}
	case slices.Contains(before, number):
		return []fault.Detail{bodyDetail(fmt.Sprintf("Part %d is named twice.", number), "repeated", number, path...)}
	}
	return nil
}

// decodeStrictly decodes the body of a request; unknown keys are refused.
func decodeStrictly(r *http.Request, into any) error {
	body, err := httpapi.ReadBody(r)
	if err != nil {
		return err
	}
	return body.Decode(into, "", json.RejectUnknownMembers(true))
}

// Parts lists the parts that are stored so far.
func (s *Batches) Parts(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	b, err := s.find(ctx, caller, r)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if err := s.checkAwaitsParts(b); err != nil {
		return httpapi.Reply{}, err
	}
	stored, err := s.Uploads.ListParts(ctx, intake.UploadKey(b.Tenant, b.ID), b.Multipart.UploadID)
	if errors.Is(err, objects.ErrNoUpload) {
		return httpapi.Reply{}, errNoParts(b)
	}
	if err != nil {
		return httpapi.Reply{}, err
	}
	m := b.Multipart
	out := wire.StoredParts{BatchID: string(b.ID), UploadID: m.UploadID, PartSize: m.PartSize, PartCount: m.PartCount,
		ContentLength: b.Declared.Length, PartChecksums: m.HasChecksums, ExpiresAt: s.giveUpAt(b),
		Parts: []wire.StoredPart{}}
	for _, p := range stored {
		part := wire.StoredPart{PartNumber: int64(p.Number), Size: p.Size, ETag: p.ETag}
		if p.SHA256 != "" {
			part.ChecksumSHA256 = &p.SHA256
		}
		out.Parts = append(out.Parts, part)
	}
	return httpapi.Reply{Body: out}, nil
}

// errNoParts is the error of a batch that awaits the completion of an upload which storage does not have.
func errNoParts(b batch.Batch) error {
	if b.Multipart.Completion != "" {
		return errComplete
	}
	return errTooOld
}

var (
	errSinglePut = fault.New(fault.Conflict, "upload_not_multipart",
		"The file of this batch is uploaded by a single PUT; it has no parts.")
	errMultipart = fault.New(fault.Conflict, "upload_multipart",
		"The file of this batch is uploaded in parts; ask for their URLs with POST upload-parts.")
	errComplete = fault.New(fault.Conflict, "upload_complete", "The upload is complete.")
	errTooOld   = fault.New(fault.Conflict, "upload_expired",
		"The upload was not completed in time, and its parts are deleted. Begin a new batch.")
)

// checkAwaitsParts returns an error unless parts of a batch can be uploaded.
func (s *Batches) checkAwaitsParts(b batch.Batch) error {
	switch {
	case b.Multipart == nil:
		return errSinglePut
	case b.Object != (batch.Object{}):
		return errComplete
	case b.Status != batch.AwaitingUpload:
		return errEnded(b)
	case s.Now().After(b.CreatedAt.Add(batch.MaxMultipartAge)):
		return errTooOld
	}
	return nil
}

// errEnded is the error of a batch that has ended without its upload.
func errEnded(b batch.Batch) error {
	return fault.New(fault.Conflict, "batch_ended", "The batch has ended. "+b.ErrorMessage)
}

// GiveUpUpload ends a batch whose upload in parts is not complete, and has its parts removed. Repeating it is success.
func (s *Batches) GiveUpUpload(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	b, err := s.find(ctx, caller, r)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if b.Multipart == nil {
		return httpapi.Reply{}, errSinglePut
	}
	key := intake.UploadKey(b.Tenant, b.ID)
	if b.Status == batch.AwaitingUpload && b.Multipart.Completion != "" {
		_, err := s.Uploads.ListParts(ctx, key, b.Multipart.UploadID)
		if errors.Is(err, objects.ErrNoUpload) {
			return httpapi.Reply{}, errComplete // its event is on the way
		}
		if err != nil {
			return httpapi.Reply{}, err
		}
	}
	_, err = s.Store.Apply(ctx, b.ID, batch.Transition{
		To: batch.Failed, From: batch.AwaitingUpload, At: s.Now(), ErrorMessage: batch.GivenUp,
	})
	var conflict *batch.ConflictError
	switch {
	case errors.As(err, &conflict) && conflict.Current.Object != (batch.Object{}):
		return httpapi.Reply{}, errComplete
	case errors.As(err, &conflict) && conflict.Current.ErrorMessage != batch.GivenUp:
		return httpapi.Reply{}, errEnded(conflict.Current)
	case err != nil && conflict == nil:
		return httpapi.Reply{}, err
	}
	s.askForClose(ctx, b.ID)
	// If this fails, the client repeats the request or the lifecycle of the bucket removes the parts.
	if err := s.Uploads.AbortParts(ctx, key, b.Multipart.UploadID); err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Reply{Body: wire.BatchOfUpload{BatchID: string(b.ID)}}, nil
}

// trimETag returns an ETag without its quotes.
func trimETag(etag string) string { return strings.Trim(etag, `"`) }
