package batchtest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// endWithExport stores a batch and ends it in PROCESSED so that it owes an export.
func endWithExport(t *testing.T, s batch.Store) batch.Batch {
	t.Helper()
	b := create(t, s, "tenant", batch.InProgress)
	return errtest.Must(s.Apply(t.Context(), b.ID, batch.Transition{To: batch.Processed, At: endAt, Export: true}))(t)
}

// testExport pays what a batch owes in every order. An export is owed until it is recorded, whoever else is told.
func testExport(t *testing.T, s batch.Store) {
	export := func(t *testing.T, b batch.Batch) {
		t.Helper()
		for range 2 {
			errtest.Fatal(t, s.MarkExported(t.Context(), b.ID, "parquet/b"))
		}
	}
	announce := func(t *testing.T, b batch.Batch) {
		t.Helper()
		errtest.Fatal(t, s.MarkAnnounced(t.Context(), b, batch.Receivers()))
	}
	for name, order := range map[string][2]func(*testing.T, batch.Batch){
		"exported last": {announce, export}, "exported first": {export, announce},
	} {
		t.Run(name, func(t *testing.T) {
			b := endWithExport(t, s)
			owed := append(batch.Receivers(), batch.Export)
			if !SameReceivers(b.Unannounced, owed) {
				t.Errorf("at its end the batch owes %v, want %v", b.Unannounced, owed)
			}
			isVisited := func() bool {
				t.Helper()
				return visitsOfUnannounced(t, s, b.ID, endAt.Add(time.Second)) > 0
			}
			for i, pay := range order {
				if !isVisited() {
					t.Errorf("after %d of 2 payments nobody finds the batch", i)
				}
				pay(t, b)
			}
			want := b
			want.Unannounced, want.ParquetKey = nil, "parquet/b"
			difftest.Equal(t, "the batch after it", want, errtest.Must(s.Get(t.Context(), b.ID))(t))
			if isVisited() {
				t.Error("the batch owes nothing and is found")
			}
		})
	}
	indexed := create(t, s, "tenant", batch.InProgress)
	indexed, err := s.Apply(t.Context(), indexed.ID, batch.Transition{To: batch.Failed, At: endAt, Index: true})
	if err != nil || !SameReceivers(indexed.Unannounced, append(batch.Receivers(), batch.Index)) {
		t.Errorf("a batch that is to be indexed owes %v, error %v", indexed.Unannounced, err)
	}
	b := endWithExport(t, s)
	errtest.Fatal(t, s.MarkExported(t.Context(), b.ID, ""))
	got, err := s.Get(t.Context(), b.ID)
	if err != nil || got.ParquetKey != "" || !SameReceivers(got.Unannounced, batch.Receivers()) {
		t.Errorf("an export that is given up: key %q, owed to %v, error %v", got.ParquetKey, got.Unannounced, err)
	}
	owesNone := end(t, s, batch.Processed)
	errtest.Fatal(t, s.MarkExported(t.Context(), owesNone.ID, "parquet/b"))
	if got, err := s.Get(t.Context(), owesNone.ID); err != nil || !cmp.Equal(owesNone, got) {
		t.Errorf("a batch that owes no export: %+v, %v, want %+v", got, err, owesNone)
	}
	errtest.Is(t, "an unknown batch", s.MarkExported(t.Context(), newID(t), "parquet/b"), nil)
}

// SameReceivers reports whether two sets of receivers, each in any order, are the same.
func SameReceivers(a, b []batch.Receiver) bool {
	has := func(all []batch.Receiver, some []batch.Receiver) bool {
		found := map[batch.Receiver]bool{}
		for _, r := range all {
			found[r] = true
		}
		for _, r := range some {
			if !found[r] {
				return false
			}
		}
		return true
	}
	return len(a) == len(b) && has(a, b) && has(b, a)
}

// testOneAttemptExports claims exports in the name of several attempts. A claim of the announcement does not prevent
// that.
func testOneAttemptExports(t *testing.T, s batch.Store) {
	owesNone, ended := end(t, s, batch.Processed), endWithExport(t, s)
	errtest.Fatal(t, errtest.Of(s.ClaimAnnouncement(t.Context(), ended.ID, "announcer", endAt, claimedUntil)))
	testClaims(t, s.ClaimExport, owesNone.ID, ended, batch.ErrNothingToExport)
	errtest.Fatal(t, s.MarkExported(t.Context(), ended.ID, "parquet/b"))
	expectNoClaim(t, s.ClaimExport, ended.ID, batch.ErrNothingToExport)
}
