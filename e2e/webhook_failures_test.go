package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/client"
	"sluice/openapi/wire"
	"sluice/shared/connect/event"
	"sluice/shared/connect/webhook"
)

// A receiver that fails for a while gets the delivery later; its attempts are shown, and it can be sent again.
func TestWebhookIsTriedAgain(t *testing.T) {
	api := beginBatchTenant(t, receivers)
	r := api.newReceiver()
	w := api.newWebhook(r.URL, client.WebhookSettings{})
	r.answers(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "overloaded")
	})
	started := time.Now()
	api.endBatch()
	first := r.waitFor(t, 1)[0]
	r.answers(answerWith(http.StatusAccepted))
	d := api.expectDelivered(w, first.header.Get("x-sluice-delivery"), delivered)
	require(t, len(d.Attempts) >= 2, "delivery %+v, want a failed and a successful attempt", d)
	failed, last := d.Attempts[0], d.Attempts[len(d.Attempts)-1]
	assert(t, wire.OrZero(failed.Status) == 503 && wire.OrZero(failed.Code) == "status" &&
		wire.OrZero(failed.Answer) == "overloaded" && wire.OrZero(last.Status) == 202,
		"attempts %+v, want 503 overloaded first and 202 last", d.Attempts)
	before := len(r.requests())
	resent := ok(api.client.ResendSince(t.Context(), w.ID, started.Add(-time.Minute), "Successful"))(t)
	again := r.waitFor(t, before+1)[before]
	assert(t, resent == 1 && again.header.Get("x-sluice-delivery") == d.ID && string(again.body) == string(d.Payload),
		"%d deliveries were sent again, the first with %v, want %s", resent, again.header, d.ID)
	d = api.expectDelivered(w, d.ID, delivered)
	assert(t, d.Run == 2, "sent again in run %d, want 2", d.Run)
}

// The addresses and certificates of receivers are checked, and failures have an outcome that the tenant sees.
func TestFailuresOfReceivers(t *testing.T) {
	api := beginTenant(t, receivers)
	r := api.newReceiver()
	r.answers(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://169.254.169.254/latest/meta-data")
		w.WriteHeader(307)
	})
	for address, want := range map[string]string{
		r.URL: "Failed redirect",
		"https" + strings.TrimPrefix(api.environment.APIURL, "http"):    "Failed tls_failed",
		"https://localhost" + r.URL[strings.LastIndexByte(r.URL, ':'):]: "Failed certificate_refused",
		"https://169.254.169.254/":                                      "Failed address_refused",
		"https://receiver.invalid/":                                     "Failed name_not_found",
	} {
		t.Run(want, func(t *testing.T) {
			s := api.in(t)
			s.testWebhook(s.newWebhook(address, client.WebhookSettings{}), want)
		})
	}
}

// 410 to a delivery disables the webhook. What happens then is recorded and can be sent again.
func TestGoneDisablesAWebhook(t *testing.T) {
	api := beginBatchTenant(t, receivers)
	r := api.newReceiver()
	w := api.newWebhook(r.URL, client.WebhookSettings{})
	watcher := api.newWebhook(r.URL+"/watcher", client.WebhookSettings{})
	r.answers(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/watcher" {
			w.WriteHeader(http.StatusGone)
		}
	})
	api.endBatch()
	eventually(t, "the end of the webhook", func() bool {
		w = ok(api.client.Webhook(t.Context(), w.ID))(t)
		return !w.Enabled
	})
	assert(t, wire.OrZero(w.DisabledReason) == "gone" && w.DisabledAt != nil, "disabled: %+v, want the reason gone", w)
	eventually(t, "the event that it is disabled", func() bool {
		return slices.ContainsFunc(r.requests(), func(got receivedRequest) bool {
			m := got.message(t)
			return m.Type == event.WebhookDisabled && m.CausationID == w.ID &&
				webhook.Verify(got.header, got.body, watcher.Secret, time.Now()) == nil
		})
	})
	api.endBatch()
	var list []client.Delivery
	eventually(t, "the delivery that is only recorded", func() bool {
		list, _, _ = api.client.Deliveries(t.Context(), w.ID, "", 100, "")
		return len(list) == 2
	})
	equal(t, "the newer delivery", "Failed webhook_disabled", summaryOf(list[0]))
	long := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	_, err := api.client.ResendSince(t.Context(), w.ID, long)
	expectRefused(t, 409, err)
	r.answers(answerWith(200))
	w.Enabled = true
	ok(api.client.UpdateWebhook(t.Context(), w.ID, w.Settings()))(t)
	resent := ok(api.client.ResendSince(t.Context(), w.ID, long))(t)
	assert(t, resent == 2, "%d deliveries are sent again, want 2", resent)
	for _, d := range list {
		api.expectDelivered(w, d.ID, delivered)
	}
}

