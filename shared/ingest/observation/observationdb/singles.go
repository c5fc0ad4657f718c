// Package observationdb stores the outcomes of requests with single transactions in DynamoDB.
package observationdb

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/ingest/observation"
	"sluice/shared/kit/dynamo"
)

// shards is the number of items among which the counts of a tenant's day are divided, so that requests at the same time
// seldom wait for each other at one.
const shards = 16

// Store stores observations. It is safe for concurrent use. Its table has the keys id and part:
//
//	<tenant>#modification#<ID>   <receipt time>#<status>#<transaction ID>   a request, refused for the reason r
//	<tenant>#failed#<day>        <receipt time>#<modification ID>           a refused request
//	<tenant>#counts              <day>#<shard>                              numbers of requests, stored and refused
//
// Receipt times are nanoseconds since 1970 in 19 digits, statuses have three digits and shards two, and days are
// YYYY-MM-DD in UTC. Requests expire some days after observation.Life, and counts never: a day has 16 small ones.
type Store struct {
	db    *dynamodb.Client
	table string
}

// New returns the store on the given table.
func New(db *dynamodb.Client, table string) *Store { return &Store{db, table} }

// Record keeps an observation and counts it. Repeating the call, also at the same time, changes nothing. The item of
// the request decides who counts it, so a call that ends after that item was written may leave a request uncounted;
// none is counted twice. Single writes are used in place of one transaction because they cost half of its units, and
// because transactions that meet at a count would refuse each other.
func (s *Store) Record(ctx context.Context, e observation.Event) error {
	at, day := fmt.Sprintf("%019d", e.At.UnixNano()), e.At.UTC().Format(time.DateOnly)
	expires := dynamo.Number(e.At.Add(observation.Life + 2*24*time.Hour).Unix())
	if !e.IsStored() && e.ModificationID != "" {
		failed := itemKey(e.Tenant+"#failed#"+day, at+"#"+e.ModificationID)
		failed["expires"] = expires
		if _, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.table, Item: failed}); err != nil {
			return fmt.Errorf("list refused transaction: %w", err)
		}
	}
	request := itemKey(modificationKey(e.Tenant, e.ModificationID), fmt.Sprintf("%s#%03d#%s", at, e.Status,
		e.TransactionID))
	request["expires"] = expires
	if e.Reason != "" {
		request["r"] = dynamo.String(e.Reason)
	}
	_, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.table, Item: request, ConditionExpression: aws.String("attribute_not_exists(id)"),
	})
	if _, isKept := dynamo.ConditionFailed(err); isKept {
		return nil
	}
	if err != nil {
		return fmt.Errorf("keep observation: %w", err)
	}
	return s.count(ctx, e, day, shardOf(at+e.ModificationID))
}

// count adds a request to the counts of its day.
func (s *Store) count(ctx context.Context, e observation.Event, day string, shard uint32) error {
	outcome := "refused"
	if e.IsStored() {
		outcome = "stored"
	}
	_, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: itemKey(e.Tenant+"#counts", fmt.Sprintf("%s#%02d", day, shard)),
		UpdateExpression:          aws.String("ADD #outcome :one"),
		ExpressionAttributeNames:  map[string]string{"#outcome": outcome},
		ExpressionAttributeValues: dynamo.Item{":one": dynamo.Number(1)},
	})
	if err != nil {
		return fmt.Errorf("count observation: %w", err)
	}
	return nil
}

func shardOf(request string) uint32 {
	hash := fnv.New32a()
	hash.Write([]byte(request))
	return hash.Sum32() % shards
}

func itemKey(id, part string) dynamo.Item {
	return dynamo.Item{"id": dynamo.String(id), "part": dynamo.String(part)}
}

func modificationKey(tenant, modification string) string {
	return tenant + "#modification#" + modification
}

// Events returns the outcomes of the requests with a modification ID, oldest first, from a position on, and the
// position after them; "" for the beginning and for the end.
func (s *Store) Events(ctx context.Context, tenant, modification, after string, limit int) (events []observation.Event,
	next string, err error) {
	id := modificationKey(tenant, modification)
	query := &dynamodb.QueryInput{
		TableName: &s.table, KeyConditionExpression: aws.String("id = :id"), Limit: aws.Int32(int32(limit)),
		ExpressionAttributeValues: dynamo.Item{":id": dynamo.String(id)}, ConsistentRead: aws.Bool(true),
	}
	if after != "" {
		query.ExclusiveStartKey = itemKey(id, after)
	}
	out, err := s.db.Query(ctx, query)
	if err != nil {
		return nil, "", fmt.Errorf("read observations: %w", err)
	}
	for _, item := range out.Items {
		e := observation.Event{Tenant: tenant, ModificationID: modification, Reason: dynamo.StringAttribute(item, "r")}
		parts := strings.SplitN(dynamo.StringAttribute(item, "part"), "#", 3)
		if len(parts) != 3 {
			return nil, "", errMalformed
		}
		at, err := strconv.ParseInt(parts[0], 10, 64)
		if err != nil {
			return nil, "", errMalformed
		}
		if e.Status, err = strconv.Atoi(parts[1]); err != nil {
			return nil, "", errMalformed
		}
		e.At, e.TransactionID = time.Unix(0, at).UTC(), parts[2]
		events = append(events, e)
	}
	if out.LastEvaluatedKey != nil {
		next = dynamo.StringAttribute(out.LastEvaluatedKey, "part")
	}
	return events, next, nil
}

var errMalformed = errors.New("read observations: malformed item")

// Refused returns the modification IDs of the requests of a day that were refused, in the order of their receipt, from
// a position on, and the position after them; "" for the beginning and for the end.
func (s *Store) Refused(ctx context.Context, tenant, day, after string, limit int) (ids []string, next string,
	err error) {
	id := tenant + "#failed#" + day
	query := &dynamodb.QueryInput{
		TableName: &s.table, KeyConditionExpression: aws.String("id = :id"), Limit: aws.Int32(int32(limit)),
		ExpressionAttributeValues: dynamo.Item{":id": dynamo.String(id)},
	}
	if after != "" {
		query.ExclusiveStartKey = itemKey(id, after)
	}
	out, err := s.db.Query(ctx, query)
	if err != nil {
		return nil, "", fmt.Errorf("list refused transactions: %w", err)
	}
	for _, item := range out.Items {
		_, modification, _ := strings.Cut(dynamo.StringAttribute(item, "part"), "#")
		ids = append(ids, modification)
	}
	if out.LastEvaluatedKey != nil {
		next = dynamo.StringAttribute(out.LastEvaluatedKey, "part")
	}
	return ids, next, nil
}

// Count returns the numbers of requests of a range of days, by day. A day without requests is missing. The range has at
// most about 1,000 days.
func (s *Store) Count(ctx context.Context, tenant, first, last string) (map[string]observation.Counts, error) {
	out, err := s.db.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.table, KeyConditionExpression: aws.String("id = :id AND part BETWEEN :first AND :last"),
		ExpressionAttributeValues: dynamo.Item{":id": dynamo.String(tenant + "#counts"),
			":first": dynamo.String(first), ":last": dynamo.String(last + "#~")},
	})
	if err != nil {
		return nil, fmt.Errorf("count transactions: %w", err)
	}
	days := map[string]observation.Counts{}
	for _, item := range out.Items {
		day, _, _ := strings.Cut(dynamo.StringAttribute(item, "part"), "#")
		n := days[day]
		n.Stored += dynamo.NumberAttribute(item, "stored")
		n.Refused += dynamo.NumberAttribute(item, "refused")
		days[day] = n
	}
	return days, nil
}
