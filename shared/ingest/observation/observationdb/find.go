package observationdb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/ingest/observation"
	"sluice/shared/kit/dynamo"
)

// Events returns the outcomes of the requests with a modification ID since a time, oldest first, from a position on,
// and the position after them; "" for the beginning and for the end.
func (s *Store) Events(ctx context.Context, tenant, modification string, since time.Time, after string, limit int) (
	events []observation.Event, next string, err error) {
	query := s.rangeOf(tenant, observation.Modification, modification, "part >= :from", observation.PlaceOf(since),
		limit)
	if after != "" {
		query.ExclusiveStartKey = itemKey(requestKey(tenant, observation.Modification, modification), after)
	}
	out, err := s.db.Query(ctx, query)
	if err != nil {
		return nil, "", fmt.Errorf("read observations: %w", err)
	}
	for _, item := range out.Items {
		e, err := unmarshalEvent(item, tenant, observation.Modification, modification)
		if err != nil {
			return nil, "", err
		}
		events = append(events, e)
	}
	if out.LastEvaluatedKey != nil {
		next = dynamo.StringAttribute(out.LastEvaluatedKey, "part")
	}
	return events, next, nil
}

// Find returns the outcomes of the requests with an identifier that are before a place ("" for all of them), newest
// first, and whether there may be more. By a transaction ID only requests that were refused are found. What has expired
// at the time now is left out, so that there may be fewer than the limit although there are more, but not none.
func (s *Store) Find(ctx context.Context, tenant string, kind observation.Kind, id, before string, limit int,
	now time.Time) (found []observation.Found, isMore bool, err error) {
	if before == "" {
		before = ":" // is after every digit
	}
	query := s.rangeOf(tenant, kind, id, "part < :from", before, limit)
	query.ScanIndexForward = aws.Bool(false)
	for {
		out, err := s.db.Query(ctx, query)
		if err != nil {
			return nil, false, fmt.Errorf("find observations: %w", err)
		}
		for _, item := range out.Items {
			if expires := dynamo.NumberAttribute(item, "expires"); expires != 0 && expires <= now.Unix() {
				continue
			}
			e, err := unmarshalEvent(item, tenant, kind, id)
			if err != nil {
				return nil, false, err
			}
			found = append(found, observation.Found{Event: e, Place: dynamo.StringAttribute(item, "part")})
		}
		if query.ExclusiveStartKey = out.LastEvaluatedKey; query.ExclusiveStartKey == nil || len(found) > 0 {
			return found, query.ExclusiveStartKey != nil, nil
		}
	}
}

// rangeOf returns the query for the items of the requests with an identifier whose part fulfils a condition.
func (s *Store) rangeOf(tenant string, kind observation.Kind, id, condition, from string, limit int,
) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName: &s.table, KeyConditionExpression: aws.String("id = :id AND " + condition),
		ExpressionAttributeValues: dynamo.Item{":id": dynamo.String(requestKey(tenant, kind, id)),
			":from": dynamo.String(from)},
		Limit: aws.Int32(int32(limit)), ConsistentRead: aws.Bool(true),
	}
}

var errMalformed = errors.New("read observations: malformed item")

// unmarshalEvent returns the outcome that an item stores under an identifier.
func unmarshalEvent(item dynamo.Item, tenant string, kind observation.Kind, id string) (observation.Event, error) {
	e := observation.Event{Tenant: tenant, ModificationID: dynamo.StringAttribute(item, "m"),
		PaymentID: dynamo.StringAttribute(item, "p"), Reason: dynamo.StringAttribute(item, "r")}
	parts := strings.SplitN(dynamo.StringAttribute(item, "part"), "#", 3)
	if len(parts) != 3 {
		return e, errMalformed
	}
	at, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return e, errMalformed
	}
	if e.Status, err = strconv.Atoi(parts[1]); err != nil {
		return e, errMalformed
	}
	e.At, e.TransactionID = time.Unix(0, at).UTC(), parts[2]
	switch kind {
	case observation.Modification:
		e.ModificationID = id
	case observation.Payment:
		e.PaymentID = id
	case observation.Request:
		e.RequestID = id
	}
	if expires := dynamo.NumberAttribute(item, "expires"); expires != 0 && e.IsStored() {
		e.Expires = time.Unix(expires, 0).UTC()
	}
	return e, nil
}
