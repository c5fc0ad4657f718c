package main

import (
	"testing"
	"time"

	"sluice/client"
)

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"90m": now.Add(-90 * time.Minute), "-24h": now.AddDate(0, 0, -1), "0s": now,
		"2026-01-31T12:00:00Z": time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), "2026-01-31": {}, "yesterday": {},
		"": {}, "90": {},
	} {
		got, err := parseSince(text, now)
		if !got.Equal(want) || (err != nil) != want.IsZero() {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestWebhookState(t *testing.T) {
	at := time.Now()
	for _, test := range []struct {
		webhook client.Webhook
		want    string
	}{
		{client.Webhook{WebhookSettings: client.WebhookSettings{Enabled: true}}, "enabled"},
		{client.Webhook{WebhookSettings: client.WebhookSettings{Enabled: true}, FailingSince: &at}, "failing"},
		{client.Webhook{}, "disabled"},
		{client.Webhook{DisabledReason: "gone", FailingSince: &at}, "disabled (gone)"},
	} {
		if got := webhookState(test.webhook); got != test.want {
			t.Errorf("%+v: got %s, want %s", test.webhook, got, test.want)
		}
	}
}
