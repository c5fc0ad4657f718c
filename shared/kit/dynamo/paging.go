package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// LoadPagingKey returns the key that seals page tokens, from a table whose key is owner and part. If the table has none
// yet, the candidate is stored: of callers at the same time one's candidate becomes the key, and all get that one.
func LoadPagingKey(ctx context.Context, db *dynamodb.Client, table string, candidate []byte) ([]byte, error) {
	return LoadPagingKeyAt(ctx, db, table, "owner", candidate)
}

// LoadPagingKeyAt is LoadPagingKey for a table whose partition key has another name.
func LoadPagingKeyAt(ctx context.Context, db *dynamodb.Client, table, partitionKey string, candidate []byte) ([]byte,
	error) {
	key := Item{partitionKey: String("paging"), "part": String("key")}
	read := &dynamodb.GetItemInput{TableName: &table, Key: key, ConsistentRead: aws.Bool(true)}
	out, err := db.GetItem(ctx, read)
	if err == nil && out.Item == nil {
		_, err = db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &table,
			Item: Item{partitionKey: key[partitionKey], "part": key["part"],
				"body": Binary(candidate)},
			ConditionExpression:      aws.String("attribute_not_exists(#owner)"),
			ExpressionAttributeNames: map[string]string{"#owner": partitionKey},
		})
		if _, failed := ConditionFailed(err); err == nil || failed {
			out, err = db.GetItem(ctx, read)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("load paging key: %w", err)
	}
	body := BinaryAttribute(out.Item, "body")
	if body == nil {
		return nil, errors.New("load paging key: the row has no body")
	}
	return body, nil
}
