package batchdb_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/batch"
	"sluice/shared/batch/batchdb"
	"sluice/shared/chunk"
	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/transaction"
)

var at = time.Date(2026, 11, 26, 8, 15, 0, 123456789, time.UTC)

func newBatch(t *testing.T, tenant string) batch.Batch {
	t.Helper()
	id, err := batch.NewID()
	if err != nil {
		t.Fatal(err)
	}
	return batch.Batch{
		ID: id, Tenant: tenant, Client: "c", Status: batch.AwaitingUpload, RejectOnInvalid: true,
		CreatedAt: at, UpdatedAt: at, UploadBy: at.Add(15 * time.Minute), DigestKey: [16]byte{1, 2, 3},
		Settings: batch.Settings{MaxPast: time.Hour, MaxFuture: 720 * time.Hour, MainEntity: transaction.ByPaymentType},
	}
}

// life is every change on the way to PROCESSED, with everything that comes with it.
func life() []batch.Change {
	plan := chunk.NewPlan(1000, 100)
	return []batch.Change{
		{To: batch.Uploaded, At: at, ReceivedAt: at.Add(time.Second), Object: &batch.Object{Key: "uploads/t/b", ETag: `"e"`, Version: "v", Size: 1000}},
		{To: batch.ValidationStarted, At: at, Plan: &plan, MaxLineBytes: 4096, MaxTransactions: 9000},
		{To: batch.PendingIngestion, At: at, Verdict: &batch.Verdict{Total: 9, Accepted: 7, Invalid: 2, ReportKey: "r", SummaryKey: "s"}},
		{To: batch.Initialized, At: at}, {To: batch.InProgress, At: at}, {To: batch.Processed, At: at.Add(time.Minute)},
	}
}

func TestBatchLife(t *testing.T) {
	ctx := context.Background()
	s := batchdb.New(dynamotest.Start(t), "test-batches")
	want := newBatch(t, "tenant")
	if _, err := s.Get(ctx, want.ID); !errors.Is(err, batch.ErrNotFound) {
		t.Errorf("before it is there: %v", err)
	}
	if _, err := s.Move(ctx, want.ID, batch.Change{To: batch.Uploaded, At: at}); !errors.Is(err, batch.ErrNotFound) {
		t.Errorf("a change before it is there: %v", err)
	}
	if err := s.Create(ctx, want); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(ctx, want); err != nil {
		t.Errorf("a call whose answer was lost cannot be repeated: %v", err)
	}
	other := want
	other.DigestKey[0]++
	if err := s.Create(ctx, other); err == nil {
		t.Error("two batches were created under one ID")
	}
	for _, c := range life() {
		want.Status, want.UpdatedAt = c.To, c.At
		if c.Object != nil {
			want.Object, want.ReceivedAt = *c.Object, c.ReceivedAt
		}
		if c.Plan != nil {
			want.Plan, want.MaxLineBytes, want.MaxTransactions = *c.Plan, c.MaxLineBytes, c.MaxTransactions
		}
		if c.Verdict != nil {
			want.Verdict = c.Verdict
		}
		moved, err := s.Move(ctx, want.ID, c)
		if err != nil {
			t.Fatalf("to %s: %v", c.To, err)
		}
		read, err := s.Get(ctx, want.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, moved) + cmp.Diff(want, read); diff != "" {
			t.Errorf("%s: %s", c.To, diff)
		}
		var lost *batch.Moved
		if _, err := s.Move(ctx, want.ID, c); !errors.As(err, &lost) || lost.To != c.To || !cmp.Equal(lost.Now, want) {
			t.Errorf("to %s again: %v", c.To, err)
		}
	}
}

// From every state, exactly the legal changes are made.
func TestOnlyLegalMoves(t *testing.T) {
	ctx := context.Background()
	s := batchdb.New(dynamotest.Start(t), "test-batches")
	for _, from := range batch.Statuses() {
		for _, to := range batch.Statuses() {
			if len(batch.Before(to)) == 0 {
				continue // nothing leads to the first state
			}
			b := newBatch(t, "tenant")
			b.Status = from
			if err := s.Create(ctx, b); err != nil {
				t.Fatal(err)
			}
			_, err := s.Move(ctx, b.ID, batch.Change{To: to, At: at, ErrorMessage: "why"})
			var moved *batch.Moved
			if from.May(to) != (err == nil) || err != nil && !errors.As(err, &moved) {
				t.Errorf("%s to %s: %v", from, to, err)
			}
		}
	}
}

