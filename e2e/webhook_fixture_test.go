package e2e

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

const webhooksPath = "/v1/webhooks"

// webhookView is what these tests read of a webhook.
type webhookView struct {
	ID, Name, URL, Secret, Type                               string
	Enabled                                                   bool
	EventTypes                                                []string
	BatchSize                                                 int
	PreviousSecretUntil, FailingSince, DisablesAt, DisabledAt *time.Time
	DisabledReason                                            *string
}

// deliveryView is what these tests read of a delivery.
type deliveryView struct {
	ID                     string
	Events                 []struct{ ID, EventType string }
	Outcome, Code, Message *string
	NextAttemptAt          *time.Time
	Run, AttemptCount      int
	Attempts               []struct {
		Outcome      string
		Code, Answer *string
		Status       *int
	}
	Payload json.RawMessage
}

// summary returns the outcome and the code of a delivery.
func (d deliveryView) summary() string {
	text := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	return text(d.Outcome) + " " + text(d.Code)
}

// mustSend sends a call of the monitoring interface that must succeed, and decodes the reply into out unless that is
// nil.
func (s *session) mustSend(method, path, body string, out any) {
	s.t.Helper()
	s.expectReply(http.StatusOK, method, path, body, out)
}

// sendFor is mustSend for a reply of a type.
func sendFor[V any](s *session, method, path, body string) (v V) {
	s.t.Helper()
	s.mustSend(method, path, body, &v)
	return v
}

// newWebhook creates a webhook for all events. The other fields are JSON members, each with a leading comma.
func (s *session) newWebhook(address, others string) webhookView {
	s.t.Helper()
	w := sendFor[webhookView](s, "POST", webhooksPath, fmt.Sprintf(`{"url":%q,"eventTypes":["*"]%s}`, address, others))
	if w.Secret != "" {
		issuedSecrets.add(w.Secret)
	}
	return w
}

// onlyDelivery returns the delivery of a webhook that has one.
func (s *session) onlyDelivery(w webhookView) deliveryView {
	s.t.Helper()
	list := sendFor[struct{ Deliveries []deliveryView }](s, "GET", webhooksPath+"/"+w.ID+"/deliveries", "")
	require(s.t, len(list.Deliveries) == 1, "%d deliveries, want 1: %+v", len(list.Deliveries), list.Deliveries)
	return list.Deliveries[0]
}

// ended waits for the end of a delivery and returns it.
func (s *session) ended(w webhookView, delivery string) deliveryView {
	s.t.Helper()
	var d deliveryView
	eventually(s.t, "the end of delivery "+delivery, func() bool {
		d = deliveryView{}
		s.mustSend("GET", webhooksPath+"/"+w.ID+"/deliveries/"+delivery, "", &d)
		return d.Outcome != nil
	})
	return d
}

// test has a test message delivered and returns the delivery once it has ended.
func (s *session) test(w webhookView) deliveryView {
	s.t.Helper()
	d := sendFor[deliveryView](s, "POST", webhooksPath+"/"+w.ID+"/test", "")
	return s.ended(w, d.ID)
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
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw}))
	s.newConfiguration(fmt.Sprintf(`{"url":%q,"endpointCertificate":{"isPublicCA":false,"certificate":%s}}`, r.URL,
		jsonText(certificate)))
	return r
}

// answers sets what the receiver answers.
func (r *receiver) answers(answer http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// requests returns what the receiver got so far.
func (r *receiver) requests() []receivedRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]receivedRequest(nil), r.received...)
}
