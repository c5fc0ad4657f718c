package batchdb

import (
	"context"
	"fmt"
	"strings"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/dynamo"
)

// CommitFileDigests commits the digests of the file.
func (s *Store) CommitFileDigests(ctx context.Context, id batch.ID, d batch.FileDigests) (batch.FileDigests, error) {
	b, err := s.commitDigest(ctx, id, "file_sha256", dynamo.Item{
		"file_sha256": dynamo.Binary(d.FileSHA256), "lines_sha256": dynamo.Binary(d.LinesSHA256),
	}, func(b batch.Batch) bool { return b.FileSHA256 != nil })
	return batch.FileDigests{FileSHA256: b.FileSHA256, LinesSHA256: b.LinesSHA256}, err
}

// CommitAcceptedDigest commits the digest of the accepted lines.
func (s *Store) CommitAcceptedDigest(ctx context.Context, id batch.ID, sum []byte) ([]byte, error) {
	b, err := s.commitDigest(ctx, id, "accepted_sha256", dynamo.Item{"accepted_sha256": dynamo.Binary(sum)},
		func(b batch.Batch) bool { return b.AcceptedSHA256 != nil })
	return b.AcceptedSHA256, err
}

// commitDigest sets attributes of a batch that is being validated, unless one of them, which has the name, is set, and
// returns the batch after that. isSet reports whether a batch has that one.
func (s *Store) commitDigest(ctx context.Context, id batch.ID, name string, set dynamo.Item,
	isSet func(batch.Batch) bool) (batch.Batch, error) {
	values := dynamo.Item{":validating": dynamo.String(string(batch.ValidationStarted))}
	var assignments []string
	for attribute, value := range set {
		values[":"+attribute] = value
		assignments = append(assignments, fmt.Sprintf("%s = :%[1]s", attribute))
	}
	b, isMade, err := s.update(ctx, id, "commit "+name, s.table.Update(key(id, batchPart),
		"SET "+strings.Join(assignments, ", "), "#status = :validating AND attribute_not_exists("+name+")", values))
	if err == nil && !isMade && !isSet(b) {
		err = &batch.ConflictError{Wanted: batch.ValidationStarted, Current: b}
	}
	return b, err
}
