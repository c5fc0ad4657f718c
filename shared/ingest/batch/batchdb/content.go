package batchdb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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
	b, _, err := s.update(ctx, id, "commit the unpacked copy", types.Update{
		UpdateExpression:    aws.String("SET #encoding = :encoding, #content = :content, #unvalidated = :size"),
		ConditionExpression: aws.String("#status = :uploaded AND attribute_not_exists(#content)"),
		ExpressionAttributeNames: map[string]string{"#encoding": "encoding", "#content": "content", "#status": "status",
			"#unvalidated": unvalidatedAttribute},
		ExpressionAttributeValues: dynamo.Item{
			":encoding": dynamo.String(string(packed)), ":content": row, ":size": dynamo.Number(content.Size),
			":uploaded": dynamo.String(string(batch.Uploaded)),
		},
	})
	return b, err
}
