package delivery

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/shared/connect/event"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/webhook"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// One event goes once to each webhook that wants it, signed, however often it is announced.
func TestEventIsDeliveredOnce(t *testing.T) {
	t.Parallel()
	s := newSimulation(t)
	s.create("w1", nil)
	s.create("w2", func(w *webhook.Webhook) { w.EventTypes = []string{string(event.BatchProcessed)} })
	s.create("w3", func(w *webhook.Webhook) { w.EventTypes = []string{string(event.BatchFailed)} })
	s.create("w4", func(w *webhook.Webhook) { w.Enabled = false })
	m := s.newMessage("b")
	for range 3 {
		errtest.Fatal(t, s.dispatcher.Send(t.Context(), m))
	}
	s.runUntil(start.Add(time.Hour))
	if err := s.dispatcher.Send(t.Context(), m); err != nil { // and once more after it was delivered
		t.Fatal(err)
	}
	s.runUntil(start.Add(2 * time.Hour))
	if len(s.received) != 2 || s.received[0].delivery == s.received[1].delivery {
		t.Fatalf("the receivers got %d requests, want 2 with different deliveries", len(s.received))
	}
	for _, id := range []string{"w1", "w2"} {
		d := s.deliveries(id)
		if len(d) != 1 || d[0].Outcome != webhook.Successful || d[0].AttemptCount != 1 {
			t.Errorf("%s has the deliveries %+v, want one that was successful at once", id, d)
			continue
		}
		for _, r := range s.received {
			if r.delivery != d[0].ID {
				continue
			}
			errtest.Is(t, id, webhook.Verify(r.header, []byte(r.body), "secret of "+id, start), nil)
			if text, _ := m.Encode(); r.body != string(text) {
				t.Errorf("%s got %s, want %s", id, r.body, text)
			}
		}
	}
	for _, id := range []string{"w3", "w4"} {
		if d := s.deliveries(id); len(d) != 0 {
			t.Errorf("%s has %d deliveries, want none", id, len(d))
		}
	}
}

// Each bad day of a receiver has an outcome with a name, and is recorded with the attempt.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) func(*http.Request, []byte) (*outbound.Reply, error) {
		return func(*http.Request, []byte) (*outbound.Reply, error) {
			return &outbound.Reply{Status: status, Body: []byte(body)}, nil
		}
	}
	refuse := func(reason outbound.Reason) func(*http.Request, []byte) (*outbound.Reply, error) {
		return func(*http.Request, []byte) (*outbound.Reply, error) {
			return nil, &outbound.Error{Reason: reason, Message: "It says why."}
		}
	}
	for _, test := range []struct {
		name    string
		answer  func(*http.Request, []byte) (*outbound.Reply, error)
		outcome webhook.Outcome
		code    string
		message string
		retried bool
	}{
		{"200", answer(200, "ok\x00\xff"), webhook.Successful, "", "", false},
		{"204", answer(204, ""), webhook.Successful, "", "", false},
		{"large", answer(200, strings.Repeat("x", 64<<10)), webhook.Successful, "", "", false},
		{"302", answer(302, ""), webhook.Failed, "redirect",
			"The receiver answered 302. Redirects are not followed: set the URL that they lead to.", true},
		{"404", answer(404, ""), webhook.Failed, "status", "The receiver answered 404.", true},
		{"410", answer(410, ""), webhook.Failed, "gone", "The receiver answered 410, which disables the webhook.",
			false},
		{"500", answer(500, ""), webhook.Failed, "status", "The receiver answered 500.", true},
		{"slow", refuse(outbound.TimedOut), webhook.TimedOut, "timed_out", "It says why.", true},
		{"private address", refuse(outbound.AddressRefused), webhook.Failed, "address_refused", "It says why.", true},
		{"expired certificate", refuse(outbound.CertificateRefused), webhook.Failed, "certificate_refused",
			"It says why.", true},
		{"reset", refuse(outbound.ConnectionFailed), webhook.Failed, "connection_failed", "It says why.", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSimulation(t)
			s.create("w1", nil)
			s.answer = test.answer
			s.send("b")
			s.runUntil(start.Add(time.Second))
			d := s.deliveries("w1")[0]
			a := d.Attempts[0]
			if a.Outcome != test.outcome || a.Code != test.code || a.Message != test.message || a.Number != 1 {
				t.Errorf("attempt %+v, want outcome %s, code %s, %s", a, test.outcome, test.code, test.message)
			}
			if len(a.Answer) > webhook.MaxAnswerBytes || strings.Contains(a.Answer, "\x00") {
				t.Errorf("the answer is kept as %q", a.Answer)
			}
			difftest.Equal(t, "the delivery is pending", test.retried, d.Outcome == webhook.Pending)
			if want := start.Add(5 * time.Second); test.retried && !d.NextAttemptAt.Equal(want) {
				t.Errorf("the next attempt is at %v, want %v", d.NextAttemptAt, want)
			}
			if !test.retried && (d.Outcome != test.outcome || d.Code != test.code) {
				t.Errorf("the delivery is %s (%s), want %s (%s)", d.Outcome, d.Code, test.outcome, test.code)
			}
			s.runUntil(start.Add(25 * time.Hour))
			if d = s.deliveries("w1")[0]; d.Outcome != test.outcome || d.Code != test.code ||
				!d.NextAttemptAt.IsZero() {
				t.Errorf("after a day the delivery is %q (%s), want %s (%s)", d.Outcome, d.Code, test.outcome,
					test.code)
			}
			if (d.AttemptCount > 30) != test.retried {
				t.Errorf("%d attempts, want more than 30: %v", d.AttemptCount, test.retried)
			}
			if w := s.webhook("w1"); w.Enabled != (test.code != "gone") {
				t.Errorf("the webhook is enabled: %v (%+v)", w.Enabled, w.Health)
			}
		})
	}
}

