package e2e

import (
	"cmp"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice/client"
	"sluice/openapi/wire"
	"sluice/shared/connect/event"
	"sluice/shared/connect/webhook"
)

const webhooksPath = "/v1/webhooks"

// newWebhook creates a webhook for all events, with other settings.
func (s *session) newWebhook(address string, others client.WebhookSettings) client.Webhook {
	s.t.Helper()
	others.URL, others.EventTypes, others.Enabled = address, []string{"*"}, true
	others.Type, others.BatchSize = cmp.Or(others.Type, "Single"), cmp.Or(others.BatchSize, 10)
	w := ok(s.client.CreateWebhook(s.t.Context(), others))(s.t)
	if w.Secret != "" {
		issuedSecrets.add(w.Secret)
	}
	return w
}

// deliveriesOf returns the deliveries of a webhook, of which there must be a number.
func (s *session) deliveriesOf(w client.Webhook, want int) []client.Delivery {
	s.t.Helper()
	list, _, err := s.client.Deliveries(s.t.Context(), w.ID, "", 100, "")
	require(s.t, err == nil && len(list) == want, "got the deliveries %+v, %v, want %d", list, err, want)
	return list
}

// expectDelivered waits for the end of a delivery, which must be a text of its outcome and code, and returns it.
func (s *session) expectDelivered(w client.Webhook, delivery, want string) client.Delivery {
	s.t.Helper()
	d := s.followDelivery(w, delivery)
	assert(s.t, summaryOf(d) == want, "delivery %s ended with %s, want %s: %+v", delivery, summaryOf(d), want, d)
	return d
}

// followDelivery waits until a delivery has ended, whichever way.
func (s *session) followDelivery(w client.Webhook, delivery string) (d client.Delivery) {
	s.t.Helper()
	eventually(s.t, "the end of delivery "+delivery, func() bool {
		d = ok(s.client.Delivery(s.t.Context(), w.ID, delivery))(s.t)
		return d.Outcome != nil
	})
	return d
}

// delivered is the summary of a delivery that has succeeded.
const delivered = "Successful -"

// summaryOf returns the outcome and the code of a delivery.
func summaryOf(d client.Delivery) string {
	return cmp.Or(wire.OrZero(d.Outcome), "-") + " " + cmp.Or(wire.OrZero(d.Code), "-")
}

// testWebhook has a test message delivered once, with an outcome, and returns the delivery.
func (s *session) testWebhook(w client.Webhook, want string) client.Delivery {
	s.t.Helper()
	d := s.expectDelivered(w, ok(s.client.TestWebhook(s.t.Context(), w.ID))(s.t).ID, want)
	assert(s.t, d.AttemptCount == 1, "got %d attempts, want 1: %+v", d.AttemptCount, d)
	return d
}

// receiver is an HTTPS server on this machine that answers and records what it is sent.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	answer   http.HandlerFunc
	received []receivedRequest
}

// receivedRequest is a request that a receiver got.
type receivedRequest struct {
	header http.Header
	body   []byte
}

// newReceiver starts a receiver and tells the service which certificate it has.
func (s *session) newReceiver() *receiver {
	s.t.Helper()
	r := &receiver{answer: func(http.ResponseWriter, *http.Request) {}}
	r.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.mu.Lock()
		r.received = append(r.received, receivedRequest{req.Header, body})
		answer := r.answer
		r.mu.Unlock()
		answer(w, req)
	}))
	s.t.Cleanup(r.Close)
	r.Config.ErrorLog = nil
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw})
	ok(s.client.TrustReceiver(s.t.Context(), r.URL, string(certificate)))(s.t)
	return r
}

// answers sets what the receiver answers.
func (r *receiver) answers(answer http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func answerWith(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

// requests returns what the receiver got so far.
func (r *receiver) requests() []receivedRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.received)
}

// waitFor waits until the receiver has got a number of requests, and returns them.
func (r *receiver) waitFor(t *testing.T, requests int) []receivedRequest {
	t.Helper()
	eventually(t, "requests at the receiver", func() bool { return len(r.requests()) >= requests })
	return r.requests()
}

