package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/admission"
	"sluice/shared/admission/admissiontest"
	"sluice/shared/batch"
	"sluice/shared/batch/batchdb"
	"sluice/shared/chunk"
	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/entity"
	"sluice/shared/entity/entitydb"
	"sluice/shared/entity/entitytest"
	"sluice/shared/machine"
	"sluice/shared/pipeline"
	"sluice/shared/screening/catalog/catalogtest"
	"sluice/shared/transaction"
	"sluice/shared/transaction/transactiondb"
)

var received = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// testBatch is a batch with all steps of the pipeline.
type testBatch struct {
	t            *testing.T
	db           *dynamodb.Client
	batches      *batchdb.Store
	transactions *transactiondb.Store
	id           batch.ID
	tenant       string
	// lists are the watchlists with which names are screened.
	lists *catalogtest.Memory

	plan      pipeline.Plan
	validate  pipeline.Validate
	digest    pipeline.Digest
	reconcile pipeline.Reconcile
	screen    pipeline.Screen
	settle    pipeline.Settle
	verdict   pipeline.Verdict
	admit     pipeline.Admit
	ingest    pipeline.Ingest
	close     pipeline.Close
	// slots are those for which the batch waits.
	slots *admission.Slots
}

// newTestBatch uploads a file and returns its batch in the state in which the scan leaves it.
func newTestBatch(t *testing.T, content string, reject bool) *testBatch {
	t.Helper()
	return newScreenedBatch(t, content, reject, nil)
}

// newScreenedBatch is newTestBatch for a batch whose names are screened.
func newScreenedBatch(t *testing.T, content string, reject bool, screening *batch.Screening) *testBatch {
	t.Helper()
	return newBatchWith(t, content, func(b *batch.Batch) { b.RejectOnInvalid, b.Screening = reject, screening })
}

// newBatchWith is newTestBatch for a batch for which ask writes what its client has asked for.
func newBatchWith(t *testing.T, content string, ask func(*batch.Batch)) *testBatch {
	t.Helper()
	db := dynamotest.Start(t)
	transactions, err := transactiondb.New(db, "test-transactions")
	if err != nil {
		t.Fatal(err)
	}
	id, err := batch.NewID()
	if err != nil {
		t.Fatal(err)
	}
	w := &testBatch{
		t:            t,
		db:           db,
		batches:      batchdb.New(db, "test-batches"),
		transactions: transactions,
		id:           id,
		tenant:       uuid.NewString(),
	}
	entities := entitydb.NewStatuses(db, "test-entities")
	entitytest.StoreStatuses(t, db, w.tenant, entitytest.Statuses{"known": entity.Compliant})
	log := slog.New(slog.DiscardHandler)
	now := func() time.Time { return received.Add(time.Minute) }
	uploads, files := bucket(uploadsBucket), bucket(workBucket)
	w.plan = pipeline.Plan{Batches: w.batches, ChunkBytes: 700, MaxLineBytes: 4096, Widths: pipeline.Widths{Ingest: 4},
		Now: now, Log: log}
	w.validate = pipeline.Validate{
		Batches:    w.batches,
		Uploads:    uploads,
		Work:       files,
		NewAttempt: pipeline.NewAttempt,
		Log:        log,
	}
	w.digest = pipeline.Digest{Batches: w.batches, Uploads: uploads, Work: files, Log: log}
	w.reconcile = pipeline.Reconcile{
		Batches:    w.batches,
		Entities:   entities,
		Work:       files,
		NewAttempt: pipeline.NewAttempt,
		Log:        log,
	}
	w.settle = pipeline.Settle{
		Batches:    w.batches,
		Uploads:    uploads,
		Work:       files,
		NewAttempt: pipeline.NewAttempt,
		Log:        log,
	}
	slots := admissiontest.NewSlots()
	w.slots = slots
	w.verdict = pipeline.Verdict{
		Batches: w.batches, Work: files, Slots: slots, NewAttempt: pipeline.NewAttempt, Now: now, Log: log,
	}
	w.admit = pipeline.Admit{Batches: w.batches, Slots: slots, Now: now, Log: log}
	w.ingest = pipeline.Ingest{
		Batches:      w.batches,
		Transactions: transactions,
		Uploads:      uploads,
		Work:         files,
		Budget:       time.Hour,
		Now:          now,
		Log:          log,
	}
	w.close = pipeline.Close{Batches: w.batches, Slots: slots, Now: now, Log: log}
	w.lists = catalogtest.NewMemory()
	w.screen = pipeline.Screen{Batches: w.batches, Work: files, NewAttempt: pipeline.NewAttempt, Log: log}
	w.openLists()
	w.put(content, ask)
	return w
}

