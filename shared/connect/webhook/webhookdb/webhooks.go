// Package webhookdb keeps webhooks and their deliveries in DynamoDB.
package webhookdb

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/connect/webhook"
	"sluice/shared/kit/dynamo"
)

// Store is the webhook.Store. Its table has the keys owner and part, with the rows
//
//	<tenant>                     webhook#<webhook>  a webhook
//	<tenant>                     count              how many webhooks the tenant has
//	<tenant>#<webhook>           <delivery>         a delivery
//	<tenant>#<webhook>#events    <event>            the delivery of the type Batch that has collected an event
//	paging                       key                the key that seals page tokens
//
// Rows of deliveries expire. IDs of webhooks and deliveries are UUIDv7, so that both are in the order of time.
type Store struct {
	db    *dynamodb.Client
	table string
}

var _ webhook.Store = (*Store)(nil)

// New returns the store on the given table.
func New(db *dynamodb.Client, table string) *Store { return &Store{db, table} }

const webhookPrefix = "webhook#"

func webhookKey(tenant, id string) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String(tenant), "part": dynamo.String(webhookPrefix + id)}
}

func countKey(tenant string) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String(tenant), "part": dynamo.String("count")}
}

// webhookRow is a webhook as it is stored. Times are as in dynamo.FormatTime.
type webhookRow struct {
	Owner          string   `dynamodbav:"owner"`
	Part           string   `dynamodbav:"part"`
	Name           string   `dynamodbav:"name"`
	URL            string   `dynamodbav:"url"`
	Enabled        bool     `dynamodbav:"enabled"`
	EventTypes     []string `dynamodbav:"event_types"`
	EmailAddresses []string `dynamodbav:"email_addresses"`
	Type           string   `dynamodbav:"type"`
	BatchSize      int      `dynamodbav:"batch_size"`
	Secret         []byte   `dynamodbav:"secret"`
	PreviousSecret []byte   `dynamodbav:"previous_secret,omitempty"`
	PreviousUntil  string   `dynamodbav:"previous_until,omitempty"`
	CreatedAt      string   `dynamodbav:"created_at"`
	UpdatedAt      string   `dynamodbav:"updated_at"`
	Version        int64    `dynamodbav:"version"`
	FailingSince   string   `dynamodbav:"failing_since,omitempty"`
	GivenUpSince   string   `dynamodbav:"given_up_since,omitempty"`
	RecoveredAt    string   `dynamodbav:"recovered_at,omitempty"`
	DisabledAt     string   `dynamodbav:"disabled_at,omitempty"`
	DisabledReason string   `dynamodbav:"disabled_reason,omitempty"`
	OpenDelivery   string   `dynamodbav:"open_delivery,omitempty"`
}

func newWebhookRow(w webhook.Webhook) webhookRow {
	return webhookRow{
		Owner: w.Tenant, Part: webhookPrefix + w.ID, Name: w.Name, URL: w.URL, Enabled: w.Enabled,
		EventTypes: w.EventTypes, EmailAddresses: w.EmailAddresses, Type: string(w.Type), BatchSize: w.BatchSize,
		Secret: w.Secret, PreviousSecret: w.PreviousSecret, PreviousUntil: dynamo.FormatTime(w.PreviousUntil),
		CreatedAt: dynamo.FormatTime(w.CreatedAt), UpdatedAt: dynamo.FormatTime(w.UpdatedAt), Version: w.Version,
		FailingSince: dynamo.FormatTime(w.Health.FailingSince), GivenUpSince: dynamo.FormatTime(w.Health.GivenUpSince),
		RecoveredAt: dynamo.FormatTime(w.Health.RecoveredAt),
		DisabledAt:  dynamo.FormatTime(w.Health.DisabledAt), DisabledReason: w.Health.DisabledReason,
		OpenDelivery: w.OpenDelivery,
	}
}

