package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	MaxGetKeys  = 100 // keys in one BatchGetItem
	MaxPutItems = 25  // items in one BatchWriteItem
	Concurrency = 8   // such calls at once
)

// BatchGet reads up to 100 items, asking again for what the service leaves over.
func BatchGet(ctx context.Context, db *dynamodb.Client, table string, keys []Item, projection string,
	names map[string]string) ([]Item, error) {
	var rows []Item
	var projected *string // nil: whole items
	if projection != "" {
		projected = &projection
	}
	for wait := NewBackoff(); ; {
		out, err := db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			table: {Keys: keys, ConsistentRead: aws.Bool(true), ProjectionExpression: projected, ExpressionAttributeNames: names},
		}})
		if IsThrottled(err) {
			if err := wait.Wait(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, out.Responses[table]...)
		if keys = out.UnprocessedKeys[table].Keys; len(keys) == 0 {
			return rows, nil
		}
		if err := wait.Wait(ctx); err != nil {
			return nil, err
		}
	}
}
