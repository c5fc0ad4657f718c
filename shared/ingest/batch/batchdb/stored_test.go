package batchdb_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/batch/batchtest"
	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

const (
	storedBatch  = batch.ID("0193a0b4-7c00-7000-8000-000000000001")
	storedTenant = "7c2f1a52-3f6e-4b1e-9d0a-000000000001"
)

var at = time.Date(2026, 11, 26, 8, 15, 0, 123456789, time.UTC)

// newStore returns a store whose clock stands, so that the rows that it writes always expire at the same time.
func newStore(client *dynamodb.Client) *batchdb.Store {
	return batchdb.New(client, "test-batches").WithClock(func() time.Time { return at })
}

// TestStoredBatches pins the stored items: one golden item for each kind of row, with every attribute set. It writes
// through the store and compares the items, and it reads the golden items through the store and compares the values.
// Renaming a Go field so that a stored name changes fails both.
func TestStoredBatches(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s := newStore(client)
	b := batchtest.NewBatch(t, storedTenant)
	b.ID, b.Client, b.DigestKey = storedBatch, "client", [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	errtest.Fatal(t, s.Create(ctx, b))
	plan := chunk.NewPlan(1000, 100)
	verdict := batch.Verdict{Total: 9, Accepted: 7, Invalid: 2, ReportKey: "report", SummaryKey: "summary",
		ReportShortened: true}
	var want batch.Batch
	for _, c := range []batch.Transition{
		{To: batch.Uploaded, At: at, ReceivedAt: at.Add(time.Second),
			Object: &batch.Object{Key: "uploads/t/b", ETag: `"e"`, Version: "v", Size: 1000}},
		{To: batch.ValidationStarted, At: at, Plan: &plan, MaxLineBytes: 4096, MaxTransactions: 9000,
			MaxReportBytes: 5000},
		{To: batch.ValidationFailed, At: at.Add(time.Minute), Verdict: &verdict,
			ErrorMessage: "2 transactions are invalid."},
	} {
		want = errtest.Must(s.Apply(ctx, b.ID, c))(t)
	}
	validated := batch.ValidateResult{Lines: 10, Transactions: 9, Invalid: 1, Bytes: 100, FindingsKey: "findings",
		IndexKey: "index", IndexSections: "\x01\x80\x02", MinReportBytes: 150, NamesKey: "names", NamesSections: "\x04",
		IdentifiersKey: "index", IdentifiersOffset: 77}
	settled := batch.SettleResult{FirstLine: 11, Accepted: 7, Invalid: 2, AcceptedKey: "accepted", ReportKey: "report",
		ReportBytes: 12,
		SummaryKey:  "summary", ShortBytes: 5, CSVKey: "csv", CSVBytes: 14, CSVShortBytes: 6, RejectedKey: "rejected",
		RejectedBytes: 200}
	ingested := batch.IngestCursor{Done: true, Offset: 90, Line: 8, Stored: 7}
	errtest.Fatal(t, errtest.Of(s.CommitValidated(ctx, b.ID, 3, validated)))
	errtest.Fatal(t, errtest.Of(s.CommitSettled(ctx, b.ID, 3, settled)))
	errtest.Fatal(t, errtest.Of(s.AdvanceCursor(ctx, b.ID, 3, ingested)))
	reconciled := batch.ReconcileResult{RejectionsKey: "marks", RejectionsSections: "\x00\x05"}
	errtest.Fatal(t, errtest.Of(s.CommitReconciled(ctx, b.ID, 7, reconciled)))
	errtest.Fatal(t, errtest.Of(s.ClaimAnnouncement(ctx, b.ID, "attempt", at.Add(time.Minute), at.Add(2*time.Minute))))
	dynamotest.CompareStored(t, client, "test-batches", "batches")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-batches", "batches")
	s = newStore(client)
	difftest.Equal(t, "batch", want, errtest.Must(s.Get(ctx, b.ID))(t))
	c, err := s.Chunk(ctx, b.ID, 3)
	wantChunk := batch.Chunk{Index: 3, Validated: &validated, Settled: &settled, Ingested: &ingested}
	errtest.Fatal(t, err)
	difftest.Equal(t, "chunk", wantChunk, c)
	results, err := s.Reconciled(ctx, b.ID)
	if err != nil || results[7] == nil || *results[7] != reconciled {
		t.Errorf("partitions: got %v, error %v, want %v for partition 7", results, err, reconciled)
	}
	// The condition of AdvanceCursor names stored attributes, too: a cursor that is done does not change.
	furthest := errtest.Must(s.AdvanceCursor(ctx, b.ID, 3, batch.IngestCursor{Line: 9}))(t)
	difftest.Equal(t, "AdvanceCursor", ingested, furthest)
}

// TestStoredWithoutSections reads rows of releases that kept no sections of files and whose rows did not expire.
func TestStoredWithoutSections(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-batches", "without-sections")
	s := newStore(client)
	c, err := s.Chunk(ctx, storedBatch, 3)
	wantChunk := batch.Chunk{
		Index: 3,
		Validated: &batch.ValidateResult{Lines: 10, Transactions: 9, Invalid: 1, Bytes: 100, FindingsKey: "findings",
			IndexKey: "index", MinReportBytes: 150},
		Settled: &batch.SettleResult{FirstLine: 11, Accepted: 7, Invalid: 2, AcceptedKey: "accepted",
			ReportKey: "report", ReportBytes: 12, SummaryKey: "summary", ShortBytes: 5},
		Ingested: &batch.IngestCursor{Done: true, Offset: 90, Line: 8, Stored: 7},
	}
	errtest.Fatal(t, err)
	difftest.Equal(t, "chunk", wantChunk, c)
	reconciled, err := s.Reconciled(ctx, storedBatch)
	if err != nil || reconciled[7] == nil || *reconciled[7] != (batch.ReconcileResult{RejectionsKey: "marks"}) {
		t.Errorf("partitions: got %v, error %v, want the key \"marks\" for partition 7", reconciled, err)
	}
	screened, err := s.Screened(ctx, storedBatch)
	if err != nil || screened[2] == nil || *screened[2] != (batch.ScreenResult{Names: 4, HitsKey: "hits"}) {
		t.Errorf("screened partitions: got %v, error %v, want the key \"hits\" for partition 2", screened, err)
	}
}

// TestStoredOutcomes pins how outcomes without work files are stored: a skipped chunk is a row of zeros, a partition
// that rejects no line has the key "none", a verdict on too many transactions has no report; and the line counts.
func TestStoredOutcomes(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s := newStore(client)
	b := batchtest.NewBatch(t, storedTenant)
	b.ID, b.Status = storedBatch, batch.ValidationStarted
	errtest.Fatal(t, s.Create(ctx, b))
	skipped, reconciled := batch.SettleResult{Skipped: true}, batch.ReconcileResult{}
	counts := batch.LineCounts{ByChunk: []int64{10, 0, 7}, Transactions: 16, MinReportBytes: []int64{150, 0, 300}}
	verdict := batch.Verdict{Outcome: batch.TooManyTransactions, Total: 16, Invalid: 2}
	errtest.Fatal(t, errtest.Of(s.CommitSettled(ctx, b.ID, 2, skipped)))
	errtest.Fatal(t, errtest.Of(s.CommitReconciled(ctx, b.ID, 0, reconciled)))
	errtest.Fatal(t, errtest.Of(s.CommitLineCounts(ctx, b.ID, counts)))
	tooMany := batch.Transition{To: batch.ValidationFailed, At: at, Verdict: &verdict, ErrorMessage: "too many"}
	want := errtest.Must(s.Apply(ctx, b.ID, tooMany))(t)
	dynamotest.CompareStored(t, client, "test-batches", "outcomes")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-batches", "outcomes")
	s = newStore(client)
	difftest.Equal(t, "batch", want, errtest.Must(s.Get(ctx, b.ID))(t))
	difftest.Equal(t, "chunk", batch.Chunk{Index: 2, Settled: &skipped}, errtest.Must(s.Chunk(ctx, b.ID, 2))(t))
	results, err := s.Reconciled(ctx, b.ID)
	if err != nil || results[0] == nil || *results[0] != reconciled {
		t.Errorf("partitions: got %v, error %v, want no rejections of partition 0", results, err)
	}
	gotCounts := errtest.Must(s.LineCounts(ctx, b.ID))(t)
	difftest.Equal(t, "line counts", &counts, gotCounts)
}

// TestStoredUnfinished pins how a batch is stored that has not ended, and one that expires. It ends with what earlier
// releases stored, which the adoption makes known to EachUnfinished.
func TestStoredUnfinished(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s := newStore(client)
	waiting, expiring := batchtest.NewBatch(t, storedTenant), batchtest.NewBatch(t, storedTenant)
	waiting.ID, expiring.ID = storedBatch, "0193a0b4-7c00-7000-8000-00000000000e"
	for _, b := range []batch.Batch{waiting, expiring} {
		errtest.Fatal(t, s.Create(ctx, b))
	}
	failed := batch.Transition{To: batch.Failed, At: at, ErrorMessage: "m", Expires: at.Add(time.Hour)}
	errtest.Fatal(t, errtest.Of(s.Apply(ctx, expiring.ID, failed)))
	// An announced batch is stored as by releases that announced nothing.
	errtest.Fatal(t, s.MarkAnnounced(ctx, expiring, batch.Receivers()))
	dynamotest.CompareStored(t, client, "test-batches", "unfinished")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-batches", "unadopted")
	s = newStore(client)
	unfinished := func() (ids []batch.ID) {
		t.Helper()
		err := s.EachUnfinished(ctx, at.Add(time.Hour), func(id batch.ID) error { ids = append(ids, id); return nil })
		errtest.Fatal(t, err)
		return ids
	}
	difftest.Len(t, "before the adoption", 0, unfinished())
	// The second walk waits an hour; a third one does not happen.
	now := at
	for i, want := range []int{1, 1, 2, 2} {
		if i == 1 || i == 3 { // a batch that a function of the earlier release creates meanwhile
			dynamotest.LoadStored(t, client, "test-batches", "unadopted-later")
		}
		if i >= 2 {
			now = now.Add(2 * time.Hour)
		}
		errtest.Fatal(t, s.AdoptUnfinished(ctx, now))
		if i == 3 {
			want = 1 // it was stored again without the attributes
		}
		if got := unfinished(); len(got) != want {
			t.Errorf("after call %d of the adoption: %v, want %d batches", i, got, want)
		}
	}
}

// TestStoredScreening pins the stored form of the screening of names.
func TestStoredScreening(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s := newStore(client)
	b := batchtest.NewBatch(t, storedTenant)
	b.ID = storedBatch
	b.Screening = &batch.Screening{Lists: []string{"un", "own"}, Threshold: 82.5, Reject: true}
	errtest.Fatal(t, s.Create(ctx, b))
	plan := chunk.NewPlan(1000, 100)
	verdict := batch.Verdict{Total: 9, Accepted: 7, Invalid: 2, ReportKey: "report", SummaryKey: "summary",
		Screening: &batch.ScreeningVerdict{Names: 5, Hits: 3, AlertsKey: "alerts", AlertsShortened: true}}
	var want batch.Batch
	for _, c := range []batch.Transition{
		{To: batch.Uploaded, At: at, ReceivedAt: at.Add(time.Second),
			Object: &batch.Object{Key: "uploads/t/b", ETag: `"e"`, Version: "v", Size: 1000}},
		{To: batch.ValidationStarted, At: at, Plan: &plan, ListVersions: []batch.ListVersion{
			{Owner: "shared", List: "un", Version: "v1", SourceDate: at.UTC().Truncate(time.Second)},
			{Owner: storedTenant, List: "own", Version: "v2"}}},
		{To: batch.PendingIngestion, At: at, Verdict: &verdict},
	} {
		want = errtest.Must(s.Apply(ctx, b.ID, c))(t)
	}
	validated := batch.ValidateResult{Lines: 10, NamesKey: "names"}
	settled := batch.SettleResult{FirstLine: 1, Hits: 3, AlertsKey: "alerts", AlertBytes: 500, AlertsLeftOut: true}
	errtest.Fatal(t, errtest.Of(s.CommitValidated(ctx, b.ID, 0, validated)))
	errtest.Fatal(t, errtest.Of(s.CommitSettled(ctx, b.ID, 0, settled)))
	screened := [batch.Partitions]*batch.ScreenResult{2: {Names: 4, HitsKey: "hits", HitsSections: "\x03"}, 15: {}}
	for _, p := range []int{2, 15} {
		errtest.Fatal(t, errtest.Of(s.CommitScreened(ctx, b.ID, p, *screened[p])))
	}
	dynamotest.CompareStored(t, client, "test-batches", "screening")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-batches", "screening")
	s = newStore(client)
	difftest.Equal(t, "batch", want, errtest.Must(s.Get(ctx, b.ID))(t))
	c := errtest.Must(s.Chunk(ctx, b.ID, 0))(t)
	difftest.Equal(t, "chunk", batch.Chunk{Validated: &validated, Settled: &settled}, c)
	difftest.Equal(t, "screened partitions", screened, errtest.Must(s.Screened(ctx, b.ID))(t))
}

// TestStoredRequest pins the stored form of every option of a request, and of the file and its verdict.
func TestStoredRequest(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	b := batchtest.WithEveryField(batchtest.NewBatch(t, storedTenant))
	b.ID = storedBatch
	limited := batchtest.NewBatch(t, storedTenant)
	limited.ID, limited.MaxRejected = "0193a0b4-7c00-7000-8000-00000000000e", &batch.RejectLimit{Lines: 12}
	for _, b := range []batch.Batch{b, limited} {
		errtest.Fatal(t, newStore(client).Create(ctx, b))
	}
	dynamotest.CompareStored(t, client, "test-batches", "request")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-batches", "request")
	for _, want := range []batch.Batch{b, limited} {
		difftest.Equal(t, fmt.Sprintf("batch %s", want.ID), want, errtest.Must(newStore(client).Get(ctx, want.ID))(t))
	}
}

// TestStoredWithoutHistory reads a batch of a release that kept no history, and makes a transition of it.
func TestStoredWithoutHistory(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-batches", "without-history")
	s := newStore(client)
	before, err := s.Get(ctx, storedBatch)
	if err != nil || before.Status != batch.PendingIngestion || before.History != nil {
		t.Fatalf("got %+v, error %v, want a batch in PENDING_INGESTION without a history", before, err)
	}
	after, err := s.Apply(ctx, storedBatch, batch.Transition{To: batch.Initialized, At: at})
	want := []batch.StatusAt{{Status: batch.Initialized, At: at}}
	errtest.Fatal(t, err)
	difftest.Equal(t, "history", want, after.History)
}

// TestStoredFiles pins how it is stored that a file was processed, and by which batch.
func TestStoredFiles(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s := newStore(client)
	file := batch.File{Tenant: storedTenant, SHA256: []byte("the digest of 32 bytes of a file")}
	for _, id := range []batch.ID{storedBatch, storedBatch[:35] + "2"} {
		b := batchtest.NewBatch(t, storedTenant)
		b.ID, b.Status = id, batch.InProgress
		errtest.Fatal(t, s.Create(ctx, b))
		errtest.Fatal(t, errtest.Of(s.Apply(ctx, id, batch.Transition{To: batch.Processed, At: at, File: &file})))
	}
	dynamotest.CompareStored(t, client, "test-batches", "files")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-batches", "files")
	difftest.Equal(t, "the file was processed as", storedBatch[:35]+"2",
		errtest.Must(newStore(client).ProcessedAs(ctx, file, at))(t))
}