// openLists gives the steps a loader that knows nothing of the watchlists yet, as a cold function has.
func (w *testBatch) openLists() {
	loader := w.lists.Loader()
	w.plan.Lists, w.plan.Pins, w.screen.Lists = loader, w.lists, loader
}

// put uploads the file and creates the batch.
func (w *testBatch) put(content string, ask func(*batch.Batch)) {
	w.t.Helper()
	ctx := context.Background()
	key := "uploads/" + w.tenant + "/" + string(w.id)
	o := bucket(uploadsBucket).Create(ctx, key)
	io.WriteString(o, content)
	if err := o.Close(); err != nil {
		w.t.Fatal(err)
	}
	b := batch.Batch{
		ID: w.id, Tenant: w.tenant, Status: batch.AwaitingUpload, CreatedAt: received, UpdatedAt: received,
		Settings: batch.Settings{MaxFuture: 720 * time.Hour},
	}
	ask(&b)
	if err := w.batches.Create(ctx, b); err != nil {
		w.t.Fatal(err)
	}
	object := batch.Object{Key: key, Size: int64(len(content))}
	uploaded := batch.Transition{To: batch.Uploaded, At: received, Object: &object, ReceivedAt: received}
	if _, err := w.batches.Apply(ctx, w.id, uploaded); err != nil {
		w.t.Fatal(err)
	}
}

// line returns a valid line with the given modification ID.
func line(modification string) string {
	text, err := json.Marshal(map[string]any{
		"request_uuid": uuid.NewString(), "payment_external_id": "p", "transaction_external_id": "t-" + modification,
		"sender": map[string]any{"by_external_id": "known"}, "receiver": map[string]any{"by_external_id": "known"},
		"modification": map[string]any{
			"external_id": modification,
			"type":        "settlement",
			"amount":      1,
			"currency":    "EUR",
			"created_at":  "2024-03-01T10:15:30",
		},
	})
	if err != nil {
		panic(err)
	}
	return string(text) + "\n"
}

// runThrice runs a step twice at the same time and once more after that. All runs must return the same.
func runThrice[In, Out any](w *testBatch, name string, run func(context.Context, In) (Out, error), in In) Out {
	w.t.Helper()
	var group sync.WaitGroup
	outs, errs := make([]Out, 3), make([]error, 3)
	for i := range 2 {
		group.Go(func() { outs[i], errs[i] = run(context.Background(), in) })
	}
	group.Wait()
	outs[2], errs[2] = run(context.Background(), in)
	if err := errors.Join(errs...); err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
	if diff := cmp.Diff(outs[0], outs[1]) + cmp.Diff(outs[0], outs[2]); diff != "" {
		w.t.Errorf("%s returned different outputs: %s", name, diff)
	}
	return outs[2]
}

// run runs all steps of the batch, each three times, and returns the batch.
func (w *testBatch) run() batch.Batch {
	w.t.Helper()
	input := pipeline.BatchInput{ID: w.id}
	runThrice(w, "admit", w.admit.Run, w.ticket(admission.Validation))
	plan := runThrice(w, "plan", w.plan.Run, input)
	for _, i := range plan.Chunks {
		runThrice(w, "validate", w.validate.Run, pipeline.ChunkInput{ID: w.id, Index: i})
	}
	runThrice(w, "digest", w.digest.Run, pipeline.DigestInput{ID: w.id})
	for _, r := range plan.Partitions {
		runThrice(w, "reconcile", w.reconcile.Run, pipeline.PartitionInput{ID: w.id, Partitions: r})
	}
	for _, r := range plan.Screening {
		runThrice(w, "screen", w.screen.Run, pipeline.PartitionInput{ID: w.id, Partitions: r})
	}
	for _, i := range plan.Chunks {
		runThrice(w, "settle", w.settle.Run, pipeline.ChunkInput{ID: w.id, Index: i})
	}
	verdict := runThrice(w, "verdict", w.verdict.Run, input)
	if verdict.Digest {
		runThrice(w, "digest of the accepted lines", w.digest.Run, pipeline.DigestInput{ID: w.id, Accepted: true})
		verdict = runThrice(w, "verdict", w.verdict.Run, input)
	}
	if verdict.Ingest {
		runThrice(w, "admit", w.admit.Run, w.ticket(admission.Ingestion))
		for _, i := range plan.Chunks {
			if !runThrice(w, "ingest", w.ingest.Run, pipeline.ChunkInput{ID: w.id, Index: i}).Done {
				w.t.Errorf("the ingestion of chunk %d is not done", i)
			}
		}
		runThrice(w, "close", w.close.Run, pipeline.CloseInput{ID: w.id})
	}
	return w.current()
}

