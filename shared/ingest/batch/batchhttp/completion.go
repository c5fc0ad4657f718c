package batchhttp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/fault"
	"sluice/shared/kit/objects"
)

// CompletionRequest names all parts of an upload, in any order.
type CompletionRequest struct {
	Parts []CompletedPart `json:"parts"`
}

// CompletedPart is a part with the ETag that storage has answered, with or without its quotes.
type CompletedPart struct {
	PartNumber int64  `json:"part_number"`
	ETag       string `json:"etag"`
}

// check returns the errors of the request for an upload.
func (in CompletionRequest) check(m batch.Multipart) []fault.Detail {
	if in.Parts == nil {
		return []fault.Detail{bodyDetail("Name all parts of the upload, each with the ETag that storage has answered.",
			"missing", nil, "parts")}
	}
	if int64(len(in.Parts)) > m.PartCount {
		return []fault.Detail{bodyDetail(fmt.Sprintf("The upload has %d parts; %d are named.", m.PartCount,
			len(in.Parts)), "array_too_long", nil, "parts")}
	}
	var details []fault.Detail
	var before []int64
	for i, p := range in.Parts {
		details = append(details, checkNumber(m, before, p.PartNumber, "parts", i, "part_number")...)
		before = append(before, p.PartNumber)
		if trimETag(p.ETag) == "" {
			details = append(details, bodyDetail("Give the ETag that storage has answered for the part.", "missing",
				nil, "parts", i, "etag"))
		}
	}
	return details
}

// list returns the parts in the order of their numbers, with ETags without quotes.
func (in CompletionRequest) list() []batch.UploadedPart {
	list := make([]batch.UploadedPart, len(in.Parts))
	for i, p := range in.Parts {
		list[i] = batch.UploadedPart{Number: p.PartNumber, ETag: trimETag(p.ETag)}
	}
	slices.SortFunc(list, func(a, b batch.UploadedPart) int { return cmp.Compare(a.Number, b.Number) })
	return list
}

// CompleteUpload makes the file of a batch of its parts. The receipt time is the time of the completion, as storage
// reports it. Repeating it with the same parts is success in every status of the batch; with others it is a conflict.
func (s *Batches) CompleteUpload(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	var in CompletionRequest
	if err := decodeStrictly(r, &in); err != nil {
		return httpapi.Reply{}, err
	}
	b, err := s.find(ctx, caller, r)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if b.Multipart == nil {
		return httpapi.Reply{}, errSinglePut
	}
	if details := in.check(*b.Multipart); len(details) > 0 {
		return httpapi.Reply{}, fault.NewInvalid(details...)
	}
	if err := s.complete(ctx, b, in.list()); err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Reply{Body: wire.BatchOfUpload{BatchID: string(b.ID)}}, nil
}

// complete completes the upload of a batch with a list of parts.
//
// The completion is recorded before storage is asked: once storage does not know the upload any more, the record says
// whether it was this list that has completed it.
func (s *Batches) complete(ctx context.Context, b batch.Batch, list []batch.UploadedPart) error {
	completion := batch.CompletionOf(list)
	if b.Status != batch.AwaitingUpload {
		return checkCompleted(b, completion)
	}
	key := intake.UploadKey(b.Tenant, b.ID)
	stored, err := s.Uploads.ListParts(ctx, key, b.Multipart.UploadID)
	if errors.Is(err, objects.ErrNoUpload) {
		return s.checkEnded(ctx, b.ID, completion)
	}
	if err != nil {
		return err
	}
	if err := compareParts(b, list, stored); err != nil {
		return err
	}
	_, err = s.Store.RecordCompletion(ctx, b.ID, completion, s.Now())
	if conflict, ok := errors.AsType[*batch.ConflictError](err); ok {
		return checkCompleted(conflict.Current, completion)
	}
	if err != nil {
		return err
	}
	err = s.Uploads.CompleteParts(ctx, key, b.Multipart.UploadID, stored)
	switch {
	case errors.Is(err, objects.ErrPartsDiffer):
		return fault.New(fault.Conflict, "parts_differ",
			"A part was uploaded again meanwhile. List the parts, and try again.")
	case err == nil, errors.Is(err, objects.ErrNoUpload), errors.Is(err, objects.ErrChanged):
		return s.checkEnded(ctx, b.ID, completion) // the upload was completed, here or by another request, or given up
	}
	return err
}

// checkEnded returns an error unless an upload that storage does not know any more was completed as asked.
func (s *Batches) checkEnded(ctx context.Context, id batch.ID, completion string) error {
	b, err := s.Store.Get(ctx, id)
	if err != nil {
		return err
	}
	if b.Status != batch.AwaitingUpload {
		return checkCompleted(b, completion)
	}
	if b.Multipart.Completion == "" || s.Now().After(b.CreatedAt.Add(batch.MaxMultipartAge)) {
		return errTooOld
	}
	return checkCompletion(b, completion)
}

// checkCompleted returns an error unless a batch that does not await its upload has got it as asked.
func checkCompleted(b batch.Batch, completion string) error {
	if b.Object == (batch.Object{}) {
		return errEnded(b)
	}
	return checkCompletion(b, completion)
}

func checkCompletion(b batch.Batch, completion string) error {
	if b.Multipart.Completion != completion {
		return fault.New(fault.Conflict, "parts_differ", "The upload is complete, with other parts than these.")
	}
	return nil
}

// maxNamedParts is the number of parts that one sentence names.
const maxNamedParts = 10

// compareParts returns a conflict unless a list has all parts of the upload of a batch, and these are stored as listed.
func compareParts(b batch.Batch, list []batch.UploadedPart, stored []objects.Part) error {
	etags := map[int64]string{}
	for _, p := range list {
		etags[p.Number] = p.ETag
	}
	parts := map[int64]objects.Part{}
	for _, p := range stored {
		parts[int64(p.Number)] = p
	}
	var unnamed, missing, other, wrong []int64
	for number := int64(1); number <= b.Multipart.PartCount; number++ {
		etag, isNamed := etags[number]
		part, isStored := parts[number]
		switch {
		case !isStored:
			missing = append(missing, number)
		case !isNamed:
			unnamed = append(unnamed, number)
		case trimETag(part.ETag) != etag:
			other = append(other, number)
		case part.Size != b.Multipart.SizeOf(number, b.Declared.Length):
			wrong = append(wrong, number)
		}
	}
	var sentences []string
	add := func(numbers []int64, one, many string) {
		if len(numbers) == 1 {
			sentences = append(sentences, fmt.Sprintf("Part %d %s.", numbers[0], one))
		} else if len(numbers) > 1 {
			sentences = append(sentences, fmt.Sprintf("Parts %s %s.", nameParts(numbers), many))
		}
	}
	add(missing, "is not uploaded", "are not uploaded")
	add(unnamed, "is not named", "are not named")
	add(other, "was uploaded with another ETag", "were uploaded with other ETags")
	add(wrong, "has the wrong size; upload it again", "have the wrong size; upload them again")
	if sentences == nil {
		return nil
	}
	code := "parts_differ"
	if len(missing) > 0 {
		code = "parts_missing"
	}
	return fault.New(fault.Conflict, code, strings.Join(sentences, " "))
}

// nameParts returns the numbers of parts for a sentence, no more than maxNamedParts of them.
func nameParts(numbers []int64) string {
	named := numbers[:min(len(numbers), maxNamedParts)]
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(named), " ", ", "), "[]")
	if more := len(numbers) - len(named); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
