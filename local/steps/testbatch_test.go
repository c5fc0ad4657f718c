package steps

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/functions/setup/listsetup"
	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiontest"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/lineindex/lineindexdb"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/transactiondb"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/entity/entitydb"
	"sluice/shared/platform/entity/entitytest"
	"sluice/shared/screening/catalog/catalogtest"
)

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
	index     pipeline.Index
	// keys has the keys of the index of lines, and search searches it.
	keys   *lineindexdb.Keys
	search lineindex.Searcher
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
	transactions := errtest.Must(transactiondb.New(db, "test-transactions"))(t)
	id := errtest.Must(batch.NewID())(t)
	w := &testBatch{
		t:            t,
		db:           db,
		batches:      batchdb.New(db, "test-batches"),
		transactions: transactions,
		id:           id,
		tenant:       uuid.NewString(),
	}
	entitytest.StoreStatuses(t, db, w.tenant, entitytest.Statuses{"known": entity.Compliant})
	w.makeSteps()
	w.put(content, ask)
	return w
}

// makeSteps makes the steps of the pipeline, over the stores of the batch and the buckets of the S3 server.
func (w *testBatch) makeSteps() {
	log := slog.New(slog.DiscardHandler)
	now := func() time.Time { return received.Add(time.Minute) }
	uploads, files := bucket(uploadsBucket), bucket(workBucket)
	w.slots, w.lists = admissiontest.NewSlots(), catalogtest.NewMemory()
	w.plan = pipeline.Plan{
		Batches: w.batches, ChunkBytes: 700, MaxLineBytes: 4096, Widths: pipeline.Widths{Ingest: 4}, Now: now, Log: log,
	}
	catalog := lineindexdb.New(w.db, "test-index")
	w.keys = lineindexdb.NewKeys(catalog, openBox{}, "test", now)
	w.validate = pipeline.Validate{
		Batches: w.batches, Uploads: uploads, Work: files, Keys: w.keys, NewAttempt: pipeline.NewAttempt, Log: log,
	}
	w.index = pipeline.Index{Batches: w.batches, Accepted: pipeline.AcceptedLines(files),
		Tenants: catalog.Tenants, Now: now, Log: log,
		Indexer: &lineindex.Indexer{Catalog: catalog, Work: files, Files: files, NewName: pipeline.NewAttempt,
			Lease: time.Minute, Now: now}}
	w.search = lineindex.Searcher{Catalog: catalog, Files: files, Now: now, IsGone: func(error) bool { return false }}
	w.digest = pipeline.Digest{Batches: w.batches, Uploads: uploads, Work: files, Log: log}
	w.reconcile = pipeline.Reconcile{
		Batches: w.batches, Entities: entitydb.NewStatuses(w.db, "test-entities"), Work: files,
		NewAttempt: pipeline.NewAttempt, Log: log,
	}
	w.screen = pipeline.Screen{Batches: w.batches, Work: files, NewAttempt: pipeline.NewAttempt, Log: log}
	w.settle = pipeline.Settle{
		Batches: w.batches, Uploads: uploads, Work: files, NewAttempt: pipeline.NewAttempt, Log: log,
	}
	w.verdict = pipeline.Verdict{
		Batches: w.batches, Work: files, Slots: w.slots, NewAttempt: pipeline.NewAttempt, Now: now, Log: log,
	}
	w.admit = pipeline.Admit{Batches: w.batches, Slots: w.slots, Now: now, Log: log}
	w.ingest = pipeline.Ingest{
		Batches: w.batches, Transactions: w.transactions, Uploads: uploads, Work: files, Slots: w.slots,
		Budget: time.Hour, Now: now, Log: log,
	}
	w.close = pipeline.Close{Batches: w.batches, Slots: w.slots, Now: now, Log: log}
	w.openLists()
}

// openBox seals nothing.
type openBox struct{}