// Of many at once, one makes the change.
func TestOneWinsARace(t *testing.T) {
	ctx := context.Background()
	s := batchdb.New(dynamotest.Start(t), "test-batches")
	b := newBatch(t, "tenant")
	if err := s.Create(ctx, b); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	won, committed := 0, map[string]bool{}
	for i := range 16 {
		wg.Go(func() {
			_, err := s.Move(ctx, b.ID, batch.Change{To: batch.Uploaded, At: at})
			key, commitErr := s.CommitMarks(ctx, b.ID, 3, string(rune('a'+i)))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			}
			if commitErr != nil {
				t.Error(commitErr)
			}
			committed[key] = true
		})
	}
	wg.Wait()
	if won != 1 || len(committed) != 1 {
		t.Errorf("%d changes were made, %d results committed", won, len(committed))
	}
	marks, err := s.Marks(ctx, b.ID)
	if err != nil || !committed[marks[3]] || marks[2] != "" {
		t.Errorf("marks %v, %v", marks, err)
	}
}

func TestChunks(t *testing.T) {
	ctx := context.Background()
	s := batchdb.New(dynamotest.Start(t), "test-batches")
	id, _ := batch.NewID()
	if c, err := s.Chunk(ctx, id, 7); err != nil || !cmp.Equal(c, batch.Chunk{Index: 7}) {
		t.Errorf("a chunk of nothing: %+v %v", c, err)
	}
	first := batch.Validated{Lines: 10, Transactions: 9, Invalid: 1, Bytes: 100, FindingsKey: "f", IndexKey: "i"}
	for _, v := range []batch.Validated{first, {Lines: 99}} {
		if got, err := s.CommitValidated(ctx, id, 7, v); err != nil || got != first {
			t.Errorf("committed %+v, %v", got, err)
		}
	}
	settled := batch.Settled{FirstLine: 1, Accepted: 8, Invalid: 1, AcceptedKey: "a", ReportKey: "r", ReportBytes: 5, SummaryKey: "s"}
	for _, v := range []batch.Settled{settled, {}} {
		if got, err := s.CommitSettled(ctx, id, 7, v); err != nil || got != settled {
			t.Errorf("committed %+v, %v", got, err)
		}
	}
	steps := []struct{ put, want batch.Ingested }{
		{batch.Ingested{Line: 4, Offset: 40, Stored: 4}, batch.Ingested{Line: 4, Offset: 40, Stored: 4}},
		{batch.Ingested{Line: 2, Offset: 20, Stored: 2}, batch.Ingested{Line: 4, Offset: 40, Stored: 4}}, // never back
		{batch.Ingested{Line: 10, Offset: 100, Stored: 8, Done: true}, batch.Ingested{Line: 10, Offset: 100, Stored: 8, Done: true}},
		{batch.Ingested{Line: 10, Offset: 100, Stored: 9}, batch.Ingested{Line: 10, Offset: 100, Stored: 8, Done: true}}, // nor behind the end
	}
	for _, step := range steps {
		if got, err := s.Advance(ctx, id, 7, step.put); err != nil || got != step.want {
			t.Errorf("advance %+v: %+v, %v", step.put, got, err)
		}
	}
	for _, index := range []int{300, 0, 12} {
		if _, err := s.CommitValidated(ctx, id, index, batch.Validated{Lines: int64(index)}); err != nil {
			t.Fatal(err)
		}
	}
	chunks, err := s.Chunks(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	var order []int
	for _, c := range chunks {
		order = append(order, c.Index)
	}
	if diff := cmp.Diff([]int{0, 7, 12, 300}, order); diff != "" {
		t.Error(diff)
	}
	done := steps[3].want
	if diff := cmp.Diff(batch.Chunk{Index: 7, Validated: &first, Settled: &settled, Ingested: &done}, chunks[1]); diff != "" {
		t.Error(diff)
	}
}

func TestRecentAndStatuses(t *testing.T) {
	ctx := context.Background()
	s := batchdb.New(dynamotest.Start(t), "test-batches")
	var ids []batch.ID
	for range 105 { // over a page of 100
		b := newBatch(t, "mine")
		ids = append(ids, b.ID)
		if err := s.Create(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Create(ctx, newBatch(t, "other")); err != nil {
		t.Fatal(err)
	}
	recent, err := s.Recent(ctx, "mine", 3)
	if err != nil || len(recent) != 3 || recent[0].ID != ids[104] || recent[2].ID != ids[102] {
		t.Errorf("recent %+v, %v", recent, err)
	}
	statuses, err := s.Statuses(ctx, append(ids, batch.ID(uuid.NewString())))
	if err != nil || len(statuses) != len(ids) || statuses[ids[0]] != batch.AwaitingUpload {
		t.Errorf("%d statuses, %v", len(statuses), err)
	}
}
