package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/connect/event"
	"sluice/shared/connect/webhook"
)

// Each operation on webhooks is called once with a request that it accepts, and the transport checks the reply.
func TestEveryWebhookOperationAnswersAsDescribed(t *testing.T) {
	api := beginTenant(t)
	w := api.newWebhook("https://receiver.invalid/events", "")
	one := webhooksPath + "/" + w.ID
	d := api.test(w)
	for _, c := range []platformCall{
		{"GET", webhooksPath, ""},
		{"GET", one, ""},
		{"PUT", one, `{"url":"https://receiver.invalid","enabled":true,"eventTypes":["*"]}`},
		{"GET", one + "/deliveries?limit=1&outcome=Failed", ""},
		{"GET", one + "/deliveries/" + d.ID, ""},
		{"POST", one + "/deliveries/" + d.ID + "/resend", ""},
		{"POST", one + "/resend", `{"since":"2030-01-01T00:00:00Z"}`},
		{"DELETE", one, ""},
	} {
		api.mustSend(c.method, c.path, c.body, nil)
	}
}

// The end of a batch is delivered once, as the event bus has it, and signed with the secret that the creation showed.
func TestWebhookGetsTheEndOfABatch(t *testing.T) {
	api := beginBatchTenant(t, receivers)
	r := api.newReceiver()
	w := api.newWebhook(r.URL+"/events", "")
	other := api.newWebhook(r.URL+"/other", `,"enabled":false`)
	id := api.startBatch(true, nil)
	api.follow(id)
	eventually(t, "the delivery", func() bool { return len(r.requests()) > 0 })
	got := r.requests()[0]
	if err := webhook.Verify(got.header, got.body, w.Secret, time.Now()); err != nil {
		t.Error(err)
	}
	if want := webhook.BodySignature(w.Secret, got.body); got.header.Get("x-signature") != want {
		t.Errorf("x-signature is %s, want %s", got.header.Get("x-signature"), want)
	}
	var m event.Message
	decodeStrictly(t, got.body, &m)
	assert(t, m.CausationID == id && m.Type == event.BatchRejected && m.Tenant == api.tenantID,
		"the message is %s, want the end of batch %s", got.body, id)
	d := api.ended(w, got.header.Get("x-sluice-delivery"))
	assert(t, d.summary() == "Successful -" && d.AttemptCount == 1 && d.Events[0].ID == m.ID &&
		string(d.Payload) == string(got.body), "delivery %+v, want one successful attempt to deliver %s", d, got.body)
	var list struct{ Deliveries []deliveryView }
	if api.mustSend("GET", webhooksPath+"/"+other.ID+"/deliveries", "", &list); len(list.Deliveries) != 0 {
		t.Errorf("a disabled webhook has the deliveries %+v", list.Deliveries)
	}
	if n := len(r.requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// A delivery of the type Batch brings the messages of some time in one request.
func TestBatchesOfEvents(t *testing.T) {
	api := beginBatchTenant(t, receivers)
	r := api.newReceiver()
	w := api.newWebhook(r.URL, `,"type":"Batch","batchSize":10`)
	ids := map[string]bool{}
	for range 3 {
		ids[api.startBatch(true, nil)] = true
	}
	for id := range ids {
		api.follow(id)
	}
	eventually(t, "all messages", func() bool {
		seen := 0
		for _, got := range r.requests() {
			var body struct{ Messages []event.Message }
			decodeStrictly(t, got.body, &body)
			must(t, webhook.Verify(got.header, got.body, w.Secret, time.Now()))
			for _, m := range body.Messages {
				if ids[m.CausationID] {
					seen++
				}
			}
		}
		return seen == len(ids)
	})
}

// While a secret is being replaced, deliveries are signed with both.
func TestSecretOfAWebhookIsReplaced(t *testing.T) {
	api := beginTenant(t, receivers)
	r := api.newReceiver()
	before, after := "before-"+uuid.NewString(), "after-"+uuid.NewString()
	issuedSecrets.add(before)
	issuedSecrets.add(after)
	w := api.newWebhook(r.URL, fmt.Sprintf(`,"secret":%q`, before))
	assert(t, w.Secret == "", "the reply shows the secret %q", w.Secret)
	api.mustSend("PUT", webhooksPath+"/"+w.ID, fmt.Sprintf(`{"url":%q,"enabled":true,"eventTypes":["*"],"secret":%q}`,
		r.URL, after), &w)
	assert(t, w.PreviousSecretUntil != nil && time.Until(*w.PreviousSecretUntil) >= 23*time.Hour,
		"the previous secret signs until %v, want a day", w.PreviousSecretUntil)
	api.test(w)
	got := r.requests()[0]
	for _, secret := range []string{before, after} {
		if err := webhook.Verify(got.header, got.body, secret, time.Now()); err != nil {
			t.Errorf("%s: %v", secret[:6], err)
		}
	}
	assert(t, got.header.Get("x-signature") == webhook.BodySignature(before, got.body),
		"x-signature is not made with the previous secret")
}

func TestTenWebhooks(t *testing.T) {
	api := beginTenant(t)
	statuses := api.callConcurrently(14, "POST", webhooksPath,
		func(int) string { return `{"url":"https://receiver.invalid","eventTypes":["*"]}` })
	assert(t, statuses[200] == 10 && statuses[409] == 4, "statuses %v, want 10 of 200 and 4 of 409", statuses)
}

func TestWebhooksAreOfTheirTenant(t *testing.T) {
	t.Parallel()
	w := loginNewTenant(t).newWebhook("https://receiver.invalid", "")
	stranger := loginNewTenant(t)
	for _, call := range [][2]string{{"GET", ""}, {"DELETE", ""}, {"GET", "/deliveries"}, {"POST", "/test"}} {
		stranger.expect(http.StatusNotFound, call[0], webhooksPath+"/"+w.ID+call[1], "")
	}
	reader := loginNewClient(t, "--permission", "WebhookRead")
	reader.expect(http.StatusOK, "GET", webhooksPath, "")
	reader.expect(403, "POST", webhooksPath, "{}")
}
