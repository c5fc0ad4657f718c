package batchtest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/errtest"
)

func cancelTime() time.Time { return createdAt.Add(time.Hour) }

// createIn stores a batch and makes the first transitions on the way to PROCESSED.
func createIn(t *testing.T, s batch.Store, transitions int) batch.Batch {
	t.Helper()
	b := create(t, s, "tenant", batch.AwaitingUpload)
	for _, transition := range transitionsToProcessed()[:transitions] {
		b = errtest.Must(s.Apply(t.Context(), b.ID, transition))(t)
	}
	return b
}

// inIngestion is the number of transitions after which ingestion has begun.
const inIngestion = 4

// A batch can be cancelled in each status until ingestion begins, any number of times, and in no other.
func testCancel(t *testing.T, s batch.Store) {
	errtest.Is(t, "an unknown batch", errtest.Of(batch.Cancel(t.Context(), s, newID(t), cancelTime)),
		batch.ErrNotFound)
	for n := range len(transitionsToProcessed()) + 1 {
		before := createIn(t, s, n)
		for range 2 {
			got, err := batch.Cancel(t.Context(), s, before.ID, cancelTime)
			var conflict *batch.ConflictError
			if n >= inIngestion {
				if !errors.As(err, &conflict) || cmp.Diff(before, conflict.Current) != "" {
					t.Errorf("in %s: got error %v, want a conflict with the batch as it was", before.Status, err)
				}
				continue
			}
			want := before
			want.PreviousStatus, want.Status, want.UpdatedAt = before.Status, batch.Failed, cancelTime()
			want.ErrorMessage, want.Unannounced = batch.Cancelled, batch.Receivers()
			want.History = append(slices.Clone(before.History), batch.StatusAt{Status: batch.Failed, At: cancelTime()})
			if diff := cmp.Diff(want, got); err != nil || diff != "" || !got.IsCancelled() {
				t.Errorf("in %s: error %v, batch (-want +got):\n%s", before.Status, err, diff)
			}
		}
	}
	for _, end := range []batch.Transition{
		{To: batch.Failed, At: createdAt, ErrorMessage: batch.TechnicalFailure},
		{To: batch.Failed, At: createdAt, ErrorMessage: batch.NeverUploaded},
	} {
		b := create(t, s, "tenant", batch.AwaitingUpload)
		errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), b.ID, end)))
		var conflict *batch.ConflictError
		if _, err := batch.Cancel(t.Context(), s, b.ID, cancelTime); !errors.As(err, &conflict) {
			t.Errorf("a batch that ended with %q: got error %v, want a conflict", end.ErrorMessage, err)
		}
	}
}

// overtaken is a store in which somebody else makes transitions before the first write.
type overtaken struct {
	batch.Store
	t           *testing.T
	transitions []batch.Transition
}

func (s *overtaken) Apply(ctx context.Context, id batch.ID, t batch.Transition) (batch.Batch, error) {
	for _, first := range s.transitions {
		errtest.Fatal(s.t, errtest.Of(s.Store.Apply(ctx, id, first)))
	}
	s.transitions = nil
	return s.Store.Apply(ctx, id, t)
}

// However many transitions are made between the reading and the writing of a cancel, it is made if ingestion has not
// begun, and changes nothing otherwise. What comes after it is refused.
func testCancelIsOvertaken(t *testing.T, s batch.Store) {
	all := transitionsToProcessed()
	for from := range inIngestion {
		for to := from; to <= len(all); to++ {
			b := createIn(t, s, from)
			got, err := batch.Cancel(t.Context(), &overtaken{s, t, all[from:to]}, b.ID, cancelTime)
			var conflict *batch.ConflictError
			switch {
			case to < inIngestion && (err != nil || !got.IsCancelled()):
				t.Errorf("%d to %d: got error %v, status %s %q, want a cancelled batch", from, to, err, got.Status,
					got.ErrorMessage)
			case to >= inIngestion && (!errors.As(err, &conflict) || conflict.Current.Status != all[to-1].To):
				t.Errorf("%d to %d: got error %v, want a conflict with %s", from, to, err, all[to-1].To)
			case to < inIngestion:
				if _, err := s.Apply(t.Context(), b.ID, all[to]); !errors.As(err, &conflict) {
					t.Errorf("%d to %d: a transition after the cancel: got error %v, want a conflict", from, to, err)
				}
			}
		}
	}
	// A transition to another end.
	b := createIn(t, s, 2)
	rejected := batch.Transition{To: batch.ValidationFailed, At: createdAt, ErrorMessage: "invalid"}
	_, err := batch.Cancel(t.Context(), &overtaken{s, t, []batch.Transition{rejected}}, b.ID, cancelTime)
	var conflict *batch.ConflictError
	if !errors.As(err, &conflict) || conflict.Current.Status != batch.ValidationFailed {
		t.Errorf("a batch that was rejected meanwhile: got error %v, want a conflict", err)
	}
}

// Of several cancels and one transition at the same time, all cancels agree, and the transition is made before them or
// not at all.
func testCancelRaces(t *testing.T, s batch.Store) {
	all := transitionsToProcessed()
	for from := range inIngestion {
		b := createIn(t, s, from)
		var group sync.WaitGroup
		cancels := make([]error, 3)
		for i := range cancels {
			group.Go(func() { _, cancels[i] = batch.Cancel(t.Context(), s, b.ID, cancelTime) })
		}
		var moved error
		group.Go(func() { _, moved = s.Apply(t.Context(), b.ID, all[from]) })
		group.Wait()
		after := errtest.Must(s.Get(t.Context(), b.ID))(t)
		wantPrevious := b.Status
		if moved == nil {
			wantPrevious = all[from].To
		}
		var conflict *batch.ConflictError
		for _, err := range cancels {
			switch {
			case after.IsCancelled() && (err != nil || after.PreviousStatus != wantPrevious):
				t.Errorf("%s: error %v, the batch was cancelled in %s, want %s", b.Status, err, after.PreviousStatus,
					wantPrevious)
			case !after.IsCancelled() && (!errors.As(err, &conflict) || after.Status != batch.Initialized):
				t.Errorf("%s: error %v and the status %s, want a conflict with INITIALIZED", b.Status, err,
					after.Status)
			}
		}
	}
}
