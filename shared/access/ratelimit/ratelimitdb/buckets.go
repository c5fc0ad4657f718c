// Package ratelimitdb keeps the buckets of limits in DynamoDB.
package ratelimitdb

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/dynamo"
)

// Store is the ratelimit.Store. Its table has one item for each limit of a tenant or an address:
//
//	id        <tenant>/<limit>, address:<address>/<limit>
//	full_60   when the bucket of the window of 60 seconds is full again, in nanoseconds since 1970
//	expires   when all of them are full at the latest, in seconds, for the table's time to live
type Store struct {
	db    *dynamodb.Client
	table string
}

var _ ratelimit.Store = (*Store)(nil)

// New returns the store on the given table.
func New(db *dynamodb.Client, table string) *Store { return &Store{db, table} }

const windowPrefix = "full_"

func attributeName(period time.Duration) string {
	return windowPrefix + strconv.FormatInt(int64(period/time.Second), 10)
}

// Apply implements ratelimit.Store. The numbers of a bucket that is not full are added to in the database, so that of
// writes at the same time all succeed that the bucket has requests for.
func (s *Store) Apply(ctx context.Context, key string, c ratelimit.Change) (ratelimit.State, bool, error) {
	values := dynamo.Item{":expires": dynamo.Number(c.Expires.Unix()), ":now": dynamo.Number(c.Now.UnixNano())}
	names := map[string]string{}
	assignments, conditions := []string{"expires = :expires"}, []string(nil)
	for i, step := range c.Steps {
		n := strconv.Itoa(i)
		name := "#w" + n
		names[name] = attributeName(step.Period)
		if step.WasFull {
			assignments = append(assignments, name+" = :to"+n)
			conditions = append(conditions, fmt.Sprintf(
				"(attribute_not_exists(%[1]s) OR %[1]s <= :now OR %[1]s > :wrong%[2]s)", name, n))
			values[":to"+n] = dynamo.Number(c.Now.Add(step.Add).UnixNano())
			values[":wrong"+n] = dynamo.Number(step.Implausible.UnixNano())
			continue
		}
		assignments = append(assignments, name+" = "+name+" + :add"+n)
		conditions = append(conditions, name+" > :now AND "+name+" <= :latest"+n)
		values[":add"+n] = dynamo.Number(int64(step.Add))
		values[":latest"+n] = dynamo.Number(step.Latest.UnixNano())
	}
	// The SDK repeats nothing: a write whose answer was lost would count twice.
	out, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: dynamo.Item{"id": dynamo.String(key)},
		UpdateExpression:                    aws.String("SET " + strings.Join(assignments, ", ")),
		ConditionExpression:                 aws.String(strings.Join(conditions, " AND ")),
		ExpressionAttributeNames:            names,
		ExpressionAttributeValues:           values,
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	if item, failed := dynamo.ConditionFailed(err); failed {
		return stateOf(item), false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("take from a limit: %w", err)
	}
	return stateOf(out.Attributes), true, nil
}

func stateOf(item dynamo.Item) ratelimit.State {
	state := ratelimit.State{}
	for name := range item {
		seconds, isWindow := strings.CutPrefix(name, windowPrefix)
		if n, err := strconv.ParseInt(seconds, 10, 64); isWindow && err == nil {
			state[time.Duration(n)*time.Second] = time.Unix(0, dynamo.NumberAttribute(item, name))
		}
	}
	return state
}
