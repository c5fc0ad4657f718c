package main

import (
	"crypto/x509"
	"testing"
	"time"

	"sluice/client"
)

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"90m": now.Add(-90 * time.Minute), "-24h": now.AddDate(0, 0, -1), "0s": now,
		"2026-01-31T12:00:00Z": time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), "2026-01-31": {}, "yesterday": {}, "": {}, "90": {},
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

// The certificate of listen is one of its host alone, for servers, and no CA.
func TestNewCertificate(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1", "tunnel.example.com"} {
		made, err := newCertificate(host, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		certificate, err := x509.ParseCertificate(made.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := certificate.VerifyHostname(host); err != nil || certificate.IsCA {
			t.Errorf("%s: %v, CA %v; want a certificate of the host", host, err, certificate.IsCA)
		}
		if certificate.VerifyHostname("other.example.com") == nil {
			t.Errorf("%s: the certificate is one of another host, too", host)
		}
	}
}
