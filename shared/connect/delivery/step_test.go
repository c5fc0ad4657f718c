package delivery

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"sluice/shared/connect/webhook"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/machine"
)

// A pending delivery ends when its webhook is disabled or deleted, and one that is sent again ends the run before.
func TestPendingDeliveryEnds(t *testing.T) {
	t.Parallel()
	s := newSimulation(t)
	s.answerWith(500)
	w := s.create("w1", nil)
	s.create("w2", nil)
	s.create("w3", nil)
	s.send("b")
	s.runUntil(start.Add(6 * time.Second))
	w.Version, w.Enabled = 1, false
	errtest.Fatal(t, errtest.Of(s.store.Save(t.Context(), w, false)))
	errtest.Fatal(t, s.store.Delete(t.Context(), s.tenant, "w2"))
	s.answerWith(200)
	difftest.Equal(t, "sent again: run", 2,
		errtest.Must(s.dispatcher.Resend(t.Context(), s.deliveries("w3")[0]))(t).Run)
	s.runUntil(start.Add(time.Hour))
	for id, want := range map[string]string{"w1": "Failed webhook_disabled", "w2": "Failed webhook_deleted",
		"w3": "Successful "} {
		d := s.deliveries(id)[0]
		difftest.Equal(t, id, want, string(d.Outcome)+" "+d.Code)
	}
	difftest.Equal(t, "attempts: two of the first run and one of the second", 3, s.deliveries("w3")[0].AttemptCount)
	difftest.Equal(t, "calls are to come", 0, len(s.queue))
}

// Errors at which the state machine cannot go on have names.
func TestGiveUp(t *testing.T) {
	t.Parallel()
	s := newSimulation(t)
	s.create("w1", nil)
	s.send("b")
	in := s.queue[0].in
	in.Failure = &machine.Failure{Error: "Transient", Cause: "secret cause"}
	for range 2 {
		if out, err := s.step.Handle(t.Context(), in); err != nil || !out.Done {
			t.Errorf("got %+v, %v; want done", out, err)
		}
	}
	d := s.deliveries("w1")[0]
	difftest.Equal(t, "the delivery", []any{webhook.Failed, webhook.CodeInterrupted, 0},
		[]any{d.Outcome, d.Code, len(s.received)})
	in.DeliveryID = "unknown"
	if out, err := s.step.Handle(t.Context(), in); err != nil || !out.Done {
		t.Errorf("a delivery that has expired: %+v, %v; want done", out, err)
	}
}

// An execution that was stopped leaves no delivery pending; anything that is not known is an error.
func TestHandleInput(t *testing.T) {
	t.Parallel()
	s := newSimulation(t)
	s.create("w1", nil)
	s.send("b")
	input := errtest.Must(json.Marshal(s.queue[0].in))(t)
	stopped := func(source, input string) string {
		return fmt.Sprintf(`{"detail-type":"Step Functions Execution Status Change","source":%q,`+
			`"detail":{"status":"ABORTED","input":%q}}`,
			source, input)
	}
	for _, test := range []struct {
		name, input string
		ok          bool
		code        string
	}{
		{"not JSON", `{`, false, ""},
		{"another event", `{"detail-type":"Scheduled Event"}`, false, ""},
		{"an event of others", stopped("aws.s3", string(input)), false, ""},
		{"an event without an input", stopped("aws.states", "{}"), false, ""},
		{"an execution that was stopped", stopped("aws.states", string(input)), true, webhook.CodeInterrupted},
		{"the same again", stopped("aws.states", string(input)), true, webhook.CodeInterrupted},
		{"the state after it", string(input), true, webhook.CodeInterrupted},
	} {
		out, err := s.step.HandleInput(t.Context(), []byte(test.input))
		if (err == nil) != test.ok || test.ok && !out.Done {
			t.Errorf("%s: %+v, %v; want done: %v", test.name, out, err, test.ok)
		}
		if d := s.deliveries("w1")[0]; d.Code != test.code {
			t.Errorf("%s: the delivery has the code %q, want %q", test.name, d.Code, test.code)
		}
	}
	difftest.Equal(t, "requests", 0, len(s.received))
}
