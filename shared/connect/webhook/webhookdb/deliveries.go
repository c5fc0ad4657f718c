package webhookdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/connect/event"
	"sluice/shared/connect/webhook"
	"sluice/shared/kit/dynamo"
)

// deliveryRow is a delivery as it is stored. outcome is absent while it is pending.
type deliveryRow struct {
	Owner         string       `dynamodbav:"owner"`
	Part          string       `dynamodbav:"part"`
	Type          string       `dynamodbav:"type"`
	Messages      []messageRow `dynamodbav:"messages"`
	Bytes         int          `dynamodbav:"bytes"`
	Open          bool         `dynamodbav:"open"`
	CreatedAt     string       `dynamodbav:"created_at"`
	Run           int          `dynamodbav:"run"`
	RunAt         string       `dynamodbav:"run_at"`
	Outcome       string       `dynamodbav:"outcome,omitempty"`
	Code          string       `dynamodbav:"code,omitempty"`
	EndedAt       string       `dynamodbav:"ended_at,omitempty"`
	NextAttemptAt string       `dynamodbav:"next_attempt_at,omitempty"`
	Attempts      []attemptRow `dynamodbav:"attempts"`
	AttemptCount  int          `dynamodbav:"attempt_count"`
	ClaimedBy     string       `dynamodbav:"claimed_by,omitempty"`
	// ClaimedUntil is in milliseconds since 1970.
	ClaimedUntil int64 `dynamodbav:"claimed_until,omitempty"`
	// Expires is when DynamoDB deletes the row, in seconds since 1970.
	Expires int64 `dynamodbav:"expires"`
}

type messageRow struct {
	ID   string `dynamodbav:"id"`
	Type string `dynamodbav:"type"`
	Text []byte `dynamodbav:"text"`
}

type attemptRow struct {
	Number       int    `dynamodbav:"number"`
	At           string `dynamodbav:"at"`
	Milliseconds int64  `dynamodbav:"ms"`
	Outcome      string `dynamodbav:"outcome"`
	Code         string `dynamodbav:"code,omitempty"`
	Message      string `dynamodbav:"message,omitempty"`
	Status       int    `dynamodbav:"status,omitempty"`
	Answer       string `dynamodbav:"answer,omitempty"`
}

func deliveryOwner(tenant, webhookID string) string { return tenant + "#" + webhookID }

func deliveryKey(tenant, webhookID, id string) dynamo.Item {
	return dynamo.Key(deliveryOwner(tenant, webhookID), id)
}

func newDeliveryRow(d webhook.Delivery) deliveryRow {
	row := deliveryRow{
		Owner: deliveryOwner(d.Tenant, d.WebhookID), Part: d.ID, Type: string(d.Type), Open: d.IsOpen,
		CreatedAt: dynamo.FormatTime(d.CreatedAt), Run: d.Run, RunAt: dynamo.FormatTime(d.RunAt),
		Outcome: string(d.Outcome), Code: d.Code, EndedAt: dynamo.FormatTime(d.EndedAt),
		NextAttemptAt: dynamo.FormatTime(d.NextAttemptAt), AttemptCount: d.AttemptCount,
		Attempts: []attemptRow{}, Expires: d.RunAt.Add(webhook.Retention).Unix(),
	}
	for _, m := range d.Messages {
		row.Messages = append(row.Messages, messageRow{m.ID, string(m.Type), m.Text})
		row.Bytes += len(m.Text)
	}
	for _, a := range d.Attempts {
		row.Attempts = append(row.Attempts, attemptRow{
			a.Number, dynamo.FormatTime(a.At), a.Took.Milliseconds(), string(a.Outcome), a.Code, a.Message, a.Status,
			a.Answer,
		})
	}
	return row
}

