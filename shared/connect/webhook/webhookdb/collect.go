package webhookdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/connect/webhook"
	"sluice/shared/kit/dynamo"
)

// StopCollecting implements webhook.Store.
func (s *Store) StopCollecting(ctx context.Context, d webhook.Delivery, run int, at time.Time) (webhook.Delivery,
	error) {
	return s.updateOrRead(ctx, "close delivery", d.Tenant, d.WebhookID, d.ID,
		"SET #open = :false, #run = :run, run_at = :at", "#open = :true AND #run <= :run",
		dynamo.Item{
			":run": dynamo.Number(int64(run)), ":at": dynamo.String(dynamo.FormatTime(at)),
			":false": dynamo.Bool(false), ":true": dynamo.Bool(true),
		})
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
		err := s.table.Transact(ctx, "collect message", s.putEvent(w, d, w.OpenDelivery),
			s.appendMessage(w, d.Messages[0]))
		switch {
		case errors.Is(err, errCollected):
			return s.deliveryOfEvent(ctx, w, d.Messages[0].ID)
		case err == nil:
			return s.GetDelivery(ctx, w.Tenant, w.ID, w.OpenDelivery)
		case !errors.Is(err, dynamo.ErrRefused):
			return webhook.Delivery{}, err
		}
	}
	item, err := attributevalue.MarshalMap(newDeliveryRow(d))
	if err != nil {
		return webhook.Delivery{}, fmt.Errorf("collect message: %w", err)
	}
	err = s.table.Transact(ctx, "collect message", s.putEvent(w, d, d.ID), s.table.Put(item, dynamo.Absent, nil),
		s.openDelivery(w, d.ID))
	switch {
	case errors.Is(err, errCollected):
		return s.deliveryOfEvent(ctx, w, d.Messages[0].ID)
	case errors.Is(err, dynamo.ErrRefused):
		return s.GetDelivery(ctx, w.Tenant, w.ID, d.ID) // it is kept longer than the item of its event
	case err != nil:
		return webhook.Delivery{}, err
	}
	return d, nil
}

// errCollected means that a delivery has an event already.
var errCollected = errors.New("webhookdb: the event is collected")

func eventKey(w webhook.Webhook, eventID string) dynamo.Item {
	return dynamo.Key(deliveryOwner(w.Tenant, w.ID)+"#events", eventID)
}

// putEvent records which delivery has the first message of d, unless one has it.
func (s *Store) putEvent(w webhook.Webhook, d webhook.Delivery, delivery string) dynamo.Write {
	item := eventKey(w, d.Messages[0].ID)
	item["delivery"] = dynamo.String(delivery)
	item["expires"] = dynamo.Number(d.CreatedAt.Add(webhook.Retention).Unix())
	return s.table.Put(item, dynamo.Absent, nil).Or(errCollected)
}

// appendMessage adds a message to the open delivery of a webhook, if it has room.
func (s *Store) appendMessage(w webhook.Webhook, m webhook.Message) dynamo.Write {
	size := int64(len(m.Text))
	return s.table.Update(deliveryKey(w.Tenant, w.ID, w.OpenDelivery),
		"SET messages = list_append(messages, :message) ADD #bytes :size",
		"#open = :true AND size(messages) < :most AND #bytes <= :room",
		dynamo.Item{
			":message": &types.AttributeValueMemberL{Value: []types.AttributeValue{
				&types.AttributeValueMemberM{Value: dynamo.Item{
					"id": dynamo.String(m.ID), "type": dynamo.String(string(m.Type)), "text": dynamo.Binary(m.Text),
				}},
			}},
			":size": dynamo.Number(size), ":true": dynamo.Bool(true), ":most": dynamo.Number(int64(w.BatchSize)),
			":room": dynamo.Number(webhook.MaxBodyBytes - size),
		})
}

// openDelivery makes a delivery the open one of a webhook, in place of the one that the webhook was read with.
func (s *Store) openDelivery(w webhook.Webhook, id string) dynamo.Write {
	condition := dynamo.Present + " AND attribute_not_exists(open_delivery)"
	values := dynamo.Item{":new": dynamo.String(id)}
	if w.OpenDelivery != "" {
		condition, values[":old"] = "open_delivery = :old", dynamo.String(w.OpenDelivery)
	}
	return s.table.Update(webhookKey(w.Tenant, w.ID), "SET open_delivery = :new", condition, values).
		Or(errCollectAgain)
}

// deliveryOfEvent returns the delivery that has collected an event.
func (s *Store) deliveryOfEvent(ctx context.Context, w webhook.Webhook, eventID string) (webhook.Delivery, error) {
	item, err := s.table.Get(ctx, eventKey(w, eventID))
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
	current, err := s.updateWebhook(ctx, "mark webhook as failing", tenant, id, expression, dynamo.Present,
		dynamo.Item{":at": dynamo.String(dynamo.FormatTime(at))}, webhook.ErrNotFound)
	if err != nil {
		return webhook.Health{}, err
	}
	w, err := readWebhook(current)
	return w.Health, err
}

// MarkRecovered implements webhook.Store.
func (s *Store) MarkRecovered(ctx context.Context, tenant, id string, failingSince, at time.Time) (
	webhook.Health, bool, error) {
	current, err := s.updateWebhook(ctx, "mark webhook as recovered", tenant, id,
		"SET recovered_at = if_not_exists(recovered_at, :at)", "failing_since = :since", dynamo.Item{
			":since": dynamo.String(dynamo.FormatTime(failingSince)), ":at": dynamo.String(dynamo.FormatTime(at)),
		}, dynamo.ErrRefused)
	if errors.Is(err, dynamo.ErrRefused) {
		return webhook.Health{}, false, nil
	}
	if err != nil {
		return webhook.Health{}, false, err
	}
	w, err := readWebhook(current)
	return w.Health, true, err
}

// MarkWorking implements webhook.Store.
func (s *Store) MarkWorking(ctx context.Context, tenant, id string, failingSince time.Time) error {
	_, err := s.updateWebhook(ctx, "mark webhook as working", tenant, id,
		"REMOVE failing_since, given_up_since, recovered_at", "failing_since = :since",
		dynamo.Item{":since": dynamo.String(dynamo.FormatTime(failingSince))}, nil)
	return err
}

// Disable implements webhook.Store.
func (s *Store) Disable(ctx context.Context, tenant, id, reason string, at time.Time) (webhook.Webhook, error) {
	current, err := s.updateWebhook(ctx, "disable webhook", tenant, id,
		"SET enabled = :false, disabled_at = :at, disabled_reason = :reason, version = version + :one",
		"enabled = :true",
		dynamo.Item{
			":false": dynamo.Bool(false), ":true": dynamo.Bool(true), ":at": dynamo.String(dynamo.FormatTime(at)),
			":reason": dynamo.String(reason), ":one": dynamo.Number(1),
		}, nil)
	switch {
	case err != nil:
		return webhook.Webhook{}, err
	case current == nil:
		return webhook.Webhook{}, webhook.ErrNotFound
	}
	return readWebhook(current)
}