// A receiver that is down for ten minutes gets all thousand events, each once, when it is back.
func TestThousandEventsWhileTheReceiverIsDown(t *testing.T) {
	t.Parallel()
	s := newSimulation(t)
	s.create("w1", nil)
	const events = 1000
	down := start.Add(10 * time.Minute)
	s.answer = func(*http.Request, []byte) (*outbound.Reply, error) {
		if s.now.Before(down) {
			return nil, &outbound.Error{Reason: outbound.ConnectionFailed, Message: "The receiver refuses connections."}
		}
		return &outbound.Reply{Status: 200}, nil
	}
	for i := range events {
		s.now = start.Add(time.Duration(i) * time.Millisecond)
		s.send(fmt.Sprint("b", i))
	}
	s.runUntil(start.Add(time.Hour))
	got := map[string]int{}
	for _, r := range s.received {
		if !r.at.Before(down) {
			got[r.delivery]++
		}
	}
	for id, n := range got {
		difftest.Equal(t, "times that delivery "+id+" was received", 1, n)
	}
	outcomes := map[webhook.Outcome]int{}
	for _, d := range s.deliveries("w1") {
		outcomes[d.Outcome]++
	}
	if len(got) != events || outcomes[webhook.Successful] != events {
		t.Errorf("%d deliveries were received, outcomes %v; want %d successful", len(got), outcomes, events)
	}
	if w := s.webhook("w1"); w.Health != (webhook.Health{}) || !w.Enabled {
		t.Errorf("the webhook's health is %+v, want none", w.Health)
	}
	t.Logf("%d requests for %d events", len(s.received), events)
}

// A webhook to which nothing has succeeded for five days is disabled when a delivery is given up, and announced. What
// happens meanwhile is recorded. Once it is enabled and works again, the tenant is told from when on to send again.
func TestFailingForDays(t *testing.T) {
	t.Parallel()
	s := newSimulation(t)
	s.create("w1", nil)
	s.create("w2", func(w *webhook.Webhook) {
		w.EventTypes = []string{string(event.WebhookDisabled), string(event.WebhookRecovered)}
	})
	bad := true
	s.answer = func(r *http.Request, _ []byte) (*outbound.Reply, error) {
		if bad && strings.HasSuffix(r.URL.Path, "w1") {
			return &outbound.Reply{Status: 500}, nil
		}
		return &outbound.Reply{Status: 200}, nil
	}
	for day := range 7 {
		s.runUntil(start.Add(time.Duration(day) * 24 * time.Hour))
		s.send(fmt.Sprint("day", day))
		if w := s.webhook("w1"); w.Enabled != (day < 5) {
			t.Errorf("on day %d the webhook is enabled: %v, %+v", day, w.Enabled, w.Health)
		}
	}
	s.runUntil(start.Add(7 * 24 * time.Hour))
	w := s.webhook("w1")
	fifth := start.Add(5 * 24 * time.Hour)
	if w.Health.DisabledReason != webhook.ReasonFailing || !w.Health.FailingSince.Equal(start) ||
		w.Health.DisabledAt.Before(fifth) {
		t.Errorf("health %+v, want disabled as failing since %v", w.Health, start)
	}
	codes := ""
	for _, d := range s.deliveries("w1") {
		codes += string(d.Outcome) + " " + d.Code + ";"
	}
	difftest.Equal(t, "outcomes",
		strings.Repeat("Failed status;", 5)+"Failed webhook_disabled;Failed webhook_disabled;", codes)
	if len(s.announced) != 1 || s.announced[0].Type != event.WebhookDisabled || len(s.deliveries("w2")) != 1 {
		t.Fatalf("announced %+v, want once that the webhook is disabled", s.announced)
	}
	var p WebhookPayload
	if err := json.Unmarshal(s.announced[0].Payload, &p); err != nil || p.WebhookID != "w1" || p.Reason != "failing" {
		t.Errorf("payload %s", s.announced[0].Payload)
	}

	bad = false
	w.Enable()
	w = errtest.Must(s.store.Save(t.Context(), w, true))(t)
	for _, d := range s.deliveries("w1") {
		errtest.Fatal(t, errtest.Of(s.dispatcher.Resend(t.Context(), d)))
	}
	s.runUntil(s.now.Add(time.Hour))
	for _, d := range s.deliveries("w1") {
		difftest.Equal(t, "sent again", []any{webhook.Successful, 2}, []any{d.Outcome, d.Run})
	}
}