// message decodes the event that was received.
func (r receivedRequest) message(t *testing.T) (m event.Message) {
	t.Helper()
	decodeStrictly(t, r.body, &m)
	return m
}

// verify checks that a request is signed with a secret.
func (r receivedRequest) verify(t *testing.T, secret string) {
	t.Helper()
	must(t, webhook.Verify(r.header, r.body, secret, time.Now()))
}

// endBatch has a batch end without lines, and returns its ID.
func (s *session) endBatch() string {
	s.t.Helper()
	return s.expectProcess("VALIDATION_FAILED", nil).BatchID
}

// The end of a batch is delivered once, as the event bus has it, and signed with the secret that the creation showed.
func TestWebhookGetsTheEndOfABatch(t *testing.T) {
	api := beginBatchTenant(t, receivers)
	r := api.newReceiver()
	w := api.newWebhook(r.URL+"/events", client.WebhookSettings{})
	other := ok(api.client.CreateWebhook(t.Context(), client.WebhookSettings{URL: r.URL + "/other", Type: "Single",
		BatchSize: 10, EventTypes: []string{"*"}}))(t) // which is not enabled
	id := api.endBatch()
	got := r.waitFor(t, 1)[0]
	got.verify(t, w.Secret)
	equal(t, "x-signature", webhook.BodySignature(w.Secret, got.body), got.header.Get("x-signature"))
	m := got.message(t)
	assert(t, m.CausationID == id && m.Type == event.BatchRejected && m.Tenant == api.tenantID,
		"the message is %s, want the end of batch %s", got.body, id)
	d := api.expectDelivered(w, got.header.Get("x-sluice-delivery"), delivered)
	assert(t, d.AttemptCount == 1 && d.Events[0].ID == m.ID && string(d.Payload) == string(got.body),
		"delivery %+v, want one successful attempt to deliver %s", d, got.body)
	api.deliveriesOf(other, 0)
	assert(t, len(r.requests()) == 1, "got the requests %+v, want one", r.requests())
}

// A delivery of the type Batch brings the messages of some time in one request.
func TestBatchesOfEvents(t *testing.T) {
	api := beginBatchTenant(t, receivers)
	r := api.newReceiver()
	w := api.newWebhook(r.URL, client.WebhookSettings{Type: "Batch", BatchSize: 10})
	var ids []string
	for range 3 {
		ids = append(ids, api.startBatch(true, nil))
	}
	for _, id := range ids {
		api.follow(id)
	}
	eventually(t, "all messages", func() bool {
		seen := 0
		for _, got := range r.requests() {
			var body struct{ Messages []event.Message }
			decodeStrictly(t, got.body, &body)
			got.verify(t, w.Secret)
			for _, m := range body.Messages {
				if slices.Contains(ids, m.CausationID) {
					seen++
				}
			}
		}
		return seen == len(ids)
	})
}

// webhookCalls returns a call of each operation on webhooks but their creation.
func webhookCalls(api *session) []platformCall {
	w := api.newWebhook("https://receiver.invalid/events", client.WebhookSettings{})
	one := webhooksPath + "/" + w.ID
	// SAM's containers may have no server for names, so that the delivery ends with a time-out there.
	d := api.followDelivery(w, ok(api.client.TestWebhook(api.t.Context(), w.ID))(api.t).ID)
	return []platformCall{
		{"GET", webhooksPath, ""},
		{"GET", one, ""},
		{"PUT", one, `{"url":"https://receiver.invalid","enabled":true,"eventTypes":["*"]}`},
		{"GET", one + "/deliveries?limit=1&outcome=Failed", ""},
		{"GET", one + "/deliveries/" + d.ID, ""},
		{"POST", one + "/deliveries/" + d.ID + "/resend", ""},
		{"POST", one + "/resend", `{"since":"2030-01-01T00:00:00Z"}`},
		{"DELETE", one, ""},
	}
}
