package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// LoadPagingKey returns the key of paging tokens that a table of owner / part keeps. The first caller's candidate becomes it.
func LoadPagingKey(ctx context.Context, db *dynamodb.Client, table string, candidate []byte) ([]byte, error) {
	key := Item{"owner": String("paging"), "part": String("key")}
	read := &dynamodb.GetItemInput{TableName: &table, Key: key, ConsistentRead: aws.Bool(true)}
	out, err := db.GetItem(ctx, read)
	if err == nil && out.Item == nil {
		_, err = db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &table, Item: Item{"owner": key["owner"], "part": key["part"], "body": &types.AttributeValueMemberB{Value: candidate}},
			ConditionExpression: aws.String("attribute_not_exists(#owner)"), ExpressionAttributeNames: map[string]string{"#owner": "owner"},
		})
		if failed := new(types.ConditionalCheckFailedException); err == nil || errors.As(err, &failed) {
			out, err = db.GetItem(ctx, read)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("paging key: %w", err)
	}
	b, ok := out.Item["body"].(*types.AttributeValueMemberB)
	if !ok {
		return nil, errors.New("paging key: malformed row")
	}
	return b.Value, nil
}
