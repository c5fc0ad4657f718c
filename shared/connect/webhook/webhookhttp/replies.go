package webhookhttp

import (
	"encoding/json"
	"time"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/connect/webhook"
)

// ListReply is the answer to a request for all webhooks.
type ListReply struct {
	WebHooks []WebhookReply `json:"webHooks"`
}

// DeleteReply is the answer to the deletion of a webhook.
type DeleteReply struct {
	ID string `json:"id"`
}

// WebhookReply is a webhook as clients see it. Its secret is not shown, but once where the service has made it.
type WebhookReply struct {
	ID             string       `json:"id"`
	Name           string       `json:"name"`
	URL            string       `json:"url"`
	Enabled        bool         `json:"enabled"`
	EventTypes     []string     `json:"eventTypes"`
	EmailAddresses []string     `json:"emailAddresses"`
	Type           webhook.Type `json:"type"`
	BatchSize      int          `json:"batchSize"`
	Secret         string       `json:"secret,omitempty"`
	CreatedAt      time.Time    `json:"createdAt"`
	UpdatedAt      time.Time    `json:"updatedAt"`
	// PreviousSecretUntil is until when the replaced secret signs, too; null if none does.
	PreviousSecretUntil *time.Time `json:"previousSecretUntil"`
	// FailingSince is when the first attempt after the last success failed, DisablesAt when giving up a delivery
	// disables the webhook, DisabledAt when the service has; each is null if it does not apply.
	FailingSince *time.Time `json:"failingSince"`
	DisablesAt   *time.Time `json:"disablesAt"`
	DisabledAt   *time.Time `json:"disabledAt"`
	// DisabledReason is gone or failing; null if the service has not disabled the webhook.
	DisabledReason *string `json:"disabledReason"`
}

func (s *Webhooks) newReply(w webhook.Webhook) WebhookReply {
	reply := WebhookReply{
		ID: w.ID, Name: w.Name, URL: w.URL, Enabled: w.Enabled, EventTypes: w.EventTypes,
		EmailAddresses: append([]string{}, w.EmailAddresses...), Type: w.Type, BatchSize: w.BatchSize,
		CreatedAt: w.CreatedAt.UTC(), UpdatedAt: w.UpdatedAt.UTC(),
		FailingSince: optionalTime(w.Health.FailingSince), DisabledAt: optionalTime(w.Health.DisabledAt),
		DisabledReason: platform.OrNull(w.Health.DisabledReason),
	}
	if w.Enabled {
		reply.DisablesAt = optionalTime(s.Policy.DisablesAt(w.Health))
	}
	if _, previous := w.SigningSecrets(s.Now()); previous != nil {
		reply.PreviousSecretUntil = optionalTime(w.PreviousUntil)
	}
	return reply
}

func optionalTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// DeliveriesReply is a page of deliveries, newest first. It may be short before the end; at the end Next is null.
type DeliveriesReply struct {
	Deliveries []DeliveryReply `json:"deliveries"`
	Next       *string         `json:"next"`
}

// DeliveryReply is a delivery as clients see it.
type DeliveryReply struct {
	ID        string       `json:"id"`
	WebhookID string       `json:"webhookId"`
	Type      webhook.Type `json:"type"`
	Events    []EventReply `json:"events"`
	// Outcome is null while the delivery is pending.
	Outcome *string `json:"outcome"`
	// Code and Message say why the delivery has not succeeded, so far or in the end; null otherwise.
	Code          *string    `json:"code"`
	Message       *string    `json:"message"`
	CreatedAt     time.Time  `json:"createdAt"`
	EndedAt       *time.Time `json:"endedAt"`
	NextAttemptAt *time.Time `json:"nextAttemptAt"`
	// Run is 1 and, for each time the delivery was sent again, one more.
	Run int `json:"run"`
	// AttemptCount counts the attempts of all runs; Attempts are the last of them.
	AttemptCount int             `json:"attemptCount"`
	Attempts     []AttemptReply  `json:"attempts"`
	Payload      json.RawMessage `json:"payload"`
}

// EventReply names an event of a delivery.
type EventReply struct {
	ID        string `json:"id"`
	EventType string `json:"eventType"`
}

// AttemptReply is an attempt as clients see it.
type AttemptReply struct {
	Number       int             `json:"number"`
	At           time.Time       `json:"at"`
	Milliseconds int64           `json:"milliseconds"`
	Outcome      webhook.Outcome `json:"outcome"`
	Code         *string         `json:"code"`
	Message      *string         `json:"message"`
	// Status is that of the answer, and Answer the beginning of its body; null if there was none.
	Status *int    `json:"status"`
	Answer *string `json:"answer"`
}

// endMessages explain the codes of deliveries that end without an attempt.
var endMessages = map[string]string{
	webhook.CodeDisabled:    "The webhook is disabled. Enable it, and send the delivery again.",
	webhook.CodeDeleted:     "The webhook was deleted.",
	webhook.CodeInterrupted: "The service could not go on with the delivery. Send it again.",
}

func newDeliveryReply(d webhook.Delivery) DeliveryReply {
	reply := DeliveryReply{
		ID: d.ID, WebhookID: d.WebhookID, Type: d.Type, Outcome: platform.OrNull(string(d.Outcome)),
		CreatedAt: d.CreatedAt.UTC(), EndedAt: optionalTime(d.EndedAt), NextAttemptAt: optionalTime(d.NextAttemptAt),
		Run: d.Run, AttemptCount: d.AttemptCount, Attempts: make([]AttemptReply, len(d.Attempts)),
		Events: make([]EventReply, len(d.Messages)), Payload: d.Body(),
	}
	for i, m := range d.Messages {
		reply.Events[i] = EventReply{m.ID, string(m.Type)}
	}
	for i, a := range d.Attempts {
		reply.Attempts[i] = newAttemptReply(a)
	}
	if message, ok := endMessages[d.Code]; ok {
		reply.Code, reply.Message = platform.OrNull(d.Code), &message
	} else if n := len(reply.Attempts); n > 0 && d.Outcome != webhook.Successful {
		reply.Code, reply.Message = reply.Attempts[n-1].Code, reply.Attempts[n-1].Message
	}
	return reply
}

func newAttemptReply(a webhook.Attempt) AttemptReply {
	reply := AttemptReply{
		Number: a.Number, At: a.At.UTC(), Milliseconds: a.Took.Milliseconds(), Outcome: a.Outcome,
		Code: platform.OrNull(a.Code), Message: platform.OrNull(a.Message),
	}
	if a.Status != 0 {
		reply.Status, reply.Answer = &a.Status, &a.Answer
	}
	return reply
}

// ResendReply is the answer to the request to send again everything since a time.
type ResendReply struct {
	// Resent is the number of deliveries that this request sends again.
	Resent int `json:"resent"`
	// Next is what the next request continues with; null if there is nothing more.
	Next *string `json:"next"`
}
