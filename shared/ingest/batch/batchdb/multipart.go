package batchdb

import (
	"context"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/dynamo"
)

// multipartRow is an upload in several parts.
type multipartRow struct {
	UploadID     string `dynamodbav:"upload_id"`
	PartSize     int64  `dynamodbav:"part_size"`
	PartCount    int64  `dynamodbav:"part_count"`
	HasChecksums bool   `dynamodbav:"checksums,omitempty"`
	Completion   string `dynamodbav:"completion,omitempty"`
	AskedAt      string `dynamodbav:"asked_at,omitempty"`
}

func newMultipartRow(m *batch.Multipart) *multipartRow {
	if m == nil {
		return nil
	}
	return &multipartRow{m.UploadID, m.PartSize, m.PartCount, m.HasChecksums, m.Completion,
		dynamo.FormatTime(m.AskedAt)}
}

func (r *multipartRow) multipart() (*batch.Multipart, error) {
	if r == nil {
		return nil, nil
	}
	askedAt, err := dynamo.ParseTime(r.AskedAt)
	return &batch.Multipart{UploadID: r.UploadID, PartSize: r.PartSize, PartCount: r.PartCount,
		HasChecksums: r.HasChecksums, Completion: r.Completion, AskedAt: askedAt}, err
}

// ExtendUpload sets upload_by, on the condition that the batch awaits its upload.
func (s *Store) ExtendUpload(ctx context.Context, id batch.ID, by time.Time) (batch.Batch, error) {
	return s.updateAwaiting(ctx, id, "SET upload_by = :by, #open = tenant", "",
		dynamo.Item{":by": dynamo.String(dynamo.FormatTime(by))})
}

// RecordCompletion sets the completion of the upload in parts, on the condition that the batch awaits it.
func (s *Store) RecordCompletion(ctx context.Context, id batch.ID, completion string, at time.Time) (batch.Batch,
	error) {
	return s.updateAwaiting(ctx, id, "SET multipart.completion = :parts, multipart.asked_at = :at",
		" AND attribute_exists(multipart)",
		dynamo.Item{":parts": dynamo.String(completion), ":at": dynamo.String(dynamo.FormatTime(at))})
}

// updateAwaiting updates a batch that awaits its upload, on a further condition, and returns it.
func (s *Store) updateAwaiting(ctx context.Context, id batch.ID, update, condition string, values dynamo.Item) (
	batch.Batch, error) {
	values[":awaiting"] = dynamo.String(string(batch.AwaitingUpload))
	b, isMade, err := s.update(ctx, id, "update the upload",
		s.table.Update(key(id, batchPart), update, "#status = :awaiting"+condition, values))
	if err == nil && !isMade {
		return batch.Batch{}, &batch.ConflictError{Wanted: batch.AwaitingUpload, Current: b}
	}
	return b, err
}
