// Package webhookdb keeps webhooks and their deliveries in DynamoDB.
package webhookdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/connect/webhook"
	"sluice/shared/kit/dynamo"
)

// Store is the webhook.Store. Its table has the keys owner and part, with the rows
//
//	<tenant>                     webhook#<webhook>  a webhook
//	<tenant>                     count              how many webhooks the tenant has
//	<tenant>#<webhook>           <delivery>         a delivery
//	<tenant>#<webhook>#events    <event>            the delivery of the type Batch that has collected an event
//	calls#<group>                place#<number>     a carrier of a group of tenants
//	calls#<group>                offer#<tenant>#<webhook>#<slot>
//	                                                a delivery that waits for a carrier
//	paging                       key                the key that seals page tokens
//
// Rows of deliveries and offers expire. IDs of webhooks and deliveries are UUIDv7, so that both are in the order of
// time.
type Store struct{ table dynamo.Table }

var _ webhook.Store = (*Store)(nil)

// New returns the store on the given table.
func New(db *dynamodb.Client, table string) *Store { return &Store{dynamo.Table{DB: db, Name: table}} }

const webhookPrefix = "webhook#"

func webhookKey(tenant, id string) dynamo.Item {
	return dynamo.Key(tenant, webhookPrefix+id)
}

// count returns the write that counts a webhook more or less on a condition.
func (s *Store) count(tenant string, change int64, condition string, values dynamo.Item) dynamo.Write {
	values[":change"] = dynamo.Number(change)
	return s.table.Update(dynamo.Key(tenant, "count"), "ADD #webhooks :change", condition, values)
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
	err = s.table.Transact(ctx, "create webhook", s.table.Put(item, dynamo.Absent, nil),
		s.count(w.Tenant, 1, "attribute_not_exists(#webhooks) OR #webhooks < :most",
			dynamo.Item{":most": dynamo.Number(webhook.MaxPerTenant)}).Or(webhook.ErrTooMany))
	if errors.Is(err, dynamo.ErrRefused) {
		return nil // an earlier call has stored it: nobody else makes this ID
	}
	return err
}

// Get implements webhook.Store.
func (s *Store) Get(ctx context.Context, tenant, id string) (webhook.Webhook, error) {
	item, err := s.table.Get(ctx, webhookKey(tenant, id))
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
	list := []webhook.Webhook{}
	for item, err := range s.table.All(ctx, tenant, webhookPrefix) {
		if err != nil {
			return nil, fmt.Errorf("list webhooks: %w", err)
		}
		w, err := readWebhook(item)
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}

// healthAttributes are the attributes of a webhook's health.
var healthAttributes = []string{"failing_since", "given_up_since", "recovered_at", "disabled_at", "disabled_reason"}

// Save implements webhook.Store. It writes the attributes that the tenant sets and leaves the others, which deliveries
// change at the same time.
func (s *Store) Save(ctx context.Context, w webhook.Webhook, resetHealth bool) (webhook.Webhook, error) {
	previous := w.Version
	w.Version++
	item, err := attributevalue.MarshalMap(newWebhookRow(w))
	if err != nil {
		return webhook.Webhook{}, fmt.Errorf("save webhook: %w", err)
	}
	values := dynamo.Item{":before": dynamo.Number(previous)}
	var removed []string
	if resetHealth {
		removed = healthAttributes
	}
	update := setOrRemove(item, values, removed, "name", "url", "enabled", "event_types", "email_addresses", "type",
		"batch_size", "secret", "previous_secret", "previous_until", "updated_at", "version")
	current, err := s.updateWebhook(ctx, "save webhook", w.Tenant, w.ID, update, "version = :before", values,
		webhook.ErrChanged)
	switch {
	case errors.Is(err, webhook.ErrChanged) && current == nil:
		return webhook.Webhook{}, webhook.ErrNotFound
	case err != nil:
		return webhook.Webhook{}, err
	}
	return readWebhook(current)
}

// setOrRemove returns the update that sets the attributes which an item has, whose values it adds, and removes the
// attributes which the item does not have, beside others.
func setOrRemove(item, values dynamo.Item, others []string, attributes ...string) string {
	var sets []string
	removed := slices.Clone(others)
	for _, name := range attributes {
		if value, ok := item[name]; ok {
			sets = append(sets, "#"+name+" = :"+name)
			values[":"+name] = value
		} else {
			removed = append(removed, "#"+name)
		}
	}
	update := "SET " + strings.Join(sets, ", ")
	if len(removed) > 0 {
		update += " REMOVE " + strings.Join(removed, ", ")
	}
	return update
}

// updateWebhook updates the row of a webhook under a condition. It returns the item after the update or, with refused
// as the error, the one that does not meet the condition, nil if there is none.
func (s *Store) updateWebhook(ctx context.Context, doing, tenant, id, update, condition string, values dynamo.Item,
	refused error) (dynamo.Item, error) {
	return s.table.Exchange(ctx, doing,
		s.table.Update(webhookKey(tenant, id), update, condition, values).Or(refused))
}

// Delete implements webhook.Store.
func (s *Store) Delete(ctx context.Context, tenant, id string) error {
	return s.table.Transact(ctx, "delete webhook",
		s.table.Delete(webhookKey(tenant, id), dynamo.Present, nil).Or(webhook.ErrNotFound),
		s.count(tenant, -1, "", dynamo.Item{}))
}

// PagingKey returns the key that seals page tokens, storing the candidate if no key is stored yet.
func (s *Store) PagingKey(ctx context.Context, candidate []byte) ([]byte, error) {
	return dynamo.LoadPagingKey(ctx, s.table.DB, s.table.Name, candidate)
}
