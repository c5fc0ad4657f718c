package webhookdb

import (
	"context"
	"fmt"
	"time"

	"sluice/shared/connect/webhook"
	"sluice/shared/kit/dynamo"
)

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
