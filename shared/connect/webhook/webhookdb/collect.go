package webhookdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/connect/webhook"
	"sluice/shared/kit/dynamo"
)

// StopCollecting implements webhook.Store.
func (s *Store) StopCollecting(ctx context.Context, d webhook.Delivery, run int, at time.Time) (webhook.Delivery,
	error) {
	current, err := s.updateDelivery(ctx, d.Tenant, d.WebhookID, d.ID, "SET #open = :false, #run = :run, run_at = :at",
		"#open = :true AND #run <= :run", map[string]string{"#run": "run", "#open": "open"},
		dynamo.Item{
			":run": dynamo.Number(int64(run)), ":at": dynamo.String(dynamo.FormatTime(at)),
			":false": dynamo.Bool(false),
			":true":  dynamo.Bool(true),
		})
	if met, failed := dynamo.ConditionFailed(err); failed {
		if met == nil {
			return webhook.Delivery{}, webhook.ErrNotFound
		}
		return readDelivery(met)
	}
	if err != nil {
		return webhook.Delivery{}, fmt.Errorf("close delivery: %w", err)
	}
	return readDelivery(current)
}

// Collect implements webhook.Store. A row for each event says which delivery has it, so that an event that is announced
// again, however late, is not collected again.
func (s *Store) Collect(ctx context.Context, w webhook.Webhook, d webhook.Delivery) (webhook.Delivery, error) {
	for {
		collected, err := s.tryCollect(ctx, w, d)
		if !errors.Is(err, errCollectAgain) {
			return collected, err
		}
		if ctx.Err() != nil {
			return webhook.Delivery{}, ctx.Err()
		}
		if w, err = s.Get(ctx, w.Tenant, w.ID); err != nil {
			return webhook.Delivery{}, err
		}
	}
}

// errCollectAgain means that others have changed what tryCollect has found.
var errCollectAgain = errors.New("webhookdb: collected at the same time")

func (s *Store) tryCollect(ctx context.Context, w webhook.Webhook, d webhook.Delivery) (webhook.Delivery, error) {
	if w.OpenDelivery != "" {
		failed, err := dynamo.Transact(ctx, s.db, []types.TransactWriteItem{
			s.putEvent(w, d, w.OpenDelivery), s.appendMessage(w, d.Messages[0]),
		})
		switch {
		case failed[0]:
			return s.deliveryOfEvent(ctx, w, d.Messages[0].ID)
		case err == nil:
			return s.GetDelivery(ctx, w.Tenant, w.ID, w.OpenDelivery)
		case !failed[1]:
			return webhook.Delivery{}, fmt.Errorf("collect message: %w", err)
		}
	}
	item, err := attributevalue.MarshalMap(newDeliveryRow(d))
	if err != nil {
		return webhook.Delivery{}, fmt.Errorf("collect message: %w", err)
	}
	failed, err := dynamo.Transact(ctx, s.db, []types.TransactWriteItem{
		s.putEvent(w, d, d.ID),
		{Put: &types.Put{TableName: &s.table, Item: item,
			ConditionExpression: aws.String("attribute_not_exists(part)")}},
		s.openDelivery(w, d.ID),
	})
	switch {
	case failed[0]:
		return s.deliveryOfEvent(ctx, w, d.Messages[0].ID)
	case failed[1]:
		return s.GetDelivery(ctx, w.Tenant, w.ID, d.ID) // it is kept longer than the item of its event
	case failed[2]:
		return webhook.Delivery{}, errCollectAgain
	case err != nil:
		return webhook.Delivery{}, fmt.Errorf("collect message: %w", err)
	}
	return d, nil
}

func eventKey(w webhook.Webhook, eventID string) dynamo.Item {
	return dynamo.Item{
		"owner": dynamo.String(deliveryOwner(w.Tenant, w.ID) + "#events"), "part": dynamo.String(eventID),
	}
}

// putEvent records which delivery has the first message of d, unless one has it.
func (s *Store) putEvent(w webhook.Webhook, d webhook.Delivery, delivery string) types.TransactWriteItem {
	item := eventKey(w, d.Messages[0].ID)
	item["delivery"] = dynamo.String(delivery)
	item["expires"] = dynamo.Number(d.CreatedAt.Add(webhook.Retention).Unix())
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &s.table, Item: item, ConditionExpression: aws.String("attribute_not_exists(part)"),
	}}
}