func (openBox) Seal(_ context.Context, _, _ string, plaintext []byte) ([]byte, error) {
	return plaintext, nil
}
func (openBox) Open(_ context.Context, _, _ string, sealed []byte) ([]byte, error) {
	return sealed, nil
}

// openLists gives the steps a loader that knows nothing of the watchlists yet, as a cold function has.
func (w *testBatch) openLists() {
	lists := &listsetup.Lists{Loader: w.lists.Loader(), Pins: w.lists}
	w.plan.Lists, w.screen.Lists = lists, lists
}

// put uploads the file and creates the batch.
func (w *testBatch) put(content string, ask func(*batch.Batch)) {
	w.t.Helper()
	ctx := context.Background()
	key := "uploads/" + w.tenant + "/" + string(w.id)
	o := bucket(uploadsBucket).Create(ctx, key)
	io.WriteString(o, content)
	errtest.Fatal(w.t, o.Close())
	b := batch.Batch{
		ID: w.id, Tenant: w.tenant, Status: batch.AwaitingUpload, CreatedAt: received, UpdatedAt: received,
		Settings: tenancy.Settings{MaxFuture: 720 * time.Hour},
	}
	ask(&b)
	errtest.Fatal(w.t, w.batches.Create(ctx, b))
	object := batch.Object{Key: key, Size: int64(len(content))}
	uploaded := batch.Transition{To: batch.Uploaded, At: received, Object: &object, ReceivedAt: received}
	errtest.Fatal(w.t, errtest.Of(w.batches.Apply(ctx, w.id, uploaded)))
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
	difftest.Equal(w.t, name+" returned different outputs", "", cmp.Diff(outs[0], outs[1])+cmp.Diff(outs[0], outs[2]))
	return outs[2]
}

// run runs all steps of the batch, each three times, and returns the batch.
func (w *testBatch) run() batch.Batch {
	w.t.Helper()
	input := pipeline.BatchInput{ID: w.id}
	runThrice(w, "admit", w.admit.Run, w.ticket(admission.Validation))
	plan := runThrice(w, "plan", w.plan.Run, input)
	if plan.IsProcessedWhole {
		if !runThrice(w, "process", w.process().Run, input).Done {
			w.t.Error("the batch is not processed")
		}
		runThrice(w, "index", w.index.Run, input)
		return w.current()
	}
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
	runThrice(w, "index", w.index.Run, input)
	return w.current()
}

// process returns the step that runs the others.
func (w *testBatch) process() *pipeline.Process {
	w.verdict.Slots, w.close.Slots = pipeline.HeldSlot{}, pipeline.HeldSlot{}
	return &pipeline.Process{
		Batches: w.batches, Validate: w.validate.Run, Digest: w.digest.Run, Reconcile: w.reconcile.Run,
		Settle: w.settle.Run, Verdict: w.verdict.Run, Ingest: w.ingest.Run, Close: w.close.Run, Slots: w.slots,
		Log: slog.New(slog.DiscardHandler),
	}
}

// ticket returns the input of the state that waits for a slot of a stage.
func (w *testBatch) ticket(s admission.Stage) pipeline.AdmitInput {
	return pipeline.AdmitInput{ID: w.id, Stage: s, Token: "token of " + string(s), Entered: received}
}

// current returns the batch as it is stored.
func (w *testBatch) current() batch.Batch {
	w.t.Helper()
	return errtest.Must(w.batches.Get(context.Background(), w.id))(w.t)
}

// countVersions returns the number of stored versions of a transaction.
func (w *testBatch) countVersions(transactionID string) int {
	w.t.Helper()
	versions, _, err := w.transactions.List(context.Background(),
		transaction.Range{Tenant: w.tenant, TransactionID: transactionID, Limit: 1000})
	errtest.Fatal(w.t, err)
	return len(versions)
}

// report returns the report of the batch.
func (w *testBatch) report(b batch.Batch) string {
	w.t.Helper()
	return string(read(w.t, bucket(workBucket), b.Verdict.ReportKey, 0, -1))
}
