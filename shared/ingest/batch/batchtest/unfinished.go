package batchtest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/errtest"
)

// testBacklogs follows a batch to its end, postpones it at each status, and checks the backlogs after each step.
func testBacklogs(t *testing.T, s batch.Store) {
	expect := func(when string, want map[batch.Status]batch.Backlog) {
		t.Helper()
		got, err := s.Backlogs(t.Context())
		errtest.Fatal(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("backlogs %s (-want +got):\n%s", when, diff)
		}
	}
	expect("of no batches", map[batch.Status]batch.Backlog{})
	waiting := batch.Backlog{Batches: 39, Since: createdAt}
	for range waiting.Batches {
		create(t, s, "tenant", batch.AwaitingUpload)
	}
	expect("at first", map[batch.Status]batch.Backlog{batch.AwaitingUpload: waiting})
	b := create(t, s, "other", batch.AwaitingUpload)
	at := createdAt
	for _, transition := range transitionsToProcessed() {
		at = at.Add(time.Hour)
		transition.At = at
		errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), b.ID, transition)))
		errtest.Fatal(t, s.Postpone(t.Context(), b.ID, at.Add(time.Minute)))
		want := map[batch.Status]batch.Backlog{batch.AwaitingUpload: waiting}
		if !transition.To.IsTerminal() {
			want[transition.To] = batch.Backlog{Batches: 1, Since: at}
		}
		expect("after the transition to "+string(transition.To), want)
	}
}

func testUnfinished(t *testing.T, s batch.Store) {
	b := create(t, s, "tenant", batch.AwaitingUpload)
	other := create(t, s, "tenant", batch.AwaitingUpload)
	visits := func(before time.Time) (n int) {
		t.Helper()
		if err := s.EachUnfinished(t.Context(), before, func(id batch.ID) error {
			if id == b.ID {
				n++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	at := createdAt
	for i, transition := range transitionsToProcessed() {
		if got := [2]int{visits(at), visits(at.Add(time.Second))}; got != [2]int{0, 1} {
			t.Errorf("before transition %d: visits %v at its time and after it, want 0 and 1", i, got)
		}
		at = at.Add(time.Hour)
		errtest.Fatal(t, s.Postpone(t.Context(), b.ID, at))
		if got := [2]int{visits(at), visits(at.Add(time.Second))}; got != [2]int{0, 1} {
			t.Errorf("postponed before transition %d: visits %v, want 0 and 1", i, got)
		}
		at = at.Add(time.Hour)
		transition.At = at
		errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), b.ID, transition)))
	}
	for _, id := range []batch.ID{b.ID, newID(t)} {
		if err := s.Postpone(t.Context(), id, at); err != nil {
			t.Errorf("Postpone of a batch that has ended or does not exist: %v", err)
		}
	}
	if got := visits(at.Add(time.Hour)); got != 0 {
		t.Errorf("after the end: %d visits, want none", got)
	}
	stop := errors.New("stop")
	if err := s.EachUnfinished(t.Context(), at, func(batch.ID) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("a visit that fails: got error %v, want its own", err)
	}
	failed := batch.Transition{To: batch.Failed, At: at, ErrorMessage: "m", Expires: at.Add(time.Hour)}
	errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), other.ID, failed)))
}
