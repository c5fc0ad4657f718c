package dynamo

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// Reasons that DynamoDB gives for canceling a transaction.
const (
	reasonConditionFailed = "ConditionalCheckFailed"
	reasonConflict        = "TransactionConflict"
	// A table or one of its indexes has no units left. The SDK does not try a canceled transaction again.
	reasonThrottled           = "ThrottlingError"
	reasonProvisionedExceeded = "ProvisionedThroughputExceeded"
)

// ConditionFailed reports whether err means that the condition of a single write did not hold. The item is the one that
// the write met, nil if there was none; it is returned only to writes that ask for it with
// ReturnValuesOnConditionCheckFailure.
func ConditionFailed(err error) (current Item, failed bool) {
	var e *types.ConditionalCheckFailedException
	if !errors.As(err, &e) {
		return nil, false
	}
	return e.Item, true
}

// Transact applies all writes or none. If one of their conditions does not hold, the writes at fault are true in
// failed, which has one element for each write; err is then the reason and should be replaced by the domain's own
// error. Other transactions on the same items, and tables that are throttled, are waited for. Retries of the SDK are
// one transaction: it sends a token along.
func Transact(ctx context.Context, db *dynamodb.Client, writes []types.TransactWriteItem) (failed []bool, err error) {
	err = RetryConflicts(ctx, func() error {
		_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
		return err
	})
	failed = make([]bool, len(writes))
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		for i, reason := range canceled.CancellationReasons {
			failed[i] = aws.ToString(reason.Code) == reasonConditionFailed
		}
	}
	return failed, err
}

// RetryConflicts repeats a write while transactions of others hold its items, until the context ends.
func RetryConflicts(ctx context.Context, write func() error) error {
	return retry(ctx, func() (bool, error) {
		err := write()
		return isConflict(err), err
	})
}

// isConflict reports whether a write failed only because another transaction holds its items, or because a table was
// throttled while a transaction was made. Where a condition failed as well, trying again would not help.
func isConflict(err error) bool {
	if _, ok := errors.AsType[*types.TransactionConflictException](err); ok {
		return true
	}
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) {
		return false
	}
	conflict := false
	for _, reason := range canceled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case reasonConditionFailed:
			return false
		case reasonConflict, reasonThrottled, reasonProvisionedExceeded:
			conflict = true
		}
	}
	return conflict
}

// isThrottled reports whether a table refused a call because of its rate. The SDK has tried a few times by then and
// gives up early when many calls fail; here every item must be read or written, and only the context ends that.
func isThrottled(err error) bool {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return false
	}
	_, throttled := awsretry.DefaultThrottleErrorCodes[api.ErrorCode()]
	return throttled
}

const (
	firstBackoff = 20 * time.Millisecond
	maxBackoff   = 2 * time.Second
)

// retry calls attempt until it no longer asks to be repeated, and returns its last error. The pauses have full jitter
// and double from firstBackoff to maxBackoff. Not a count but the context ends the attempts, with the context's error:
// how long trying is worth while is the caller's deadline.
func retry(ctx context.Context, attempt func() (again bool, err error)) error {
	for limit := firstBackoff; ; limit = min(2*limit, maxBackoff) {
		again, err := attempt()
		if !again {
			return err
		}
		pause := time.NewTimer(rand.N(limit))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		}
	}
}

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
