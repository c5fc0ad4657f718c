package dynamo_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

// A write whose answer is lost is not taken for another client's write, nor the other way round.
func TestLostAnswersOfWrites(t *testing.T) {
	server := dynamotest.Start(t)
	db := dynamotest.Forgetful(server)
	item := key("0")
	item["n"], item["set"] = dynamo.Number(1), &types.AttributeValueMemberSS{Value: []string{"b", "a"}}
	item["nested"] = &types.AttributeValueMemberM{Value: dynamo.Item{"list": dynamo.StringList([]string{"x"}),
		"b": dynamo.Bool(true)}}
	put := func(item dynamo.Item, condition string) error {
		_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String(table), Item: item, ConditionExpression: &condition,
		})
		return err
	}
	errtest.Is(t, "create", put(item, "attribute_not_exists(part)"), nil)
	other := key("0")
	other["n"] = dynamo.Number(2)
	if _, failed := dynamo.ConditionFailed(put(other, "attribute_not_exists(part)")); !failed {
		t.Error("another item was created in the place of the first")
	}
	update := func(expression, condition string) (dynamo.Item, error) {
		values := dynamo.Item{":one": dynamo.Number(1), ":two": dynamo.Number(2)}
		for name := range values {
			if !strings.Contains(expression+condition, name) {
				delete(values, name)
			}
		}
		out, err := db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: aws.String(table), Key: key("0"), UpdateExpression: &expression, ConditionExpression: &condition,
			ExpressionAttributeNames: map[string]string{"#n": "n"}, ExpressionAttributeValues: values,
			ReturnValues: types.ReturnValueAllNew,
		})
		if err != nil {
			return nil, err
		}
		return out.Attributes, nil
	}
	got, err := update("SET previous = #n, #n = :two REMOVE nested", "#n = :one")
	want := key("0")
	want["n"], want["previous"], want["set"] = dynamo.Number(2), dynamo.Number(1), item["set"]
	if err != nil || len(got) != len(want) || dynamo.NumberAttribute(got, "n") != 2 ||
		dynamo.NumberAttribute(got, "previous") != 1 {
		t.Errorf("update: %v, %v, want %v", got, err, want)
	}
	errtest.Fails(t, "an update whose condition does not hold succeeded",
		errtest.Of(update("SET #n = :one", "#n = :one")))
	errtest.Fails(t, "an update that cannot be recognised was taken for done, although its answer is lost",
		errtest.Of(update("SET #n = #n + :two", "#n = :two")))
	remove := func(condition string) error {
		_, err := db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
			TableName: aws.String(table), Key: key("0"), ConditionExpression: &condition,
		})
		return err
	}
	errtest.Is(t, "delete", remove("attribute_exists(part)"), nil)
	if _, failed := dynamo.ConditionFailed(remove("attribute_exists(part)")); !failed {
		t.Error("a missing item was deleted")
	}
}
