package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"sluice/shared/connect/event"
	"sluice/shared/connect/webhook"
)

// recordHealth updates the health of a webhook at the end of a delivery, and disables a webhook that has failed too
// long. It can be repeated: the events that it sends have the same IDs each time.
func (s *Step) recordHealth(ctx context.Context, d webhook.Delivery) error {
	if d.IsTest() || d.Code == webhook.CodeDisabled || d.Code == webhook.CodeDeleted ||
		d.Code == webhook.CodeInterrupted {
		return nil
	}
	w, err := s.Store.Get(ctx, d.Tenant, d.WebhookID)
	if err != nil {
		return ignoreNotFound(err)
	}
	if d.Outcome == webhook.Successful {
		return s.recordSuccess(ctx, w, d)
	}
	health, err := s.Store.MarkFailing(ctx, w.Tenant, w.ID, lastAttempt(d).At, true)
	if err != nil {
		return ignoreNotFound(err)
	}
	reason := ""
	switch disables := s.Policy.DisablesAt(health); {
	case d.Code == webhook.CodeGone:
		reason = webhook.ReasonGone
	case !disables.IsZero() && !d.EndedAt.Before(disables):
		reason = webhook.ReasonFailing
	}
	if reason == "" {
		return nil
	}
	if w, err = s.Store.Disable(ctx, w.Tenant, w.ID, reason, d.EndedAt); err != nil {
		return ignoreNotFound(err)
	}
	if !w.Health.DisabledAt.Equal(d.EndedAt) {
		return nil // disabled before: the one that did it announces it
	}
	s.Log.WarnContext(ctx, "webhook disabled", "tenant", w.Tenant, "webhook", w.ID, "reason", reason)
	return s.Events.Send(ctx, disabledEvent(w))
}

// recordSuccess ends the time in which a webhook failed. If deliveries were given up in it, the tenant is told.
func (s *Step) recordSuccess(ctx context.Context, w webhook.Webhook, d webhook.Delivery) error {
	since := w.Health.FailingSince
	if since.IsZero() || since.After(d.EndedAt) {
		return nil
	}
	if !w.Health.GivenUpSince.IsZero() {
		// The time is kept until the event is sent, so that repeated sends are the same event.
		h, ok, err := s.Store.MarkRecovered(ctx, w.Tenant, w.ID, since, d.EndedAt)
		if err != nil || !ok {
			return err
		}
		w.Health = h
		if err := s.Events.Send(ctx, recoveredEvent(w)); err != nil {
			return err
		}
	}
	return s.Store.MarkWorking(ctx, w.Tenant, w.ID, since)
}

func lastAttempt(d webhook.Delivery) webhook.Attempt { return d.Attempts[len(d.Attempts)-1] }

func ignoreNotFound(err error) error {
	if errors.Is(err, webhook.ErrNotFound) {
		return nil
	}
	return err
}

// WebhookPayload is the payload of events about a webhook. Members that do not apply are absent.
type WebhookPayload struct {
	WebhookID string `json:"webhook_id"`
	Name      string `json:"name"`
	// FailingSince is the time of the first attempt that failed after the last success.
	FailingSince time.Time `json:"failing_since,omitzero"`
	// DisabledAt and Reason belong to an event that a webhook was disabled.
	DisabledAt time.Time `json:"disabled_at,omitzero"`
	Reason     string    `json:"reason,omitempty"`
	// GivenUpSince is when the first delivery was given up; RecoveredAt is when one succeeded again.
	GivenUpSince time.Time `json:"given_up_since,omitzero"`
	RecoveredAt  time.Time `json:"recovered_at,omitzero"`
}

// disabledEvent returns the event that the service has disabled a webhook.
func disabledEvent(w webhook.Webhook) event.Message {
	return newEvent(event.WebhookDisabled, w, w.Health.DisabledAt, w.Health.DisabledAt, WebhookPayload{
		WebhookID: w.ID, Name: w.Name, FailingSince: w.Health.FailingSince.UTC(), DisabledAt: w.Health.DisabledAt.UTC(),
		Reason: w.Health.DisabledReason,
	})
}

// recoveredEvent returns the event that a webhook to which deliveries were given up works again.
func recoveredEvent(w webhook.Webhook) event.Message {
	return newEvent(event.WebhookRecovered, w, w.Health.FailingSince, w.Health.RecoveredAt, WebhookPayload{
		WebhookID: w.ID, Name: w.Name, FailingSince: w.Health.FailingSince.UTC(),
		GivenUpSince: w.Health.GivenUpSince.UTC(),
		RecoveredAt:  w.Health.RecoveredAt.UTC(),
	})
}

// newEvent returns an event about a webhook. which tells it from others of its type about the same webhook.
func newEvent(t event.Type, w webhook.Webhook, which, when time.Time, p WebhookPayload) event.Message {
	payload, _ := json.Marshal(p) // times and strings
	return event.Message{
		ID: event.NewID(t, w.ID+" "+which.UTC().Format(time.RFC3339Nano)), Tenant: w.Tenant, Type: t,
		RelativeURL: webhookURL(w), Payload: payload, When: when, CorrelationID: w.ID, CausationID: w.ID,
	}
}
