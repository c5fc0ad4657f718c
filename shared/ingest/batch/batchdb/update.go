package batchdb

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/dynamo"
)

// update makes a conditional update of the item of a batch and returns the batch as it is after that. isMade is false
// if the condition has failed; the batch is then as the update found it. doing names the update in errors.
func (s *Store) update(ctx context.Context, id batch.ID, doing string, u types.Update) (b batch.Batch, isMade bool,
	err error) {
	out, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                           &s.table,
		Key:                                 key(id, batchPart),
		UpdateExpression:                    u.UpdateExpression,
		ConditionExpression:                 u.ConditionExpression,
		ExpressionAttributeNames:            u.ExpressionAttributeNames,
		ExpressionAttributeValues:           u.ExpressionAttributeValues,
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	item, failed := dynamo.ConditionFailed(err)
	switch {
	case failed && item == nil:
		return batch.Batch{}, false, batch.ErrNotFound
	case failed:
		b, err = unmarshalBatch(item)
		return b, false, err
	case err != nil:
		return batch.Batch{}, false, fmt.Errorf("%s of batch %s: %w", doing, id, err)
	}
	b, err = unmarshalBatch(out.Attributes)
	return b, true, err
}