func TestRecovered(t *testing.T) {
	t.Parallel()
	s := newSimulation(t)
	s.create("w1", nil)
	s.answerWith(503)
	s.send("lost")
	s.runUntil(start.Add(25 * time.Hour))
	s.answerWith(200)
	s.send("first")
	s.send("second")
	s.runUntil(s.now.Add(time.Hour))
	if len(s.announced) != 1 || s.announced[0].Type != event.WebhookRecovered {
		t.Fatalf("announced %+v, want once that the webhook has recovered", s.announced)
	}
	var p WebhookPayload
	err := json.Unmarshal(s.announced[0].Payload, &p)
	if err != nil || !p.FailingSince.Equal(start) || !p.GivenUpSince.Equal(start.Add(24*time.Hour)) ||
		p.RecoveredAt.IsZero() {
		t.Errorf("payload %s, %v; want the dates of the failure", s.announced[0].Payload, err)
	}
	if h := s.webhook("w1").Health; h != (webhook.Health{}) {
		t.Errorf("health %+v, want none", h)
	}
	difftest.Equal(t, "deliveries: that the webhook has recovered is delivered to itself, too", 4,
		len(s.deliveries("w1")))
}

// A delivery of the type Batch is sent when it is full, or a minute after its first message.
func TestBatches(t *testing.T) {
	t.Parallel()
	s := newSimulation(t)
	s.create("w1", func(w *webhook.Webhook) { w.Type = webhook.Batch })
	for i := range 25 {
		s.send(fmt.Sprint("b", i))
		s.send(fmt.Sprint("b", i))
	}
	s.runUntil(start.Add(30 * time.Second))
	difftest.Equal(t, "full deliveries were sent at once", 2, len(s.received))
	s.runUntil(start.Add(2 * time.Minute))
	if len(s.received) != 3 || !s.received[2].at.Equal(start.Add(time.Minute)) {
		t.Fatalf("%d deliveries, want the third after a minute", len(s.received))
	}
	seen := map[string]bool{}
	for i, want := range []int{10, 10, 5} {
		var body struct{ Messages []event.Message }
		if err := json.Unmarshal([]byte(s.received[i].body), &body); err != nil || len(body.Messages) != want {
			t.Errorf("delivery %d has %d messages, %v; want %d", i, len(body.Messages), err, want)
		}
		for _, m := range body.Messages {
			seen[m.ID] = true
		}
	}
	difftest.Equal(t, "different messages", 25, len(seen))
	s.send("later")
	s.runUntil(start.Add(time.Hour))
	difftest.Equal(t, "deliveries", 4, len(s.received))
}

// While a secret is being replaced, deliveries are signed with both.
func TestSecretIsReplaced(t *testing.T) {
	t.Parallel()
	s := newSimulation(t)
	w := s.create("w1", nil)
	w.Version = 1
	w.ReplaceSecret([]byte("new"), s.now)
	errtest.Fatal(t, errtest.Of(s.store.Save(t.Context(), w, false)))
	verify := func(secret string) error {
		r := s.received[len(s.received)-1]
		return webhook.Verify(r.header, []byte(r.body), secret, s.now)
	}
	s.send("b1")
	s.runUntil(s.now)
	if err1, err2 := verify("new"), verify("secret of w1"); err1 != nil || err2 != nil {
		t.Errorf("new secret: %v, previous one: %v; want both to be genuine", err1, err2)
	}
	s.now = s.now.Add(webhook.SecretOverlap)
	s.send("b2")
	s.runUntil(s.now)
	if err1, err2 := verify("new"), verify("secret of w1"); err1 != nil || err2 == nil {
		t.Errorf("a day later, new secret: %v, previous one: %v; want the new one alone", err1, err2)
	}
}

// A test is delivered at once, whether or not the webhook is enabled, is not tried again, and changes no health.
func TestTest(t *testing.T) {
	t.Parallel()
	s := newSimulation(t)
	w := s.create("w1", func(w *webhook.Webhook) {
		w.Enabled, w.EventTypes = false,
			[]string{string(event.BatchFailed)}
	})
	s.answerWith(410)
	d := errtest.Must(s.dispatcher.SendTest(t.Context(), w, "test 1"))(t)
	s.runUntil(start.Add(time.Hour))
	got, err := s.store.GetDelivery(t.Context(), s.tenant, "w1", d.ID)
	if err != nil || got.Outcome != webhook.Failed || got.AttemptCount != 1 ||
		got.Messages[0].Type != event.WebhookTest {
		t.Errorf("got %+v, %v; want one failed attempt", got, err)
	}
	if w := s.webhook("w1"); w.Health != (webhook.Health{}) {
		t.Errorf("health %+v, want none", w.Health)
	}
	if err := s.dispatcher.Send(t.Context(), event.Message{
		ID: "e", Tenant: s.tenant, Type: event.WebhookTest, Payload: []byte("{}"), When: s.now,
	}); err != nil || len(s.deliveries("w1")) != 1 {
		t.Errorf("a test that is announced has %d deliveries, %v; want 1", len(s.deliveries("w1")), err)
	}
}
