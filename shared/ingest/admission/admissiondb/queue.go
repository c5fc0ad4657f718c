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

// Queue is the admission.Queue on DynamoDB. The partition key of its table, stage, is a pool, the sort key is place:
// "<tenant>/<received at>/<batch>" is a ticket, "#gate" the gate of the pool, which sorts before all tickets.
type Queue struct{ table dynamo.Table }

var _ admission.Queue = (*Queue)(nil)

// New returns the queue on the given table.
func New(db *dynamodb.Client, table string) *Queue { return &Queue{dynamo.Table{DB: db, Name: table}} }

// receiptLayout has a constant length, so that texts sort as the times do.
const receiptLayout = "2006-01-02T15:04:05.000000000Z"

func placeText(p admission.Place) string {
	return p.Tenant + "/" + p.ReceivedAt.UTC().Format(receiptLayout) + "/" + string(p.Batch)
}

func key(pool admission.Pool, place string) dynamo.Item {
	return dynamo.Item{"stage": dynamo.String(string(pool)), "place": dynamo.String(place)}
}

// ticketRow is the item of a ticket.
type ticketRow struct {
	Pool       string `dynamodbav:"stage"`
	Place      string `dynamodbav:"place"`
	Tenant     string `dynamodbav:"tenant"`
	ReceivedAt string `dynamodbav:"received_at"`
	Batch      string `dynamodbav:"batch"`
	// Entered and Retry are the attempt. Attempt is its text, by which attempts are compared.
	Entered string `dynamodbav:"entered"`
	Retry   int    `dynamodbav:"retry"`
	Attempt string `dynamodbav:"attempt"`
	Round   int    `dynamodbav:"round"`
	Token   string `dynamodbav:"token"`
}

// Put stores a ticket, on the condition that no ticket of a later attempt exists.
func (q *Queue) Put(ctx context.Context, t admission.Ticket) error {
	item, err := marshalTicket(t)
	if err != nil {
		return err
	}
	put := q.table.Put(item, "attribute_not_exists(place) OR attempt <= :attempt", attempt(t))
	return q.table.Apply(ctx, "store the ticket of batch "+string(t.Batch), put.Or(admission.ErrSuperseded))
}

// Remove removes a ticket, on the condition that it is that of the attempt.
func (q *Queue) Remove(ctx context.Context, t admission.Ticket) error {
	remove := q.table.Delete(key(t.Pool, placeText(t.Place)), "attempt = :attempt", attempt(t))
	return q.table.Apply(ctx, "remove the ticket of batch "+string(t.Batch), remove.Or(nil))
}

func attempt(t admission.Ticket) dynamo.Item {
	return dynamo.Item{":attempt": dynamo.String(t.Attempt.String())}
}

// Withdraw removes whatever ticket is at a place.
func (q *Queue) Withdraw(ctx context.Context, pool admission.Pool, p admission.Place) error {
	return q.table.Apply(ctx, "withdraw the ticket of batch "+string(p.Batch),
		q.table.Delete(key(pool, placeText(p)), "", nil))
}

// After reads tickets. The places of a tenant begin with its ID and a slash; the character after the slash is 0.
func (q *Queue) After(ctx context.Context, pool admission.Pool, p admission.Place, atMost int) ([]admission.Ticket,
	error) {
	from := placeText(p)
	switch {
	case p.Tenant == "":
		from = gatePlace
	case p.Batch == "":
		from = p.Tenant + "0"
	}
	query := q.after(pool, from)
	query.Limit = aws.Int32(int32(atMost))
	var tickets []admission.Ticket
	for item, err := range q.table.Query(ctx, query) {
		if err != nil {
			return nil, fmt.Errorf("look for tickets of %s: %w", pool, err)
		}
		t, err := unmarshalTicket(item)
		if err != nil {
			return nil, err
		}
		if tickets = append(tickets, t); len(tickets) == atMost {
			break
		}
	}
	return tickets, nil
}

// after returns the query of the tickets after a place.
func (q *Queue) after(pool admission.Pool, place string) *dynamodb.QueryInput {
	return q.table.Select("stage = :stage AND place > :place",
		dynamo.Item{":stage": dynamo.String(string(pool)), ":place": dynamo.String(place)})
}

// Tickets reads the tickets at some places.
func (q *Queue) Tickets(ctx context.Context, pool admission.Pool, places []admission.Place) ([]admission.Ticket,
	error) {
	if len(places) == 0 {
		return nil, nil
	}
	keys := make([]dynamo.Item, len(places))
	for i, p := range places {
		keys[i] = key(pool, placeText(p))
	}
	items, err := q.table.GetAll(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read tickets of %s: %w", pool, err)
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

// Waiting reads the tickets of a pool, page by page, without their tokens.
func (q *Queue) Waiting(ctx context.Context, pool admission.Pool, atMost int) ([]admission.Place, error) {
	query := q.after(pool, gatePlace)
	query.ConsistentRead = nil
	query.ProjectionExpression = aws.String("tenant, received_at, #batch")
	query.ExpressionAttributeNames = dynamo.NamesIn(*query.ProjectionExpression)
	var places []admission.Place
	for item, err := range q.table.Query(ctx, query) {
		if err != nil {
			return nil, fmt.Errorf("list the tickets of %s: %w", pool, err)
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
		Pool: string(t.Pool), Place: placeText(t.Place),
		Tenant: t.Tenant, ReceivedAt: dynamo.FormatTime(t.ReceivedAt), Batch: string(t.Batch),
		Entered: dynamo.FormatTime(t.Attempt.Entered), Retry: t.Attempt.Retry, Attempt: t.Attempt.String(),
		Round: t.Round,
		Token: t.Token,
	})
}

func unmarshalTicket(item dynamo.Item) (admission.Ticket, error) {
	var row ticketRow
	if err := unmarshal(item, &row); err != nil {
		return admission.Ticket{}, err
	}
	t := admission.Ticket{Pool: admission.Pool(row.Pool), Token: row.Token, Round: row.Round}
	t.Attempt.Retry = row.Retry
	var errs [2]error
	t.Place, errs[0] = place(row.Tenant, row.ReceivedAt, row.Batch)
	t.Attempt.Entered, errs[1] = dynamo.ParseTime(row.Entered)
	return t, errors.Join(errs[:]...)
}
