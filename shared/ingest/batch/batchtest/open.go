package batchtest

import (
	"testing"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/errtest"
)

// testOpen follows a batch to each of its ends, beside another one, and counts what is open.
func testOpen(t *testing.T, s batch.Store) {
	const tenant = "open"
	enough := batch.OpenWork{Batches: 100, UnvalidatedBytes: 1 << 60}
	expect := func(what string, want batch.OpenWork) {
		t.Helper()
		got, err := s.CountOpen(t.Context(), tenant, enough)
		errtest.Fatal(t, err)
		if got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	expect("no batch", batch.OpenWork{})
	create(t, s, "another", batch.AwaitingUpload)
	create(t, s, tenant, batch.Processed)
	create(t, s, tenant, batch.AwaitingUpload)
	expect("one batch", batch.OpenWork{Batches: 1})
	plan := chunk.NewPlan(1000, 100)
	for _, way := range [][]batch.Transition{
		{{To: batch.Uploaded, Object: &batch.Object{Key: "k", Size: 1000}}, {To: batch.ValidationStarted, Plan: &plan},
			{To: batch.PendingIngestion}, {To: batch.Initialized}, {To: batch.InProgress}, {To: batch.Processed}},
		{{To: batch.Uploaded, Object: &batch.Object{Key: "k", Size: 1000}}, {To: batch.ValidationStarted, Plan: &plan},
			{To: batch.ValidationFailed}},
		{{To: batch.Uploaded, Object: &batch.Object{Key: "k", Size: 1000}}, {To: batch.Failed}},
		{{To: batch.Failed}},
	} {
		b := create(t, s, tenant, batch.AwaitingUpload)
		expect("another batch", batch.OpenWork{Batches: 2})
		for i, change := range way {
			change.At, change.ReceivedAt = createdAt.Add(time.Duration(i)*time.Second), createdAt
			errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), b.ID, change)))
			want := batch.OpenWork{Batches: 2}
			if change.To == batch.Uploaded || change.To == batch.ValidationStarted {
				want.UnvalidatedBytes = 1000
			}
			if change.To.IsTerminal() {
				want.Batches = 1
			}
			expect(string(change.To), want)
			errtest.Fatal(t, s.Postpone(t.Context(), b.ID, createdAt))
			expect("postponed", want)
		}
	}
	for range 5 {
		b := create(t, s, tenant, batch.AwaitingUpload)
		errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), b.ID, batch.Transition{To: batch.Uploaded, At: createdAt,
			ReceivedAt: createdAt, Object: &batch.Object{Key: "k", Size: 10}})))
	}
	expect("six batches", batch.OpenWork{Batches: 6, UnvalidatedBytes: 50})
	for _, enough = range []batch.OpenWork{{Batches: 3, UnvalidatedBytes: 1000}, {Batches: 1000, UnvalidatedBytes: 30},
		{}} {
		if got, err := s.CountOpen(t.Context(), tenant, enough); err != nil || !got.ReachesAny(enough) ||
			got.Batches == 6 {
			t.Errorf("enough is %+v: got %+v, %v, want no more than that", enough, got, err)
		}
	}
}
