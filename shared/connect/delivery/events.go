package delivery

import (
	"encoding/json"
	"time"

	"sluice/shared/connect/event"
	"sluice/shared/connect/webhook"
)

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
