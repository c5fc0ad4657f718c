// Package admissiondb is the admission.Queue on DynamoDB.
package admissiondb

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/dynamo"
)

// Queue is the admission.Queue on DynamoDB. The partition key of its table is stage, the sort key is place:
// "<tenant>/<received at>/<batch>" is a ticket, "#gate" the gate of the stage, which sorts before all tickets.
type Queue struct {
	db    *dynamodb.Client
	table string
}

var _ admission.Queue = (*Queue)(nil)

// New returns the queue on the given table.
func New(db *dynamodb.Client, table string) *Queue { return &Queue{db: db, table: table} }

// receiptLayout has a constant length, so that texts sort as the times do.
const receiptLayout = "2006-01-02T15:04:05.000000000Z"

func placeText(p admission.Place) string {
	return p.Tenant + "/" + p.ReceivedAt.UTC().Format(receiptLayout) + "/" + string(p.Batch)
}

func key(s admission.Stage, place string) dynamo.Item {
	return dynamo.Item{"stage": dynamo.String(string(s)), "place": dynamo.String(place)}
}

// ticketRow is the item of a ticket.
type ticketRow struct {
	Stage      string `dynamodbav:"stage"`
	Place      string `dynamodbav:"place"`
	Tenant     string `dynamodbav:"tenant"`
	ReceivedAt string `dynamodbav:"received_at"`
	Batch      string `dynamodbav:"batch"`
	// Entered and Retry are the attempt. Attempt is its text, by which attempts are compared.
	Entered string `dynamodbav:"entered"`
	Retry   int    `dynamodbav:"retry"`
	Attempt string `dynamodbav:"attempt"`
	Token   string `dynamodbav:"token"`
}

// Put stores a ticket, on the condition that no ticket of a later attempt exists.
func (q *Queue) Put(ctx context.Context, t admission.Ticket) error {
	item, err := marshalTicket(t)
	if err != nil {
		return err
	}
	_, err = q.db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &q.table, Item: item,
		ConditionExpression:       aws.String("attribute_not_exists(place) OR attempt <= :attempt"),
		ExpressionAttributeValues: dynamo.Item{":attempt": dynamo.String(t.Attempt.String())},
	})
	if _, failed := dynamo.ConditionFailed(err); failed {
		return admission.ErrSuperseded
	}
	if err != nil {
		return fmt.Errorf("store the ticket of batch %s: %w", t.Batch, err)
	}
	return nil
}

// Remove removes a ticket, on the condition that it is that of the attempt.
func (q *Queue) Remove(ctx context.Context, t admission.Ticket) error {
	_, err := q.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &q.table, Key: key(t.Stage, placeText(t.Place)),
		ConditionExpression:       aws.String("attempt = :attempt"),
		ExpressionAttributeValues: dynamo.Item{":attempt": dynamo.String(t.Attempt.String())},
	})
	if _, failed := dynamo.ConditionFailed(err); err != nil && !failed {
		return fmt.Errorf("remove the ticket of batch %s: %w", t.Batch, err)
	}
	return nil
}

// Withdraw removes whatever ticket is at a place.
func (q *Queue) Withdraw(ctx context.Context, s admission.Stage, p admission.Place) error {
	_, err := q.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &q.table, Key: key(s, placeText(p))})
	if err != nil {
		return fmt.Errorf("withdraw the ticket of batch %s: %w", p.Batch, err)
	}
	return nil
}

// FirstAfterTenant reads one ticket. The places of a tenant begin with its ID and a slash; the character after the
// slash is 0.
func (q *Queue) FirstAfterTenant(ctx context.Context, s admission.Stage, tenant string) (admission.Ticket, bool,
	error) {
	if tenant == "" {
		return q.firstAfter(ctx, s, gatePlace)
	}
	return q.firstAfter(ctx, s, tenant+"0")
}

// FirstAfter reads one ticket.
func (q *Queue) FirstAfter(ctx context.Context, s admission.Stage, p admission.Place) (admission.Ticket, bool, error) {
	return q.firstAfter(ctx, s, placeText(p))
}