// readWebhook is the inverse of newWebhookRow, for an item.
func readWebhook(item dynamo.Item) (webhook.Webhook, error) {
	var row webhookRow
	if err := attributevalue.UnmarshalMap(item, &row); err != nil {
		return webhook.Webhook{}, fmt.Errorf("read webhook: %w", err)
	}
	w := webhook.Webhook{
		ID: strings.TrimPrefix(row.Part, webhookPrefix), Tenant: row.Owner, Name: row.Name, URL: row.URL,
		Enabled: row.Enabled, EventTypes: row.EventTypes, EmailAddresses: row.EmailAddresses,
		Type: webhook.Type(row.Type), BatchSize: row.BatchSize, Secret: row.Secret, PreviousSecret: row.PreviousSecret,
		Version: row.Version, OpenDelivery: row.OpenDelivery,
		Health: webhook.Health{DisabledReason: row.DisabledReason},
	}
	err := parseTimes(map[*time.Time]string{
		&w.PreviousUntil: row.PreviousUntil, &w.CreatedAt: row.CreatedAt, &w.UpdatedAt: row.UpdatedAt,
		&w.Health.FailingSince: row.FailingSince, &w.Health.GivenUpSince: row.GivenUpSince,
		&w.Health.RecoveredAt: row.RecoveredAt, &w.Health.DisabledAt: row.DisabledAt,
	})
	return w, err
}

func parseTimes(texts map[*time.Time]string) error {
	for into, text := range texts {
		t, err := dynamo.ParseTime(text)
		if err != nil {
			return fmt.Errorf("read time: %w", err)
		}
		*into = t
	}
	return nil
}

// Create implements webhook.Store by one transaction, which also counts.
func (s *Store) Create(ctx context.Context, w webhook.Webhook) error {
	w.Version = 1
	item, err := attributevalue.MarshalMap(newWebhookRow(w))
	if err != nil {
		return fmt.Errorf("create webhook: %w", err)
	}
	failed, err := dynamo.Transact(ctx, s.db, []types.TransactWriteItem{
		{Put: &types.Put{
			TableName: &s.table, Item: item, ConditionExpression: aws.String("attribute_not_exists(part)"),
		}},
		{Update: &types.Update{
			TableName: &s.table, Key: countKey(w.Tenant), UpdateExpression: aws.String("ADD #n :one"),
			ConditionExpression:      aws.String("attribute_not_exists(#n) OR #n < :most"),
			ExpressionAttributeNames: map[string]string{"#n": "webhooks"},
			ExpressionAttributeValues: dynamo.Item{
				":one": dynamo.Number(1), ":most": dynamo.Number(webhook.MaxPerTenant),
			},
		}},
	})
	switch {
	case failed[0]:
		return nil // an earlier call has stored it: nobody else makes this ID
	case failed[1]:
		return webhook.ErrTooMany
	case err != nil:
		return fmt.Errorf("create webhook: %w", err)
	}
	return nil
}

// Get implements webhook.Store.
func (s *Store) Get(ctx context.Context, tenant, id string) (webhook.Webhook, error) {
	item, err := dynamo.Get(ctx, s.db, s.table, webhookKey(tenant, id))
	if err != nil {
		return webhook.Webhook{}, fmt.Errorf("get webhook: %w", err)
	}
	if item == nil {
		return webhook.Webhook{}, webhook.ErrNotFound
	}
	return readWebhook(item)
}

