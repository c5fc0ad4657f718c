package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// ReplaceVersion puts a row in the place of the one whose attribute version is the given one, or in an empty place if
// version is 0. The row has the next version and an attribute id. If another row is there, ConditionFailed reports true
// for the error.
func ReplaceVersion(ctx context.Context, db *dynamodb.Client, table string, row any, version int64) error {
	item, err := attributevalue.MarshalMap(row)
	if err != nil {
		return err
	}
	put := &dynamodb.PutItemInput{
		TableName: &table, Item: item, ConditionExpression: aws.String("attribute_not_exists(id)"),
	}
	if version != 0 {
		put.ConditionExpression = aws.String("version = :version")
		put.ExpressionAttributeValues = Item{":version": Number(version)}
	}
	_, err = db.PutItem(ctx, put)
	return err
}