// ticket returns the input of the state that waits for a slot of a stage.
func (w *testBatch) ticket(s admission.Stage) pipeline.AdmitInput {
	return pipeline.AdmitInput{ID: w.id, Stage: s, Token: "token of " + string(s), Entered: received}
}

// current returns the batch as it is stored.
func (w *testBatch) current() batch.Batch {
	w.t.Helper()
	b, err := w.batches.Get(context.Background(), w.id)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// countVersions returns the number of stored versions of a transaction.
func (w *testBatch) countVersions(transactionID string) int {
	w.t.Helper()
	versions, _, err := w.transactions.List(context.Background(),
		transaction.Range{Tenant: w.tenant, TransactionID: transactionID, Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(versions)
}

// report returns the report of the batch.
func (w *testBatch) report(b batch.Batch) string {
	w.t.Helper()
	return string(read(w.t, bucket(workBucket), b.Verdict.ReportKey, 0, -1))
}

func TestEveryStepCanRunTwice(t *testing.T) {
	t.Parallel()
	var content strings.Builder
	for i := range 30 {
		content.WriteString(line(fmt.Sprint("m", i)))
	}
	content.WriteString("nonsense\n\n" + line("twin") + line("twin"))
	w := newTestBatch(t, content.String(), false)
	b := w.run()
	if v := b.Verdict; b.Status != batch.Processed || v.Total != 33 || v.Accepted != 30 || v.Invalid != 3 {
		t.Fatalf("batch %s with verdict %+v, want PROCESSED with 30 of 33 accepted", b.Status, b.Verdict)
	}
	for i := range 30 {
		if n := w.countVersions(fmt.Sprint("t-m", i)); n != 1 {
			t.Errorf("line %d has %d versions, want 1", i, n)
		}
	}
	if w.countVersions("t-twin") != 0 {
		t.Error("a rejected line was stored")
	}
	if n := strings.Count(w.report(b), "\n"); n != 3 {
		t.Errorf("%d lines in the report, want 3", n)
	}
}

func TestBatchRejectedAsAWhole(t *testing.T) {
	t.Parallel()
	w := newTestBatch(t, line("a")+"nonsense\n", true)
	if b := w.run(); b.Status != batch.ValidationFailed || b.ErrorMessage == "" || w.countVersions("t-a") != 0 {
		t.Errorf("batch %s (%q) with %d stored versions, want VALIDATION_FAILED with a message and none", b.Status,
			b.ErrorMessage, w.countVersions("t-a"))
	}
}

// A batch that is validate_only ends with its verdict, whatever runs twice, and nothing of it is stored.
func TestValidateOnly(t *testing.T) {
	t.Parallel()
	content := line("a") + line("b") + "nonsense\n"
	for _, tt := range []struct {
		name     string
		ask      func(*batch.Batch)
		want     batch.Status
		statuses []batch.Status
	}{
		{"dropped lines", func(b *batch.Batch) {}, batch.Processed,
			[]batch.Status{batch.ValidationStarted, batch.Processed}},
		{"as many invalid lines as allowed", func(
			b *batch.Batch) {
			b.MaxRejected = &batch.RejectLimit{Share: "33.4%"}
		}, batch.Processed,
			[]batch.Status{batch.ValidationStarted, batch.Processed}},
		{"more invalid lines than allowed", func(b *batch.Batch) { b.MaxRejected = &batch.RejectLimit{Share: "33.3%"} },
			batch.ValidationFailed, []batch.Status{batch.ValidationStarted, batch.ValidationFailed}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newBatchWith(t, content, func(b *batch.Batch) { b.ValidateOnly = true; tt.ask(b) })
			b := w.run()
			var statuses []batch.Status
			for _, entry := range b.History {
				statuses = append(statuses, entry.Status)
			}
			if diff := cmp.Diff(tt.statuses, statuses); b.Status != tt.want || diff != "" {
				t.Errorf("batch %s (%q), want %s; history (-want +got):\n%s", b.Status, b.ErrorMessage, tt.want, diff)
			}
			for _, stage := range []admission.Stage{admission.Validation, admission.Ingestion} {
				gate, err := w.slots.Queue.Gate(t.Context(), stage)
				if err != nil || len(gate.Holders) != 0 {
					t.Errorf("slots of %s: held by %v, error %v, want none", stage, gate.Holders, err)
				}
			}
			if b.Verdict.Accepted != 2 || b.Verdict.Invalid != 1 || b.Ingested() != 0 || w.countVersions("t-a") != 0 {
				t.Errorf("verdict %+v with %d ingested and %d stored versions, want 2 valid lines, and none ingested",
					b.Verdict, b.Ingested(), w.countVersions("t-a"))
			}
		})
	}
}

func TestFileWithoutTransactions(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "\n", "\n \r\n"} {
		w := newTestBatch(t, content, false)
		if b := w.run(); b.Status != batch.ValidationFailed || b.ErrorMessage != "The file contains no transaction." ||
			w.report(b) != "" {
			t.Errorf("file %q: batch %s (%q), want VALIDATION_FAILED with an empty report", content, b.Status,
				b.ErrorMessage)
		}
	}
}

// mustRun runs a step that must not fail.
func mustRun[In, Out any](t *testing.T, run func(context.Context, In) (Out, error), in In) Out {
	t.Helper()
	out, err := run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A batch that has failed remains failed: all its steps return BatchOver and do nothing.
func TestFailedBatchRemainsFailed(t *testing.T) {
	t.Parallel()
	w := newTestBatch(t, line("a"), true)
	plan := mustRun(t, w.plan.Run, pipeline.BatchInput{ID: w.id})
	failure := pipeline.CloseInput{ID: w.id, Failure: &machine.Failure{Error: "ObjectChanged", Cause: "secret"}}
	runThrice(w, "close", w.close.Run, failure)
	if b := w.current(); b.Status != batch.Failed || b.ErrorMessage == "" ||
		strings.Contains(b.ErrorMessage, "secret") {
		t.Fatalf("batch %s (%q), want ERROR with a message that does not contain the cause", b.Status, b.ErrorMessage)
	}
	var over *pipeline.BatchOver
	if _, err := w.validate.Run(context.Background(), pipeline.ChunkInput{ID: w.id, Index: plan.Chunks[0]}); !errors.As(
		err,
		&over,
	) {
		t.Errorf("validate: %v, want BatchOver", err)
	}
	if _, err := w.ingest.Run(context.Background(), pipeline.ChunkInput{ID: w.id, Index: plan.Chunks[0]}); !errors.As(
		err,
		&over,
	) {
		t.Errorf("ingest: %v, want BatchOver", err)
	}
	if _, err := w.admit.Run(context.Background(), w.ticket(admission.Validation)); !errors.As(err, &over) {
		t.Errorf("admit: %v, want BatchOver", err)
	}
	if _, err := w.close.Run(context.Background(), pipeline.CloseInput{ID: w.id}); !errors.As(err, &over) {
		t.Errorf("close: %v, want BatchOver", err)
	}
}

// Steps return errors of the types that the state machine matches.
func TestErrorTypes(t *testing.T) {
	t.Parallel()
	w := newTestBatch(t, line("a")+line("b"), true)
	mustRun(t, w.plan.Run, pipeline.BatchInput{ID: w.id})
	var transient *pipeline.Transient
	if _, err := w.settle.Run(context.Background(), pipeline.ChunkInput{ID: w.id}); !errors.As(err, &transient) {
		t.Errorf("settle before validate: %v, want Transient", err)
	}
	if _, err := w.close.Run(context.Background(), pipeline.CloseInput{ID: w.id}); !errors.As(err, &transient) {
		t.Errorf("close before anything is stored: %v, want Transient", err)
	}
	w.validate.Uploads = missingUploads{}
	var changed *pipeline.ObjectChanged
	if _, err := w.validate.Run(context.Background(), pipeline.ChunkInput{ID: w.id}); !errors.As(err, &changed) {
		t.Errorf("validate without the upload: %v, want ObjectChanged", err)
	}
}

// missingUploads is an uploads bucket without objects.
type missingUploads struct{}

func (missingUploads) Source(string, string) chunk.Source {
	return bucket(uploadsBucket).Source("uploads/missing", "")
}
