// Package observationdb stores the outcomes of requests with single transactions in DynamoDB.
package observationdb

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/dynamo"
)

// shards is the number of items among which the counts of a tenant's day are divided, so that requests at the same time
// seldom wait for each other at one.
const shards = 16

// Store stores observations. It is safe for concurrent use. Its table has the keys id and part:
//
//	<tenant>#<kind>#<ID>    <receipt time>#<status>#<transaction ID>   a request, refused for the reason r
//	<tenant>#failed#<day>   <receipt time>#<modification ID>           a refused request
//	<tenant>#counts         <day>#<shard>                              numbers of requests, stored and refused
//
// Receipt times are nanoseconds since 1970 in 19 digits, statuses have three digits and shards two, and days are
// YYYY-MM-DD in UTC. A request has an item for each kind of identifier (observation.Kind) that it has, but for the
// transaction ID of one that is stored, which the table of transactions has. They have the IDs of the modification and
// the payment as m and p, unless that is the key, and only the item of the modification has r; earlier releases wrote
// that item alone, without p. The UUID of a request is in lower case. Items of a stored transaction expire with it,
// others some days after observation.Life, and counts never: a day has 16 small ones.
type Store struct {
	db    *dynamodb.Client
	table string
}

// New returns the store on the given table.
func New(db *dynamodb.Client, table string) *Store { return &Store{db, table} }

// Record keeps an observation and counts it. Repeating the call, also at the same time, changes nothing. The item of
// the modification is written after the others and decides who counts the request, so a call that ends after that item
// was written may leave a request uncounted; none is counted twice. Single writes are used in place of one transaction
// because they cost half of its units, and because transactions that meet at a count would refuse each other.
func (s *Store) Record(ctx context.Context, e observation.Event) error {
	if items := preceding(e); len(items) > 0 {
		if _, err := dynamo.PutPage(ctx, s.db, s.table, items); err != nil {
			return fmt.Errorf("keep observation by its IDs: %w", err)
		}
	}
	_, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.table, Item: requestItem(e, observation.Modification, e.ModificationID),
		ConditionExpression: aws.String("attribute_not_exists(id)"),
	})
	if _, isKept := dynamo.ConditionFailed(err); isKept {
		return nil
	}
	if err != nil {
		return fmt.Errorf("keep observation: %w", err)
	}
	return s.count(ctx, e, dayOf(e), shardOf(observation.PlaceOf(e.At)+e.ModificationID))
}

// preceding returns the items of an observation that are written before that of its modification.
func preceding(e observation.Event) (items []dynamo.Item) {
	add := func(kind observation.Kind, id string) {
		if id != "" && len(id) <= transaction.MaxIDBytes {
			items = append(items, requestItem(e, kind, id))
		}
	}
	add(observation.Payment, e.PaymentID)
	add(observation.Request, e.RequestID)
	if e.IsStored() {
		return items
	}
	add(observation.Transaction, e.TransactionID)
	if e.ModificationID != "" {
		failed := itemKey(e.Tenant+"#failed#"+dayOf(e), observation.PlaceOf(e.At)+"#"+e.ModificationID)
		failed["expires"] = dynamo.Number(expiryOf(e).Unix())
		items = append(items, failed)
	}
	return items
}

// requestItem returns the item of a request by one of its identifiers.
func requestItem(e observation.Event, kind observation.Kind, id string) dynamo.Item {
	item := itemKey(requestKey(e.Tenant, kind, id),
		fmt.Sprintf("%s#%03d#%s", observation.PlaceOf(e.At), e.Status, e.TransactionID))
	attributes := map[string]string{"m": e.ModificationID, "p": e.PaymentID}
	switch kind {
	case observation.Modification:
		attributes["m"], attributes["r"] = "", e.Reason
	case observation.Payment:
		attributes["p"] = ""
	}
	for name, value := range attributes {
		if value != "" {
			item[name] = dynamo.String(value)
		}
	}
	if expires := expiryOf(e); !expires.IsZero() {
		item["expires"] = dynamo.Number(expires.Unix())
	}
	return item
}

// expiryOf returns when the items of a request expire; zero for never.
func expiryOf(e observation.Event) time.Time {
	if e.IsStored() {
		return e.Expires
	}
	return e.At.Add(observation.Life + 2*24*time.Hour)
}

func dayOf(e observation.Event) string { return e.At.UTC().Format(time.DateOnly) }

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

// requestKey returns the key of requests by an identifier. UUIDs of requests are equal in any case of letters.
func requestKey(tenant string, kind observation.Kind, id string) string {
	if kind == observation.Request {
		id = strings.ToLower(id)
	}
	return tenant + "#" + string(kind) + "#" + id
}

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
