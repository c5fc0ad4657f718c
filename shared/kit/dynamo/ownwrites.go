package dynamo

import (
	"bytes"
	"context"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// NewClient returns the client for stores. A conditional write whose answer is lost is sent again by the SDK, and then
// fails on its own earlier write. The client recognises that: such a write succeeds if the item is what it wanted to
// write. It recognises PutItem, DeleteItem, and UpdateItem with plain assignments and removals; transactions carry a
// token by which DynamoDB recognises them itself.
func NewClient(cfg aws.Config, options ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.NewFromConfig(cfg, append(options, RecognizeOwnWrites)...)
}

// RecognizeOwnWrites is the option of a client that NewClient sets.
func RecognizeOwnWrites(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("sluice:own-writes", recognizeOwnWrite),
			middleware.Before)
	})
}

// recognizeOwnWrite passes a call on. If its condition has failed at a repeated attempt on what an earlier attempt has
// written, it returns success.
func recognizeOwnWrite(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error) {
	var outputOf func(current Item) any
	in.Parameters, outputOf = withCurrentItem(in.Parameters)
	out, metadata, err := next.HandleInitialize(ctx, in)
	if outputOf == nil || err == nil {
		return out, metadata, err
	}
	current, failed := ConditionFailed(err)
	if attempts, ok := awsretry.GetAttemptResults(metadata); !failed || !ok || len(attempts.Results) < 2 {
		return out, metadata, err
	}
	if result := outputOf(current); result != nil {
		return middleware.InitializeOutput{Result: result}, metadata, nil
	}
	return out, metadata, err
}

// withCurrentItem returns the parameters of a conditional write that asks for the item which it meets, and a function
// that returns the output of the write if that item equals the one that it writes, else nil. For other calls it returns
// nil.
func withCurrentItem(parameters any) (any, func(current Item) any) {
	const wanted = types.ReturnValuesOnConditionCheckFailureAllOld
	switch in := parameters.(type) {
	case *dynamodb.PutItemInput:
		if in.ConditionExpression == nil || !returnsNothing(in.ReturnValues) {
			return in, nil
		}
		put := *in
		put.ReturnValuesOnConditionCheckFailure = wanted
		return &put, func(current Item) any {
			if maps.EqualFunc(current, put.Item, equalAttributes) {
				return &dynamodb.PutItemOutput{}
			}
			return nil
		}
	case *dynamodb.DeleteItemInput:
		if in.ConditionExpression == nil || !returnsNothing(in.ReturnValues) {
			return in, nil
		}
		removal := *in
		removal.ReturnValuesOnConditionCheckFailure = wanted
		return &removal, func(current Item) any {
			if current == nil {
				return &dynamodb.DeleteItemOutput{}
			}
			return nil
		}
	case *dynamodb.UpdateItemInput:
		returnsItem := in.ReturnValues == types.ReturnValueAllNew
		if in.ConditionExpression == nil || in.UpdateExpression == nil ||
			!returnsNothing(in.ReturnValues) && !returnsItem {
			return in, nil
		}
		update := *in
		update.ReturnValuesOnConditionCheckFailure = wanted
		return &update, func(current Item) any {
			switch {
			case current == nil || !isUpdated(current, update):
				return nil
			case returnsItem:
				return &dynamodb.UpdateItemOutput{Attributes: current}
			}
			return &dynamodb.UpdateItemOutput{}
		}
	}
	return parameters, nil
}

func returnsNothing(v types.ReturnValue) bool { return v == "" || v == types.ReturnValueNone }

// isUpdated reports whether an item is as an update leaves it: each attribute that it sets has its value, and each that
// it removes is not there. Attributes set to the earlier value of another attribute are not compared. It returns false
// for an update that it cannot read.
func isUpdated(current Item, update dynamodb.UpdateItemInput) bool {
	clause, isEmpty := "", true
	expression := strings.NewReplacer(",", " , ", "=", " = ").Replace(*update.UpdateExpression)
	words := strings.Fields(expression)
	for i := 0; i < len(words); {
		switch words[i] {
		case "SET", "REMOVE":
			clause = words[i]
			i++
			continue
		case ",":
			i++
			continue
		}
		value, exists := attributeAt(current, words[i], update.ExpressionAttributeNames)
		switch {
		case clause == "SET" && exists && len(words) > i+2 && strings.HasPrefix(words[i+2], "#") &&
			isEndOfAssignment(words[i+3:]):
			i += 3
			continue
		case clause == "REMOVE" && !exists && !strings.Contains(words[i], "["):
			i++
		case clause == "SET" && exists && len(words) > i+2 && words[i+1] == "=" && isEndOfAssignment(words[i+3:]):
			if wanted := update.ExpressionAttributeValues[words[i+2]]; wanted == nil ||
				!equalAttributes(value, wanted) {
				return false
			}
			i += 3
		default:
			return false
		}
		isEmpty = false
	}
	return !isEmpty
}

// isEndOfAssignment reports whether an assignment ends before the rest of an expression, so that its value is the one
// word before that.
func isEndOfAssignment(rest []string) bool {
	return len(rest) == 0 || slices.Contains([]string{",", "SET", "REMOVE", "ADD", "DELETE"}, rest[0])
}

// attributeAt returns the attribute at a path of names and placeholders.
func attributeAt(item Item, path string, names map[string]string) (value types.AttributeValue, exists bool) {
	for i, part := range strings.Split(path, ".") {
		if name, ok := names[part]; ok {
			part = name
		}
		if i > 0 {
			inner, isMap := value.(*types.AttributeValueMemberM)
			if !isMap {
				return nil, false
			}
			item = inner.Value
		}
		if value, exists = item[part]; !exists {
			return nil, false
		}
	}
	return value, exists
}

// equalAttributes reports whether two attributes are the same to DynamoDB.
func equalAttributes(a, b types.AttributeValue) bool {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		b, ok := b.(*types.AttributeValueMemberS)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberN:
		b, ok := b.(*types.AttributeValueMemberN)
		return ok && equalNumbers(a.Value, b.Value)
	case *types.AttributeValueMemberB:
		b, ok := b.(*types.AttributeValueMemberB)
		return ok && bytes.Equal(a.Value, b.Value)
	case *types.AttributeValueMemberBOOL:
		b, ok := b.(*types.AttributeValueMemberBOOL)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberNULL:
		_, ok := b.(*types.AttributeValueMemberNULL)
		return ok
	case *types.AttributeValueMemberL:
		b, ok := b.(*types.AttributeValueMemberL)
		return ok && slices.EqualFunc(a.Value, b.Value, equalAttributes)
	case *types.AttributeValueMemberM:
		b, ok := b.(*types.AttributeValueMemberM)
		return ok && maps.EqualFunc(a.Value, b.Value, equalAttributes)
	case *types.AttributeValueMemberSS:
		b, ok := b.(*types.AttributeValueMemberSS)
		return ok && slices.Equal(slices.Sorted(slices.Values(a.Value)), slices.Sorted(slices.Values(b.Value)))
	}
	return false // no store has other sets
}

// equalNumbers compares numbers by their values: DynamoDB does not keep how they were written.
func equalNumbers(a, b string) bool {
	if a == b {
		return true
	}
	x, isNumber := new(big.Rat).SetString(a)
	y, isOther := new(big.Rat).SetString(b)
	return isNumber && isOther && x.Cmp(y) == 0
}
