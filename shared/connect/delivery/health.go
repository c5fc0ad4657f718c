package delivery

import (
	"context"
	"errors"

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