func (q *Queue) firstAfter(ctx context.Context, s admission.Stage, place string) (admission.Ticket, bool, error) {
	out, err := q.db.Query(ctx, &dynamodb.QueryInput{
		TableName: &q.table, KeyConditionExpression: aws.String("stage = :stage AND place > :place"),
		ExpressionAttributeValues: dynamo.Item{":stage": dynamo.String(string(s)), ":place": dynamo.String(place)},
		ConsistentRead:            aws.Bool(true), Limit: aws.Int32(1),
	})
	switch {
	case err != nil:
		return admission.Ticket{}, false, fmt.Errorf("look for tickets of %s: %w", s, err)
	case len(out.Items) == 0:
		return admission.Ticket{}, false, nil
	}
	t, err := unmarshalTicket(out.Items[0])
	return t, err == nil, err
}

// Tickets reads the tickets at some places.
func (q *Queue) Tickets(ctx context.Context, s admission.Stage, places []admission.Place) ([]admission.Ticket, error) {
	if len(places) == 0 {
		return nil, nil
	}
	keys := make([]dynamo.Item, len(places))
	for i, p := range places {
		keys[i] = key(s, placeText(p))
	}
	items, err := dynamo.GetAll(ctx, q.db, q.table, keys)
	if err != nil {
		return nil, fmt.Errorf("read tickets of %s: %w", s, err)
	}
	var tickets []admission.Ticket
	for _, item := range items {
		t, err := unmarshalTicket(item)
		if err != nil {
			return nil, err
		}
		tickets = append(tickets, t)
	}
	return tickets, nil
}

// Waiting reads the tickets of a stage, page by page, without their tokens.
func (q *Queue) Waiting(ctx context.Context, s admission.Stage, atMost int) ([]admission.Place, error) {
	query := &dynamodb.QueryInput{
		TableName: &q.table, KeyConditionExpression: aws.String("stage = :stage AND place > :place"),
		ExpressionAttributeValues: dynamo.Item{
			":stage": dynamo.String(string(s)), ":place": dynamo.String(gatePlace),
		},
		ProjectionExpression:     aws.String("tenant, received_at, #batch"),
		ExpressionAttributeNames: map[string]string{"#batch": "batch"},
	}
	var places []admission.Place
	for item, err := range dynamo.Query(ctx, q.db, query) {
		if err != nil {
			return nil, fmt.Errorf("list the tickets of %s: %w", s, err)
		}
		p, err := place(dynamo.StringAttribute(item, "tenant"), dynamo.StringAttribute(item, "received_at"),
			dynamo.StringAttribute(item, "batch"))
		if err != nil {
			return nil, err
		}
		if places = append(places, p); len(places) == atMost {
			break
		}
	}
	return places, nil
}

// place returns a place from its stored attributes.
func place(tenant, receivedAt, id string) (admission.Place, error) {
	at, err := dynamo.ParseTime(receivedAt)
	return admission.Place{Tenant: tenant, ReceivedAt: at, Batch: batch.ID(id)}, err
}

func marshalTicket(t admission.Ticket) (dynamo.Item, error) {
	return attributevalue.MarshalMap(ticketRow{
		Stage: string(t.Stage), Place: placeText(t.Place),
		Tenant: t.Tenant, ReceivedAt: dynamo.FormatTime(t.ReceivedAt), Batch: string(t.Batch),
		Entered: dynamo.FormatTime(t.Attempt.Entered), Retry: t.Attempt.Retry, Attempt: t.Attempt.String(),
		Token: t.Token,
	})
}

func unmarshalTicket(item dynamo.Item) (admission.Ticket, error) {
	var row ticketRow
	if err := unmarshal(item, &row); err != nil {
		return admission.Ticket{}, err
	}
	t := admission.Ticket{Stage: admission.Stage(row.Stage), Token: row.Token}
	t.Attempt.Retry = row.Retry
	var errs [2]error
	t.Place, errs[0] = place(row.Tenant, row.ReceivedAt, row.Batch)
	t.Attempt.Entered, errs[1] = dynamo.ParseTime(row.Entered)
	return t, errors.Join(errs[:]...)
}
