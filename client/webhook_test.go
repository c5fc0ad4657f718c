package client

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice/openapi/wire"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// webhookServer answers each request with the next of some replies, and records the requests as lines of text.
func webhookServer(t *testing.T, replies ...string) (*Client, *[]string) {
	t.Helper()
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/token" {
			_, _ = io.WriteString(w, `{"access_token":"t","expires_in":3600,"token_type":"Bearer"}`)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || len(requests) == len(replies) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		requests = append(requests, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get(
			"X-Tenant-Id")+" "+string(body)))
		_, _ = io.WriteString(w, replies[len(requests)-1])
	}))
	t.Cleanup(server.Close)
	c, err := New(Config{
		APIURL: server.URL, TokenURL: server.URL + "/token", ClientID: "c", ClientSecret: "s",
		Scope: "tenant/the tenant",
	})
	errtest.Fatal(t, err)
	return c, &requests
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	const one = `{"id":"w","url":"https://r.test","enabled":false,"eventTypes":["*"],"type":"Single","batchSize":100,` +
		`"secret":"s","disabledReason":"gone","disabledAt":"2026-11-26T08:15:00Z","failingSince":null}`
	c, requests := webhookServer(t, one, `{"webHooks":[`+one+`]}`, one, one, `{"id":"w"}`)
	ctx := t.Context()
	at := time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)
	settings := WebhookSettings{
		URL: "https://r.test", EventTypes: []string{"*"}, Secret: "s", Type: "Single", BatchSize: 100,
	}
	want := Webhook{
		Webhook: wire.Webhook{ID: "w", URL: "https://r.test", EventTypes: []string{"*"}, Secret: "s", Type: "Single",
			BatchSize: 100, DisabledReason: new("gone"), DisabledAt: &at},
		Original: Original{Reply: json.RawMessage(one)},
	}
	created, err := c.CreateWebhook(ctx, settings)
	if diff := cmp.Diff(want, created); err != nil || diff != "" {
		t.Errorf("created: %v (-want +got)\n%s", err, diff)
	}
	list, err := c.Webhooks(ctx)
	if err != nil || len(list) != 1 || list[0].ID != "w" {
		t.Errorf("list: %+v, %v; want w", list, err)
	}
	settings.Secret, settings.Enabled = "", true
	if _, err := c.UpdateWebhook(ctx, "w", settings); err != nil {
		t.Error(err)
	}
	if got, err := c.Webhook(ctx, "a/b"); err != nil || got.ID != "w" {
		t.Errorf("get: %+v, %v", got, err)
	}
	if err := c.DeleteWebhook(ctx, "w"); err != nil {
		t.Error(err)
	}
	body := func(enabled, secret string) string {
		return `{"url":"https://r.test","enabled":` + enabled + `,"eventTypes":["*"],` + secret +
			`"type":"Single","batchSize":100}`
	}
	wantRequests := []string{
		"POST /v1/webhooks  " + body("false", `"secret":"s",`), "GET /v1/webhooks",
		"PUT /v1/webhooks/w  " + body("true", ""),
		"GET /v1/webhooks/a%2Fb", "DELETE /v1/webhooks/w",
	}
	difftest.Equal(t, "requests", wantRequests, *requests)
}

func TestDeliveries(t *testing.T) {
	t.Parallel()
	const one = `{"id":"d","outcome":null,"code":"status","message":"The receiver answered 500.","run":1,` +
		`"attemptCount":1,"attempts":[{"number":1,"outcome":"Failed","status":500,"answer":"x"}],"payload":{"a":1}}`
	c, requests := webhookServer(t, `{"deliveries":[`+one+`],"next":"n&"}`, `{"deliveries":[],"next":null}`, one, one,
		one)
	ctx := t.Context()
	page, next, err := c.Deliveries(ctx, "w", "Failed", 1, "")
	if err != nil || len(page) != 1 || next != "n&" || page[0].Outcome != nil ||
		*page[0].Attempts[0].Status != 500 {
		t.Errorf("first page: %+v, %q, %v", page, next, err)
	}
	if page, next, err = c.Deliveries(ctx, "w", "", 100, next); err != nil || len(page) != 0 || next != "" {
		t.Errorf("last page: %+v, %q, %v", page, next, err)
	}
	for _, call := range []func() (Delivery, error){
		func() (Delivery, error) { return c.TestWebhook(ctx, "w") },
		func() (Delivery, error) { return c.Delivery(ctx, "w", "d") },
		func() (Delivery, error) { return c.ResendDelivery(ctx, "w", "d") },
	} {
		if d, err := call(); err != nil || d.ID != "d" || string(d.Payload) != `{"a":1}` || string(d.Reply) != one {
			t.Errorf("delivery %+v, %v", d, err)
		}
	}
	want := []string{
		"GET /v1/webhooks/w/deliveries?limit=1&outcome=Failed", "GET /v1/webhooks/w/deliveries?limit=100&next=n%26",
		"POST /v1/webhooks/w/test", "GET /v1/webhooks/w/deliveries/d", "POST /v1/webhooks/w/deliveries/d/resend",
	}
	difftest.Equal(t, "requests", want, *requests)
}

// ResendSince goes on until nothing is left, and says how far it came if it fails.
func TestResendSince(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)
	c, requests := webhookServer(t, `{"resent":200,"next":"a"}`, `{"resent":7,"next":null}`, `{"resent":3,"next":"b"}`)
	if n, err := c.ResendSince(t.Context(), "w", since, "Successful"); err != nil || n != 207 {
		t.Errorf("sent again: %d, %v; want 207", n, err)
	}
	if n, err := c.ResendSince(t.Context(), "w", since); err == nil || n != 3 {
		t.Errorf("sent again: %d, %v; want 3 and an error", n, err)
	}
	want := []string{
		`POST /v1/webhooks/w/resend  {"since":"2026-11-26T08:15:00Z","outcomes":["Successful"]}`,
		`POST /v1/webhooks/w/resend  {"since":"2026-11-26T08:15:00Z","outcomes":["Successful"],"next":"a"}`,
		`POST /v1/webhooks/w/resend  {"since":"2026-11-26T08:15:00Z"}`,
	}
	difftest.Equal(t, "requests", want, *requests)
}

func TestTrustReceiver(t *testing.T) {
	t.Parallel()
	c, requests := webhookServer(t, `{"data":{"configurationId":"c"},"messages":[]}`, `{"data":null,"messages":[]}`)
	id, err := c.TrustReceiver(t.Context(), "https://r.test", "PEM")
	if err != nil || id != "c" {
		t.Errorf("got %q, %v; want c", id, err)
	}
	if err := c.DistrustReceiver(t.Context(), id); err != nil {
		t.Error(err)
	}
	const path = "/externalauthenticationcommand/api/configuration"
	want := []string{
		"POST " + path + ` the tenant {"data":{"endpointCertificate":{"certificate":"PEM","isPublicCA":false},` +
			`"url":"https://r.test"}}`,
		"DELETE " + path + "?configurationId=c the tenant",
	}
	difftest.Equal(t, "requests", want, *requests)
}
