package webhookhttp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/connect/delivery"
	"sluice/shared/connect/event"
	"sluice/shared/connect/webhook"
	"sluice/shared/connect/webhook/webhookhttp"
	"sluice/shared/connect/webhook/webhooktest"
	"sluice/shared/kit/errtest"
)

const tenant = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"

// fixture serves webhooks to one caller. It stands in for the key and for the state machine.
type fixture struct {
	*testing.T
	now    time.Time
	caller httpapi.Caller
	store  webhook.Store
	// started are the names of the executions that were started.
	started  []string
	webhooks *webhookhttp.Webhooks
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{T: t, now: time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)}
	store := webhooktest.NewMemory()
	paging := errtest.Must(platform.NewPaging(make([]byte, 32)))(t)
	clock := func() time.Time { return f.now }
	f.store = store
	f.caller = httpapi.Caller{
		Tenant: tenant, Client: "c", Expires: f.now.AddDate(1, 0, 0), Permissions: []string{"WebhookRead",
			"WebhookEdit"},
	}
	f.webhooks = &webhookhttp.Webhooks{
		Store: store, Secrets: f, Paging: paging, Now: clock, NewID: webhook.NewID,
		Dispatcher: &delivery.Dispatcher{Store: store, Starter: f, Now: clock},
		Policy:     webhook.Policy{DisableAfter: 5 * 24 * time.Hour},
		NewSecret:  func() string { return "a made secret" },
	}
	return f
}

// Seal returns the tenant, the purpose and the plaintext.
func (f *fixture) Seal(_ context.Context, tenant, purpose string, plaintext []byte) ([]byte, error) {
	return []byte(tenant + " " + purpose + " " + string(plaintext)), nil
}

func (f *fixture) Start(_ context.Context, name string, _ delivery.Start) error {
	f.started = append(f.started, name)
	return nil
}

// send sends a request and returns the status and the body of the reply, which it decodes into out unless that is nil.
func (f *fixture) send(method, path, body string, out any) (int, string) {
	f.Helper()
	path, query, _ := strings.Cut(path, "?")
	values := errtest.Must(url.ParseQuery(query))(f)
	api := httpapi.API{
		Routes: f.webhooks.Routes(), Errors: httpapi.MonitoringErrors, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return f.now },
	}
	r := errtest.Must(httpapi.Lambda(api.Handler())(f.Context(), events.APIGatewayProxyRequest{
		HTTPMethod: method, Path: path, Body: body, MultiValueQueryStringParameters: values,
		Headers:        map[string]string{"Content-Type": "application/json"},
		RequestContext: events.APIGatewayProxyRequestContext{Authorizer: f.caller.Context()},
	}))(f)
	if out != nil {
		if err := json.Unmarshal([]byte(r.Body), out); err != nil {
			f.Fatalf("%s %s: %s: %v", method, path, r.Body, err)
		}
	}
	return r.StatusCode, r.Body
}

// must is send for a request that must succeed.
func (f *fixture) must(method, path, body string, out any) {
	f.Helper()
	if status, text := f.send(method, path, body, out); status != 200 {
		f.Fatalf("%s %s: %d %s, want 200", method, path, status, text)
	}
}

// create makes a webhook for all events and returns it.
func (f *fixture) create() wire.Webhook {
	f.Helper()
	var w wire.Webhook
	f.must("POST", "/v1/webhooks", `{"url":"https://receiver.test","eventTypes":["*"]}`, &w)
	return w
}

// deliver stores a delivery of a webhook that has ended with an outcome, some minutes after now.
func (f *fixture) deliver(w wire.Webhook, minutes int, outcome webhook.Outcome) webhook.Delivery {
	f.Helper()
	d, err := webhook.NewDelivery(webhook.Webhook{ID: w.ID, Tenant: tenant, Type: webhook.Type(w.Type)}, event.Message{
		ID: event.NewID(event.BatchProcessed, fmt.Sprint(w.ID, minutes)), Tenant: tenant, Type: event.BatchProcessed,
		Payload: []byte(`{"batch_id":"b"}`), When: f.now.Add(time.Duration(minutes) * time.Minute),
	}, f.now)
	errtest.Fatal(f, err)
	d.Outcome = outcome
	if outcome != webhook.Pending {
		d.EndedAt = f.now
	}
	errtest.Fatal(f, errtest.Of(f.store.CreateDelivery(f.Context(), d)))
	return d
}
