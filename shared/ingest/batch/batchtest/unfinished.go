package batchtest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// testBacklogs follows a batch to its end, postpones it at each status, and checks the backlogs after each step.
func testBacklogs(t *testing.T, s batch.Store) {
	expect := func(when string, want map[batch.Status]batch.Backlog) {
		t.Helper()
		difftest.Equal(t, "backlogs "+when, want, errtest.Must(s.Backlogs(t.Context()))(t))
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
		difftest.Equal(t, fmt.Sprintf("before transition %d: visits: at its time and after it", i), [2]int{0, 1},
			[2]int{visits(at), visits(at.Add(time.Second))})
		at = at.Add(time.Hour)
		errtest.Fatal(t, s.Postpone(t.Context(), b.ID, at))
		difftest.Equal(t, fmt.Sprintf("postponed before transition %d: visits", i), [2]int{0, 1},
			[2]int{visits(at), visits(at.Add(time.Second))})
		at = at.Add(time.Hour)
		transition.At = at
		errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), b.ID, transition)))
	}
	for _, id := range []batch.ID{b.ID, newID(t)} {
		errtest.Is(t, "Postpone of a batch that has ended or does not exist", s.Postpone(t.Context(), id, at), nil)
	}
	difftest.Equal(t, "after the end: visits", 0, visits(at.Add(time.Hour)))
	stop := errors.New("stop")
	errtest.Is(t, "a visit that fails",
		s.EachUnfinished(t.Context(), at, func(batch.ID) error { return stop }), stop)
	failed := batch.Transition{To: batch.Failed, At: at, ErrorMessage: "m", Expires: at.Add(time.Hour)}
	errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), other.ID, failed)))
}
