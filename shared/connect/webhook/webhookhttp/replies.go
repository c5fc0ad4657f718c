package webhookhttp

import (
	"sluice/openapi/wire"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/connect/webhook"
)

func (s *Webhooks) newReply(w webhook.Webhook) wire.Webhook {
	reply := wire.Webhook{
		ID: w.ID, Name: w.Name, URL: w.URL, Enabled: w.Enabled, EventTypes: w.EventTypes,
		EmailAddresses: append([]string{}, w.EmailAddresses...), Type: string(w.Type), BatchSize: int64(w.BatchSize),
		CreatedAt: w.CreatedAt.UTC(), UpdatedAt: w.UpdatedAt.UTC(),
		FailingSince:   platform.OrNull(w.Health.FailingSince.UTC()),
		DisabledAt:     platform.OrNull(w.Health.DisabledAt.UTC()),
		DisabledReason: platform.OrNull(w.Health.DisabledReason),
	}
	if w.Enabled {
		reply.DisablesAt = platform.OrNull(s.Policy.DisablesAt(w.Health).UTC())
	}
	if _, previous := w.SigningSecrets(s.Now()); previous != nil {
		reply.PreviousSecretUntil = platform.OrNull(w.PreviousUntil.UTC())
	}
	return reply
}

// endMessages explain the codes of deliveries that end without an attempt.
var endMessages = map[string]string{
	webhook.CodeDisabled:    "The webhook is disabled. Enable it, and send the delivery again.",
	webhook.CodeDeleted:     "The webhook was deleted.",
	webhook.CodeInterrupted: "The service could not go on with the delivery. Send it again.",
}

func newDeliveryReply(d webhook.Delivery) wire.Delivery {
	reply := wire.Delivery{
		ID: d.ID, WebhookID: d.WebhookID, Type: string(d.Type), Outcome: platform.OrNull(string(d.Outcome)),
		CreatedAt: d.CreatedAt.UTC(), EndedAt: platform.OrNull(d.EndedAt.UTC()),
		NextAttemptAt: platform.OrNull(d.NextAttemptAt.UTC()), Run: int64(d.Run), AttemptCount: int64(d.AttemptCount),
		Attempts: make([]wire.Attempt, len(d.Attempts)),
		Events:   make([]wire.DeliveryEvent, len(d.Messages)), Payload: d.Body(),
	}
	for i, m := range d.Messages {
		reply.Events[i] = wire.DeliveryEvent{ID: m.ID, EventType: string(m.Type)}
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

func newAttemptReply(a webhook.Attempt) wire.Attempt {
	reply := wire.Attempt{
		Number: int64(a.Number), At: a.At.UTC(), Milliseconds: a.Took.Milliseconds(), Outcome: string(a.Outcome),
		Code: platform.OrNull(a.Code), Message: platform.OrNull(a.Message),
	}
	if a.Status != 0 {
		reply.Status, reply.Answer = new(int64(a.Status)), &a.Answer
	}
	return reply
}