// A delivery whose execution is stopped ends all the same, and can be sent again.
func TestStoppedDelivery(t *testing.T) {
	api := beginBatchTenant(t, receivers)
	r := api.newReceiver()
	r.answers(answerWith(500))
	w := api.newWebhook(r.URL, client.WebhookSettings{})
	api.endBatch()
	r.waitFor(t, 1)
	d := api.deliveriesOf(w, 1)[0]
	stopExecution(t, environment, "delivery", d.Events[0].ID+"_"+w.ID)
	api.expectDelivered(w, d.ID, "Failed interrupted")
	r.answers(answerWith(200))
	ok(api.client.ResendDelivery(t.Context(), w.ID, d.ID))(t)
	api.expectDelivered(w, d.ID, delivered)
}

// The commands walk through the life of a webhook.
func TestWebhookCommands(t *testing.T) {
	c := beginTenant(t, receivers)
	secret := writeFile(t, "secret", "a secret of the tenant\n")
	created := c.run(0, "webhooks", "create", "https://receiver.invalid/events", "--name", "events", "--secret-file",
		secret, "--event", "batchtransaction:ingestionFailed", "--event", "batchtransaction:ingestionValidation_failed",
		"--json")
	var w client.Webhook
	must(t, json.Unmarshal([]byte(created), &w))
	require(t, w.Secret == "" && len(w.EventTypes) == 2, "created %s, want two types of events and no secret", created)
	c.run(2, "webhooks", "create", "http://receiver.invalid")
	c.runFor(0, []string{w.ID + "  enabled  https://receiver.invalid/events"}, "webhooks", "list")
	c.runFor(1, []string{"could not be looked up"}, "webhooks", "test", w.ID)
	r := c.newReceiver()
	c.runFor(0, []string{"disabled", "ingestionFailed", "events"}, // the rest is as it was
		"webhooks", "update", w.ID, "--url", r.URL, "--type", "Single", "--disable")
	c.run(2, "webhooks", "update", w.ID, "--enable", "--disable")
	c.run(0, "webhooks", "update", w.ID, "--enable")
	c.runFor(0, []string{"Successful"}, "webhooks", "test", w.ID)
	var failed client.Delivery
	must(t, json.Unmarshal([]byte(c.run(0, "webhooks", "deliveries", w.ID, "--outcome", "Failed", "--json")), &failed))
	equal(t, "the failed delivery", "Failed name_not_found", summaryOf(failed))
	c.runFor(0, []string{`"eventType": "webhook:test"`}, "webhooks", "deliveries", w.ID, failed.ID)
	c.run(0, "webhooks", "resend", w.ID, failed.ID)
	c.expectDelivered(w, failed.ID, delivered)
	sent := c.run(0, "webhooks", "resend", w.ID, "--since", "1h", "--outcome", "Successful")
	equal(t, "sent again since an hour", "2 sent again\n", sent)
	c.run(2, "webhooks", "resend", w.ID)
	c.run(2, "webhooks", "resend", w.ID, "--since", "yesterday")
	c.run(0, "webhooks", "delete", w.ID)
	c.run(2, "webhooks", "get", w.ID)
}

// listen prints what arrives, forwards it, and leaves nothing when it ends.
func TestListen(t *testing.T) {
	c := beginTenant(t, receivers)
	c.enableBatches()
	r := c.newReceiver()
	plain := httptest.NewServer(r.Config.Handler) // the same receiver without TLS
	defer plain.Close()
	var stdout outputBuffer
	p := c.startCommand(nil, &stdout, "listen", "--json", "--forward", plain.URL, "--event",
		"batchtransaction:ingestionValidation_failed")
	webhooks := func() []client.Webhook { return ok(c.client.Webhooks(t.Context()))(t) }
	must(t, p.waitFor(patience, func() bool { return len(webhooks()) == 1 }))
	id := c.startBatch(true, nil)
	must(t, p.waitFor(patience, func() bool { return strings.Contains(stdout.String(), "\n") }))
	got := r.requests()
	require(t, len(got) == 1 && string(got[0].body)+"\n" == stdout.String() &&
		got[0].header.Get("x-sluice-signature") != "", "forwarded %+v, want %s with its headers", got, stdout.String())
	m := got[0].message(t)
	assert(t, m.CausationID == id && m.Type == event.BatchRejected, "printed %+v, want the end of batch %s", m, id)
	must(t, p.stop(syscall.SIGINT))
	want := "listening to batchtransaction:ingestionValidation_failed at "
	assert(t, strings.HasPrefix(p.output.String(), want), "printed %q on standard error, want %q", p.output, want)
	left, configurations := webhooks(), callFor[[]any](c, "GET", externalAuthQueries+"/getAll", "")
	assert(t, len(left) == 0 && len(configurations) == 1, // that of the receiver
		"the webhooks %+v and configurations %+v are left, want none and one", left, configurations)
}

// The commands of docs/webhooks.md work as they are.
func TestWebhookGuide(t *testing.T) {
	c := beginTenant(t, receivers)
	r := c.newReceiver()
	c.runGuide("docs/webhooks.md", []string{"RECEIVER=" + r.URL + "/events"}, `"outcome": "Successful"`,
		`"eventType": "webhook:test"`, `"resent": 1`, `"previousSecretUntil": "2`)
	r.waitFor(t, 2)
}
