package batchdb_test

import (
	"sluice/shared/batch"
	"sluice/shared/batch/batchdb"
	"sluice/shared/chunk"
	"sluice/shared/dynamo/dynamotest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const storedBatch = batch.ID("0193a0b4-7c00-7000-8000-000000000001")

const storedTenant = "7c2f1a52-3f6e-4b1e-9d0a-000000000001"

// TestStoredBatches pins what is stored: one golden item for each kind of row, with every attribute set. It writes through the store and
// compares the items, and it reads the golden items through the store and compares the values. Renaming a Go field so that a
// stored name changes fails both.
func TestStoredBatches(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s := batchdb.New(client, "test-batches")
	b := newBatch(t, storedTenant)
	b.ID, b.Client, b.DigestKey = storedBatch, "client", [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	if err := s.Create(ctx, b); err != nil {
		t.Fatal(err)
	}
	plan := chunk.NewPlan(1000, 100)
	verdict := batch.Verdict{Total: 9, Accepted: 7, Invalid: 2, ReportKey: "report", SummaryKey: "summary"}
	var want batch.Batch
	for _, c := range []batch.Change{
		{To: batch.Uploaded, At: at, ReceivedAt: at.Add(time.Second),
			Object: &batch.Object{Key: "uploads/t/b", ETag: `"e"`, Version: "v", Size: 1000}},
		{To: batch.ValidationStarted, At: at, Plan: &plan, MaxLineBytes: 4096, MaxTransactions: 9000},
		{To: batch.ValidationFailed, At: at.Add(time.Minute), Verdict: &verdict, ErrorMessage: "2 transactions are invalid."},
	} {
		var err error
		if want, err = s.Move(ctx, b.ID, c); err != nil {
			t.Fatal(err)
		}
	}
	validated := batch.Validated{Lines: 10, Transactions: 9, Invalid: 1, Bytes: 100, FindingsKey: "findings", IndexKey: "index"}
	settled := batch.Settled{FirstLine: 11, Accepted: 7, Invalid: 2, AcceptedKey: "accepted", ReportKey: "report", ReportBytes: 12,
		SummaryKey: "summary"}
	ingested := batch.Ingested{Done: true, Offset: 90, Line: 8, Stored: 7}
	if _, err := s.CommitValidated(ctx, b.ID, 3, validated); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CommitSettled(ctx, b.ID, 3, settled); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Advance(ctx, b.ID, 3, ingested); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CommitMarks(ctx, b.ID, 7, "marks"); err != nil {
		t.Fatal(err)
	}
	dynamotest.CompareStored(t, client, "test-batches", "batches")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-batches", "batches")
	s = batchdb.New(client, "test-batches")
	got, err := s.Get(ctx, b.ID)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("batch: %v, (-want +got)\n%s", err, diff)
	}
	c, err := s.Chunk(ctx, b.ID, 3)
	wantChunk := batch.Chunk{Index: 3, Validated: &validated, Settled: &settled, Ingested: &ingested}
	if diff := cmp.Diff(wantChunk, c); err != nil || diff != "" {
		t.Errorf("chunk: %v, (-want +got)\n%s", err, diff)
	}
	keys, err := s.Marks(ctx, b.ID)
	if err != nil || keys[7] != "marks" {
		t.Errorf("marks: %v, %v", keys, err)
	}
	// A chunk that is ingested stays so: the condition reads stored names, too.
	furthest, err := s.Advance(ctx, b.ID, 3, batch.Ingested{Line: 9})
	if diff := cmp.Diff(ingested, furthest); err != nil || diff != "" {
		t.Errorf("advance: %v, (-want +got)\n%s", err, diff)
	}
}
