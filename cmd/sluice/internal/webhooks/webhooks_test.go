package webhooks

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/client"
	"sluice/client/clienttest"
	"sluice/cmd/sluice/internal/commandtest"
	"sluice/cmd/sluice/internal/service"
	"sluice/openapi/wire"
	"sluice/shared/kit/difftest"
)

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"90m": now.Add(-90 * time.Minute), "-24h": now.AddDate(0, 0, -1), "0s": now,
		"2026-01-31T12:00:00Z": time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), "2026-01-31": {}, "yesterday": {},
		"": {}, "90": {},
	} {
		got, err := service.ParseTime("--since", text, now)
		if !got.Equal(want) || (err != nil) != want.IsZero() {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
}

// A delivery is printed whatever the service says of its events.
func TestPrintDeliveries(t *testing.T) {
	at := time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)
	event := client.DeliveryEvent{EventType: "a:b"}
	var out strings.Builder
	err := printDeliveries(&out, []client.Delivery{
		{Delivery: wire.Delivery{ID: "d1", CreatedAt: at}},
		{Delivery: wire.Delivery{ID: "d2", CreatedAt: at, Outcome: new("Failed"), Events: []wire.DeliveryEvent{event}}},
		{Delivery: wire.Delivery{ID: "d3", CreatedAt: at, Events: []wire.DeliveryEvent{event, event}, AttemptCount: 1}},
	})
	want := "2026-11-26T08:15:00Z  d1  0 events  Pending  0 attempts  \n" +
		"2026-11-26T08:15:00Z  d2  a:b       Failed   0 attempts  \n" +
		"2026-11-26T08:15:00Z  d3  2 events  Pending  1 attempt   \n"
	if err != nil || out.String() != want {
		t.Errorf("got %v and\n%s\nwant\n%s", err, &out, want)
	}
}

// Flags that say nothing of one delivery are refused with it.
func TestFlagsOfOneDelivery(t *testing.T) {
	s := clienttest.New()
	defer s.Close()
	for _, args := range [][]string{
		{"webhooks", "resend", "w", "d", "--outcome", "Failed"},
		{"webhooks", "deliveries", "w", "d", "--outcome", "Failed"},
	} {
		code, _, stderr := commandtest.RunWithServer(t.Context(), t, Commands(), s, args...)
		if code != 2 || !strings.Contains(stderr, "--outcome is for ") {
			t.Errorf("%v: exit code %d, %q; want 2 and what --outcome is for", args, code, stderr)
		}
	}
}

func TestWebhookState(t *testing.T) {
	at := time.Now()
	for _, test := range []struct {
		webhook wire.Webhook
		want    string
	}{
		{wire.Webhook{Enabled: true}, "enabled"},
		{wire.Webhook{Enabled: true, FailingSince: &at}, "failing"},
		{wire.Webhook{}, "disabled"},
		{wire.Webhook{DisabledReason: new("gone"), FailingSince: &at}, "disabled (gone)"},
	} {
		difftest.Equal(t, fmt.Sprintf("%+v", test.webhook), test.want, webhookState(test.webhook))
	}
}
