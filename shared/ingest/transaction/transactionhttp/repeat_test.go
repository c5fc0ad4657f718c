package transactionhttp_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/access/idempotency"
	"sluice/shared/access/idempotency/idempotencytest"
)

// A transaction that was stored by a function which was killed then is not stored again, and does not become the newest
// version once more if another content has been sent since.
func TestSingleTransactionAgain(t *testing.T) {
	s := newSingles(t)
	keys := idempotencytest.NewMemory()
	s.Idempotency = &idempotency.Keys{Store: keys, Now: func() time.Time { return s.now }, NewRun: uuid.NewString}
	isKilled := true
	keys.Fault = func(method string) (before, after error) {
		if isKilled && method == "Finish" {
			return errors.New("killed"), nil
		}
		return nil, nil
	}
	first := s.post(t, single(), "Idempotency-Key", "k")
	isKilled = false
	s.now = now.Add(time.Second)
	if r := s.post(t, single("12.50", "13"), "Idempotency-Key", "k2"); r.StatusCode != 201 {
		t.Fatalf("another content: got %d %s, want 201", r.StatusCode, r.Body)
	}
	s.now = now.Add(time.Minute)
	for i, wantReplayed := range []int{0, 1, 1} {
		again := s.post(t, single(), "Idempotency-Key", "k")
		replayed := again.MultiValueHeaders["Idempotency-Replayed"]
		if again.StatusCode != 201 || again.Body != first.Body || len(replayed) != wantReplayed {
			t.Errorf("repetition %d: got %d %s, replayed %v; want 201 %s", i, again.StatusCode, again.Body, replayed,
				first.Body)
		}
	}
	if got := s.stored(t); len(got) != 2 || string(got[1].Text) != single("12.50", "13") {
		t.Errorf("%d versions are stored, the newest is %s; want 2, and the other content", len(got),
			got[1].Text)
	}

	if r := s.post(t, single(), "Idempotency-Key", "k", "migrated-transaction", "true"); r.StatusCode != 422 {
		t.Errorf("with another header: got %d %s, want 422", r.StatusCode, r.Body)
	}
	if r := s.post(t, single(`"known"`, `"new"`), "Idempotency-Key", "k3"); r.StatusCode != 400 {
		t.Errorf("an entity that is not onboarded: got %d %s, want 400", r.StatusCode, r.Body)
	}
	if r := s.post(t, single("12.50", "14"), "Idempotency-Key", "k3"); r.StatusCode != 201 {
		t.Errorf("the key of a refused transaction: got %d %s, want 201", r.StatusCode, r.Body)
	}
}
