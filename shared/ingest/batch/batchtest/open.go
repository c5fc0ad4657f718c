package batchtest

import (
	"testing"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// testOpen follows a batch to each of its ends, beside another one, and counts what is open.
func testOpen(t *testing.T, s batch.Store) {
	const tenant = "open"
	enough := batch.OpenWork{Batches: 100, UnvalidatedBytes: 1 << 60}
	expect := func(what string, want batch.OpenWork) {
		t.Helper()
		difftest.Equal(t, what, want, errtest.Must(s.CountOpen(t.Context(), tenant, enough, createdAt))(t))
	}
	expect("no batch", batch.OpenWork{})
	create(t, s, "another", batch.AwaitingUpload)
	create(t, s, tenant, batch.Processed)
	create(t, s, tenant, batch.AwaitingUpload)
	expect("one batch", batch.OpenWork{Batches: 1})
	reserving := NewBatch(t, tenant)
	reserving.Reserved = 400
	for range 2 { // repeating Create reserves nothing more
		errtest.Fatal(t, s.Create(t.Context(), reserving))
	}
	difftest.Equal(t, "got a batch that reserves bytes", int64(400),
		errtest.Must(s.Get(t.Context(), reserving.ID))(t).Reserved)
	expect("one batch reserves", batch.OpenWork{Batches: 2, UnvalidatedBytes: 400})
	enough.UnvalidatedBytes = 400
	expect("one batch reserves all", batch.OpenWork{Batches: 1, Awaiting: 1, UnvalidatedBytes: 400,
		ReservedBytes: 400})
	enough.UnvalidatedBytes = 1 << 60
	errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), reserving.ID, batch.Transition{To: batch.Failed,
		At: createdAt})))
	expect("one batch again", batch.OpenWork{Batches: 1})
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
		if got, err := s.CountOpen(t.Context(), tenant, enough, createdAt); err != nil || !got.ReachesAny(enough) ||
			got.Batches == 6 {
			t.Errorf("enough is %+v: got %+v, %v, want no more than that", enough, got, err)
		}
	}
}

// testForgottenUploads lets the URLs of some batches end. Those that await a single PUT then count no more, whether or
// not they are taken out of what is inspected, until their upload arrives or is extended.
func testForgottenUploads(t *testing.T, s batch.Store) {
	const tenant = "forgetful"
	var batches []batch.Batch
	for i := range 120 { // more than fit into one request of DynamoDB
		b := NewBatch(t, tenant)
		if i == 0 {
			b.Multipart = &batch.Multipart{UploadID: "u", PartSize: 400, PartCount: 1}
		}
		errtest.Fatal(t, s.Create(t.Context(), b))
		batches = append(batches, b)
	}
	last := batches[0].UploadBy.Add(15 * time.Minute)
	expect := func(what string, now time.Time, limit, want, awaiting int64) {
		t.Helper()
		enough := batch.OpenWork{Batches: limit, UnvalidatedBytes: 1 << 60}
		got, err := s.CountOpen(t.Context(), tenant, enough, now)
		if err != nil || got.Batches != want || got.ReachesAny(enough) && got.Awaiting != awaiting {
			t.Errorf("%s: %+v, %v; want %d, %d of them awaiting their upload", what, got, err, want, awaiting)
		}
	}
	expect("with their URLs", last, 100, 100, 100)
	expect("without their URLs", last.Add(1), 100, 1, 1) // the upload in parts
	expect("without their URLs", last.Add(1), 1, 1, 1)
	for _, b := range batches {
		for _, by := range []time.Time{b.UploadBy.Add(1), b.UploadBy, b.UploadBy} { // the first one is that of no batch
			if by.Equal(b.UploadBy) && b.Multipart != nil {
				continue
			}
			errtest.Fatal(t, s.Uncount(t.Context(), b.ID, by))
		}
	}
	expect("not inspected", last.Add(1), 1000, 1, 1)
	errtest.Fatal(t, errtest.Of(s.ExtendUpload(t.Context(), batches[1].ID, last)))
	errtest.Fatal(t, s.Uncount(t.Context(), batches[1].ID, batches[1].UploadBy)) // it has another one by now
	expect("one is extended", last.Add(1), 2, 2, 2)
	errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), batches[2].ID, batch.Transition{To: batch.Uploaded, At: last,
		ReceivedAt: last, Object: &batch.Object{Key: "k", Size: 10}})))
	errtest.Fatal(t, s.Uncount(t.Context(), batches[2].ID, batches[2].UploadBy))
	expect("another one has arrived", last.Add(time.Hour), 2, 2, 1)
	errtest.Fatal(t, s.Uncount(t.Context(), newID(t), last))
	for _, b := range batches[1:3] {
		errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), b.ID, batch.Transition{To: batch.Failed, At: last})))
	}
	expect("both have ended", last.Add(time.Hour), 1000, 1, 1)
}
