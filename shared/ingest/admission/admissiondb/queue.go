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
type Queue struct{ table dynamo.Table }

var _ admission.Queue = (*Queue)(nil)

// New returns the queue on the given table.
func New(db *dynamodb.Client, table string) *Queue { return &Queue{dynamo.Table{DB: db, Name: table}} }

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
	put := q.table.Put(item, "attribute_not_exists(place) OR attempt <= :attempt", attempt(t))
	return q.table.Apply(ctx, "store the ticket of batch "+string(t.Batch), put.Or(admission.ErrSuperseded))
}

// Remove removes a ticket, on the condition that it is that of the attempt.
func (q *Queue) Remove(ctx context.Context, t admission.Ticket) error {
	remove := q.table.Delete(key(t.Stage, placeText(t.Place)), "attempt = :attempt", attempt(t))
	return q.table.Apply(ctx, "remove the ticket of batch "+string(t.Batch), remove.Or(nil))
}

func attempt(t admission.Ticket) dynamo.Item {
	return dynamo.Item{":attempt": dynamo.String(t.Attempt.String())}
}

// Withdraw removes whatever ticket is at a place.
func (q *Queue) Withdraw(ctx context.Context, s admission.Stage, p admission.Place) error {
	return q.table.Apply(ctx, "withdraw the ticket of batch "+string(p.Batch),
		q.table.Delete(key(s, placeText(p)), "", nil))
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
	query := q.after(s, place)
	query.Limit = aws.Int32(1)
	out, err := q.table.DB.Query(ctx, query)
	switch {
	case err != nil:
		return admission.Ticket{}, false, fmt.Errorf("look for tickets of %s: %w", s, err)
	case len(out.Items) == 0:
		return admission.Ticket{}, false, nil
	}
	t, err := unmarshalTicket(out.Items[0])
	return t, err == nil, err
}

// after returns the query of the tickets after a place.
func (q *Queue) after(s admission.Stage, place string) *dynamodb.QueryInput {
	return q.table.Select("stage = :stage AND place > :place",
		dynamo.Item{":stage": dynamo.String(string(s)), ":place": dynamo.String(place)})
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
	items, err := q.table.GetAll(ctx, keys)
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
	query := q.after(s, gatePlace)
	query.ConsistentRead = nil
	query.ProjectionExpression = aws.String("tenant, received_at, #batch")
	query.ExpressionAttributeNames = dynamo.NamesIn(*query.ProjectionExpression)
	var places []admission.Place
	for item, err := range q.table.Query(ctx, query) {
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
