package batchtest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// transitionsToProcessed returns every transition on the way to PROCESSED, with everything that is recorded with them.
func transitionsToProcessed() []batch.Transition {
	plan := chunk.NewPlan(1000, 100)
	return []batch.Transition{
		{To: batch.Uploaded, At: createdAt, ReceivedAt: createdAt.Add(time.Second),
			Object: &batch.Object{Key: "uploads/t/b", ETag: `"e"`, Version: "v", Size: 1000}},
		{To: batch.ValidationStarted, At: createdAt, Plan: &plan, MaxLineBytes: 4096, MaxTransactions: 9000,
			MaxReportBytes: 5000},
		{To: batch.PendingIngestion, At: createdAt,
			Verdict: &batch.Verdict{Total: 9, Accepted: 7, Invalid: 2, ReportKey: "r", SummaryKey: "s"}},
		{To: batch.Initialized, At: createdAt},
		{To: batch.InProgress, At: createdAt},
		{To: batch.Processed, At: createdAt.Add(time.Minute)},
	}
}

func testTransitions(t *testing.T, s batch.Store) {
	want := create(t, s, "tenant", batch.AwaitingUpload)
	for _, transition := range transitionsToProcessed() {
		want.PreviousStatus, want.Status, want.UpdatedAt = want.Status, transition.To, transition.At
		if transition.Object != nil {
			want.Object, want.ReceivedAt = *transition.Object, transition.ReceivedAt
		}
		if transition.Plan != nil {
			want.Plan, want.MaxLineBytes = *transition.Plan, transition.MaxLineBytes
			want.MaxTransactions = transition.MaxTransactions
			want.MaxReportBytes = transition.MaxReportBytes
		}
		if transition.Verdict != nil {
			want.Verdict = transition.Verdict
		}
		if transition.To.IsVisible() {
			want.History = append(want.History, batch.StatusAt{Status: transition.To, At: transition.At})
		}
		if transition.To.IsTerminal() {
			want.Unannounced = batch.Receivers()
		}
		applied, err := s.Apply(t.Context(), want.ID, transition)
		if err != nil {
			t.Fatalf("transition to %s: %v", transition.To, err)
		}
		read := errtest.Must(s.Get(t.Context(), want.ID))(t)
		difftest.Equal(t, fmt.Sprintf("Apply of %s", transition.To), want, applied)
		difftest.Equal(t, fmt.Sprintf("Get after %s", transition.To), want, read)
		var conflict *batch.ConflictError
		_, err = s.Apply(t.Context(), want.ID, transition)
		if !errors.As(err, &conflict) || conflict.Wanted != transition.To || !cmp.Equal(conflict.Current, want) {
			t.Errorf("repeated transition to %s: got error %v, want a conflict with the batch as it is", transition.To,
				err)
		}
	}

	tooMany := create(t, s, "tenant", batch.ValidationStarted)
	verdict := batch.Verdict{Outcome: batch.TooManyTransactions, Total: 10, Invalid: 1}
	rejected := batch.Transition{To: batch.ValidationFailed, At: createdAt, Verdict: &verdict, ErrorMessage: "too many"}
	got, err := s.Apply(t.Context(), tooMany.ID, rejected)
	if diff := cmp.Diff(&verdict, got.Verdict); err != nil || diff != "" || got.ErrorMessage != "too many" {
		t.Errorf("too many transactions: error %v, message %q, verdict (-want +got):\n%s", err, got.ErrorMessage, diff)
	}
}

// testOnlyLegalTransitions tries every transition from every status.
func testOnlyLegalTransitions(t *testing.T, s batch.Store) {
	for _, from := range batch.Statuses() {
		for _, to := range batch.Statuses() {
			if len(to.Predecessors()) == 0 {
				continue
			}
			b := NewBatch(t, "tenant")
			b.Status, b.ValidateOnly = from, batch.EndsValidateOnly(from, to)
			errtest.Fatal(t, s.Create(t.Context(), b))
			_, err := s.Apply(t.Context(), b.ID, batch.Transition{To: to, At: createdAt, ErrorMessage: "why"})
			var conflict *batch.ConflictError
			isConflict := errors.As(err, &conflict)
			if legal := from.CanTransitionTo(to); legal && err != nil || !legal && !isConflict {
				t.Errorf("transition from %s to %s: got error %v, want legal = %v", from, to, err, legal)
			}
		}
	}
	b := create(t, s, "tenant", batch.ValidationStarted)
	for _, from := range []batch.Status{"", batch.ValidationStarted} {
		var conflict *batch.ConflictError
		_, err := s.Apply(t.Context(), b.ID, batch.Transition{To: batch.Processed, From: from, At: createdAt})
		if !errors.As(err, &conflict) {
			t.Errorf("end of a batch that is not validate_only after its validation: got error %v, want a conflict",
				err)
		}
	}
	b = create(t, s, "tenant", batch.InProgress)
	only := batch.Transition{To: batch.Failed, From: batch.Uploaded, At: createdAt}
	var conflict *batch.ConflictError
	if _, err := s.Apply(t.Context(), b.ID, only); !errors.As(err, &conflict) {
		t.Errorf("transition of a batch in %s that is limited to %s: got error %v, want a conflict", b.Status,
			only.From, err)
	}
}

func testOneWinsARace(t *testing.T, s batch.Store) {
	b := create(t, s, "tenant", batch.AwaitingUpload)
	var mu sync.Mutex
	var wg sync.WaitGroup
	applied, committed := 0, map[batch.ReconcileResult]bool{}
	for i := range 16 {
		wg.Go(func() {
			_, err := s.Apply(t.Context(), b.ID, batch.Transition{To: batch.Uploaded, At: createdAt})
			result, commitErr := s.CommitReconciled(t.Context(), b.ID, 3,
				batch.ReconcileResult{RejectionsKey: string(rune('a' + i))})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				applied++
			}
			errtest.Is(t, "commitErr", commitErr, nil)
			committed[result] = true
		})
	}
	wg.Wait()
	difftest.Equal(t, "result", []any{1, 1}, []any{applied, len(committed)})
	results, err := s.Reconciled(t.Context(), b.ID)
	if err != nil || results[3] == nil || !committed[*results[3]] || results[2] != nil {
		t.Errorf("Reconciled: got %v, error %v, want the committed result of partition 3 alone", results, err)
	}
}