// List implements webhook.Store.
func (s *Store) List(ctx context.Context, tenant string) ([]webhook.Webhook, error) {
	out, err := s.db.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:   aws.String("#owner = :owner AND begins_with(part, :prefix)"),
		ExpressionAttributeNames: map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: dynamo.Item{
			":owner": dynamo.String(tenant), ":prefix": dynamo.String(webhookPrefix),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	list := make([]webhook.Webhook, len(out.Items)) // of at most MaxPerTenant: one page holds far more
	for i, item := range out.Items {
		if list[i], err = readWebhook(item); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// healthAttributes are the attributes of a webhook's health.
const healthAttributes = "failing_since, given_up_since, recovered_at, disabled_at, disabled_reason"

// Save implements webhook.Store. It writes the attributes that the tenant sets and leaves the others, which deliveries
// change at the same time.
func (s *Store) Save(ctx context.Context, w webhook.Webhook, resetHealth bool) (webhook.Webhook, error) {
	previous := w.Version
	w.Version++
	item, err := attributevalue.MarshalMap(newWebhookRow(w))
	if err != nil {
		return webhook.Webhook{}, fmt.Errorf("save webhook: %w", err)
	}
	names, values := map[string]string{}, dynamo.Item{":version": dynamo.Number(previous)}
	var sets, removes []string
	for i, name := range []string{"name", "url", "enabled", "event_types", "email_addresses", "type", "batch_size",
		"secret",
		"previous_secret", "previous_until", "updated_at", "version"} {
		placeholder := fmt.Sprintf("a%d", i)
		names["#"+placeholder] = name
		if value, ok := item[name]; ok {
			sets = append(sets, "#"+placeholder+" = :"+placeholder)
			values[":"+placeholder] = value
		} else {
			removes = append(removes, "#"+placeholder)
		}
	}
	if resetHealth {
		removes = append(removes, healthAttributes)
		w.Health = webhook.Health{}
	}
	expression := "SET " + strings.Join(sets, ", ")
	if len(removes) > 0 {
		expression += " REMOVE " + strings.Join(removes, ", ")
	}
	current, failed, err := s.updateWebhook(ctx, w.Tenant, w.ID, expression, "version = :version", names, values)
	switch {
	case failed && current == nil:
		return webhook.Webhook{}, webhook.ErrNotFound
	case failed:
		return webhook.Webhook{}, webhook.ErrChanged
	case err != nil:
		return webhook.Webhook{}, fmt.Errorf("save webhook: %w", err)
	}
	return readWebhook(current)
}

// updateWebhook updates the row of a webhook under a condition. It returns the item after the update or, if the
// condition failed, the existing one, nil if it does not exist.
func (s *Store) updateWebhook(ctx context.Context, tenant, id, expression, condition string, names map[string]string,
	values dynamo.Item) (current dynamo.Item, failed bool, err error) {
	if len(names) == 0 {
		names = nil
	}
	err = dynamo.RetryConflicts(ctx, func() error {
		out, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.table, Key: webhookKey(tenant, id), UpdateExpression: &expression,
			ConditionExpression: &condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			ReturnValues:                        types.ReturnValueAllNew,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		if err == nil {
			current = out.Attributes
		}
		return err
	})
	if met, failed := dynamo.ConditionFailed(err); failed {
		return met, true, err
	}
	return current, false, err
}

// Delete implements webhook.Store.
func (s *Store) Delete(ctx context.Context, tenant, id string) error {
	failed, err := dynamo.Transact(ctx, s.db, []types.TransactWriteItem{
		{Delete: &types.Delete{
			TableName: &s.table, Key: webhookKey(tenant, id), ConditionExpression: aws.String("attribute_exists(part)"),
		}},
		{Update: &types.Update{
			TableName: &s.table, Key: countKey(tenant), UpdateExpression: aws.String("ADD #n :minus"),
			ExpressionAttributeNames:  map[string]string{"#n": "webhooks"},
			ExpressionAttributeValues: dynamo.Item{":minus": dynamo.Number(-1)},
		}},
	})
	switch {
	case failed[0]:
		return webhook.ErrNotFound
	case err != nil:
		return fmt.Errorf("delete webhook: %w", err)
	}
	return nil
}

// PagingKey returns the key that seals page tokens, storing the candidate if no key is stored yet.
func (s *Store) PagingKey(ctx context.Context, candidate []byte) ([]byte, error) {
	return dynamo.LoadPagingKey(ctx, s.db, s.table, candidate)
}
