package batchdb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/dynamo"
)

// CommitContent commits the unpacked copy of a batch's file.
func (s *Store) CommitContent(ctx context.Context, id batch.ID, packed batch.Encoding, content batch.Object) (
	batch.Batch, error) {
	row, err := attributevalue.Marshal(objectRow(content))
	if err != nil {
		return batch.Batch{}, err
	}
	b, _, err := s.update(ctx, id, "commit the unpacked copy", s.table.Update(key(id, batchPart),
		"SET #encoding = :encoding, #content = :content, #"+unvalidatedAttribute+" = :size",
		"#status = :uploaded AND attribute_not_exists(#content)", dynamo.Item{
			":encoding": dynamo.String(string(packed)), ":content": row, ":size": dynamo.Number(content.Size),
			":uploaded": dynamo.String(string(batch.Uploaded)),
		}))
	return b, err
}