func readDelivery(item dynamo.Item) (webhook.Delivery, error) {
	var row deliveryRow
	if err := attributevalue.UnmarshalMap(item, &row); err != nil {
		return webhook.Delivery{}, fmt.Errorf("read delivery: %w", err)
	}
	tenant, webhookID, _ := strings.Cut(row.Owner, "#")
	d := webhook.Delivery{
		ID: row.Part, Tenant: tenant, WebhookID: webhookID, Type: webhook.Type(row.Type), IsOpen: row.Open,
		Run:     row.Run,
		Outcome: webhook.Outcome(row.Outcome), Code: row.Code, AttemptCount: row.AttemptCount,
		Messages: make([]webhook.Message, len(row.Messages)), Attempts: make([]webhook.Attempt, len(row.Attempts)),
		ClaimedBy: row.ClaimedBy,
	}
	if row.ClaimedUntil != 0 {
		d.ClaimedUntil = time.UnixMilli(row.ClaimedUntil).UTC()
	}
	times := map[*time.Time]string{
		&d.CreatedAt: row.CreatedAt, &d.RunAt: row.RunAt, &d.EndedAt: row.EndedAt, &d.NextAttemptAt: row.NextAttemptAt,
	}
	for i, m := range row.Messages {
		d.Messages[i] = webhook.Message{ID: m.ID, Type: event.Type(m.Type), Text: m.Text}
	}
	for i, a := range row.Attempts {
		d.Attempts[i] = webhook.Attempt{
			Number: a.Number, Took: time.Duration(a.Milliseconds) * time.Millisecond,
			Outcome: webhook.Outcome(a.Outcome),
			Code:    a.Code, Message: a.Message, Status: a.Status, Answer: a.Answer,
		}
		times[&d.Attempts[i].At] = a.At
	}
	return d, parseTimes(times)
}

// CreateDelivery implements webhook.Store.
func (s *Store) CreateDelivery(ctx context.Context, d webhook.Delivery) (webhook.Delivery, error) {
	item, err := attributevalue.MarshalMap(newDeliveryRow(d))
	if err != nil {
		return webhook.Delivery{}, fmt.Errorf("create delivery: %w", err)
	}
	current, err := s.table.Exchange(ctx, "create delivery", s.table.Put(item, dynamo.Absent, nil))
	if errors.Is(err, dynamo.ErrRefused) {
		return readDelivery(current)
	}
	return d, err
}

// GetDelivery implements webhook.Store.
func (s *Store) GetDelivery(ctx context.Context, tenant, webhookID, id string) (webhook.Delivery, error) {
	item, err := s.table.Get(ctx, deliveryKey(tenant, webhookID, id))
	if err != nil {
		return webhook.Delivery{}, fmt.Errorf("get delivery: %w", err)
	}
	if item == nil {
		return webhook.Delivery{}, webhook.ErrNotFound
	}
	return readDelivery(item)
}

// ListDeliveries implements webhook.Store.
func (s *Store) ListDeliveries(ctx context.Context, tenant, webhookID, after string, limit int) (
	[]webhook.Delivery, string, error) {
	query := s.table.Select("#owner = :owner",
		dynamo.Item{":owner": dynamo.String(deliveryOwner(tenant, webhookID))})
	query.Limit, query.ScanIndexForward = aws.Int32(int32(limit)), aws.Bool(false)
	if after != "" {
		query.ExclusiveStartKey = deliveryKey(tenant, webhookID, after)
	}
	return s.queryDeliveries(ctx, query)
}

// ListDeliveriesSince implements webhook.Store.
func (s *Store) ListDeliveriesSince(ctx context.Context, tenant, webhookID, from string, limit int) (
	[]webhook.Delivery, string, error) {
	query := s.table.Select("#owner = :owner AND part >= :from", dynamo.Item{
		":owner": dynamo.String(deliveryOwner(tenant, webhookID)), ":from": dynamo.String(from),
	})
	query.Limit = aws.Int32(int32(limit))
	page, next, err := s.queryDeliveries(ctx, query)
	if next != "" {
		next += " " // directly after the last ID of the page
	}
	return page, next, err
}