// appendMessage adds a message to the open delivery of a webhook, if it has room.
func (s *Store) appendMessage(w webhook.Webhook, m webhook.Message) types.TransactWriteItem {
	size := int64(len(m.Text))
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: deliveryKey(w.Tenant, w.ID, w.OpenDelivery),
		UpdateExpression:         aws.String("SET messages = list_append(messages, :message) ADD #bytes :size"),
		ConditionExpression:      aws.String("#open = :true AND size(messages) < :most AND #bytes <= :room"),
		ExpressionAttributeNames: map[string]string{"#open": "open", "#bytes": "bytes"},
		ExpressionAttributeValues: dynamo.Item{
			":message": &types.AttributeValueMemberL{Value: []types.AttributeValue{
				&types.AttributeValueMemberM{Value: dynamo.Item{
					"id": dynamo.String(m.ID), "type": dynamo.String(string(m.Type)), "text": dynamo.Binary(m.Text),
				}},
			}},
			":size": dynamo.Number(size), ":true": dynamo.Bool(true), ":most": dynamo.Number(int64(w.BatchSize)),
			":room": dynamo.Number(webhook.MaxBodyBytes - size),
		},
	}}
}

// openDelivery makes a delivery the open one of a webhook, in place of the one that the webhook was read with.
func (s *Store) openDelivery(w webhook.Webhook, id string) types.TransactWriteItem {
	update := types.Update{
		TableName: &s.table, Key: webhookKey(w.Tenant, w.ID), UpdateExpression: aws.String("SET open_delivery = :new"),
		ConditionExpression:       aws.String("attribute_exists(part) AND attribute_not_exists(open_delivery)"),
		ExpressionAttributeValues: dynamo.Item{":new": dynamo.String(id)},
	}
	if w.OpenDelivery != "" {
		update.ConditionExpression = aws.String("open_delivery = :old")
		update.ExpressionAttributeValues[":old"] = dynamo.String(w.OpenDelivery)
	}
	return types.TransactWriteItem{Update: &update}
}

// deliveryOfEvent returns the delivery that has collected an event.
func (s *Store) deliveryOfEvent(ctx context.Context, w webhook.Webhook, eventID string) (webhook.Delivery, error) {
	item, err := dynamo.Get(ctx, s.db, s.table, eventKey(w, eventID))
	if err != nil {
		return webhook.Delivery{}, fmt.Errorf("find the delivery of an event: %w", err)
	}
	return s.GetDelivery(ctx, w.Tenant, w.ID, dynamo.StringAttribute(item, "delivery"))
}

// MarkFailing implements webhook.Store.
func (s *Store) MarkFailing(ctx context.Context, tenant, id string, at time.Time, givenUp bool) (webhook.Health,
	error) {
	expression := "SET failing_since = if_not_exists(failing_since, :at)"
	if givenUp {
		expression += ", given_up_since = if_not_exists(given_up_since, :at)"
	}
	current, failed, err := s.updateWebhook(ctx, tenant, id, expression, "attribute_exists(part)", nil,
		dynamo.Item{":at": dynamo.String(dynamo.FormatTime(at))})
	switch {
	case failed:
		return webhook.Health{}, webhook.ErrNotFound
	case err != nil:
		return webhook.Health{}, fmt.Errorf("mark webhook as failing: %w", err)
	}
	w, err := readWebhook(current)
	return w.Health, err
}

// MarkRecovered implements webhook.Store.
func (s *Store) MarkRecovered(ctx context.Context, tenant, id string, failingSince, at time.Time) (
	webhook.Health, bool, error) {
	current, failed, err := s.updateWebhook(ctx, tenant, id, "SET recovered_at = if_not_exists(recovered_at, :at)",
		"failing_since = :since", nil, dynamo.Item{
			":since": dynamo.String(dynamo.FormatTime(failingSince)), ":at": dynamo.String(dynamo.FormatTime(at)),
		})
	switch {
	case failed:
		return webhook.Health{}, false, nil
	case err != nil:
		return webhook.Health{}, false, fmt.Errorf("mark webhook as recovered: %w", err)
	}
	w, err := readWebhook(current)
	return w.Health, true, err
}

// MarkWorking implements webhook.Store.
func (s *Store) MarkWorking(ctx context.Context, tenant, id string, failingSince time.Time) error {
	_, failed, err := s.updateWebhook(ctx, tenant, id, "REMOVE failing_since, given_up_since, recovered_at",
		"failing_since = :since", nil,
		dynamo.Item{":since": dynamo.String(dynamo.FormatTime(failingSince))})
	if err != nil && !failed {
		return fmt.Errorf("mark webhook as working: %w", err)
	}
	return nil
}

// Disable implements webhook.Store.
func (s *Store) Disable(ctx context.Context, tenant, id, reason string, at time.Time) (webhook.Webhook, error) {
	current, failed, err := s.updateWebhook(ctx, tenant, id,
		"SET enabled = :false, disabled_at = :at, disabled_reason = :reason, version = version + :one",
		"enabled = :true", nil,
		dynamo.Item{
			":false": dynamo.Bool(false), ":true": dynamo.Bool(true), ":at": dynamo.String(dynamo.FormatTime(at)),
			":reason": dynamo.String(reason), ":one": dynamo.Number(1),
		})
	switch {
	case failed && current == nil:
		return webhook.Webhook{}, webhook.ErrNotFound
	case err != nil && !failed:
		return webhook.Webhook{}, fmt.Errorf("disable webhook: %w", err)
	}
	return readWebhook(current)
}