func (s *Store) queryDeliveries(ctx context.Context, query *dynamodb.QueryInput) ([]webhook.Delivery, string, error) {
	out, err := s.table.DB.Query(ctx, query)
	if err != nil {
		return nil, "", fmt.Errorf("list deliveries: %w", err)
	}
	page := make([]webhook.Delivery, len(out.Items))
	for i, item := range out.Items {
		if page[i], err = readDelivery(item); err != nil {
			return nil, "", err
		}
	}
	return page, dynamo.StringAttribute(out.LastEvaluatedKey, "part"), nil
}

// SaveAttempt implements webhook.Store. The attempts are written whole: only the last ones are kept.
func (s *Store) SaveAttempt(ctx context.Context, d webhook.Delivery) error {
	item, err := attributevalue.MarshalMap(newDeliveryRow(d))
	if err != nil {
		return fmt.Errorf("save attempt: %w", err)
	}
	values := dynamo.Item{":run": item["run"], ":before": dynamo.Number(int64(d.CountBefore()))}
	update := setOrRemove(item, values, []string{"claimed_by", "claimed_until"}, "attempts", "attempt_count", "outcome",
		"code", "ended_at", "next_attempt_at")
	return s.updateRun(ctx, d, update, "#run = :run AND attribute_not_exists(outcome) AND attempt_count = :before",
		values)
}

// EndDelivery implements webhook.Store.
func (s *Store) EndDelivery(ctx context.Context, d webhook.Delivery) error {
	return s.updateRun(ctx, d,
		"SET outcome = :outcome, code = :code, ended_at = :at, #open = :false REMOVE next_attempt_at",
		"#run = :run AND attribute_not_exists(outcome)",
		dynamo.Item{
			":outcome": dynamo.String(string(d.Outcome)), ":code": dynamo.String(d.Code),
			":at": dynamo.String(dynamo.FormatTime(d.EndedAt)), ":run": dynamo.Number(int64(d.Run)),
			":false": dynamo.Bool(false),
		})
}

// updateRun updates a delivery under a condition on its run; it returns webhook.ErrChanged if the condition fails.
func (s *Store) updateRun(ctx context.Context, d webhook.Delivery, update, condition string, values dynamo.Item) error {
	return s.table.Apply(ctx, "update delivery",
		s.table.Update(deliveryKey(d.Tenant, d.WebhookID, d.ID), update, condition, values).Or(webhook.ErrChanged))
}

// updateOrRead updates a delivery under a condition, and returns the delivery as it is then; it returns
// webhook.ErrNotFound if there is none.
func (s *Store) updateOrRead(ctx context.Context, doing, tenant, webhookID, id, update, condition string,
	values dynamo.Item) (webhook.Delivery, error) {
	current, err := s.table.Exchange(ctx, doing,
		s.table.Update(deliveryKey(tenant, webhookID, id), update, condition, values))
	switch {
	case err != nil && !errors.Is(err, dynamo.ErrRefused):
		return webhook.Delivery{}, err
	case current == nil:
		return webhook.Delivery{}, webhook.ErrNotFound
	}
	return readDelivery(current)
}

// BeginRun implements webhook.Store.
func (s *Store) BeginRun(ctx context.Context, tenant, webhookID, id string, run int, at time.Time) (webhook.Delivery,
	error) {
	return s.updateOrRead(ctx, "begin run of delivery", tenant, webhookID, id,
		"SET #run = :run, run_at = :at, #open = :false, expires = :expires "+
			"REMOVE outcome, code, ended_at, next_attempt_at, claimed_by, claimed_until", "#run < :run",
		dynamo.Item{
			":run": dynamo.Number(int64(run)), ":at": dynamo.String(dynamo.FormatTime(at)),
			":false": dynamo.Bool(false), ":expires": dynamo.Number(at.Add(webhook.Retention).Unix()),
		})
}
