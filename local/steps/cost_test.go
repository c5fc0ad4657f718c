package steps

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sluice/internal/cost"
	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiondb"
	"sluice/shared/ingest/admission/admissiontest"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/export"
	"sluice/shared/ingest/intake"
	"sluice/shared/ingest/lineindex/lineindexdb"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/ingest/transaction/transactiondb"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/malware"
)

// countedBatch is a batch whose functions use clients that are counted.
type countedBatch struct {
	*testBatch
	counter requestCounter
	store   *batchdb.Store
	intake  intake.Intake
	export  pipeline.Export
}

// newCountedBatch stores a file as the upload of a batch that awaits it, and counts the creation of the batch. The
// bytes that it unpacks to are divided into a number of chunks.
func newCountedBatch(t *testing.T, content string, unpacked, chunks int64, settings tenancy.Settings) *countedBatch {
	t.Helper()
	settings.MaxFuture = 720 * time.Hour
	w := &countedBatch{testBatch: newTestBatch(t, "", true)} // its own batch remains as it is
	id, err := batch.NewID()
	errtest.Fatal(t, err)
	w.id = id
	key := intake.UploadKey(w.tenant, id)
	o := bucket(uploadsBucket).Create(t.Context(), key)
	io.WriteString(o, content)
	errtest.Fatal(t, o.Close())
	w.plan.ChunkBytes = (unpacked + chunks - 1) / chunks
	w.count(t)
	err = w.store.Create(t.Context(), batch.Batch{
		ID: id, Tenant: w.tenant, Status: batch.AwaitingUpload, RejectOnInvalid: true, CreatedAt: received,
		UpdatedAt: received, Settings: settings,
	})
	errtest.Fatal(t, err)
	return w
}

// count gives all steps clients that are counted.
func (w *countedBatch) count(t *testing.T) {
	t.Helper()
	db := w.counter.database(w.db)
	w.store = batchdb.New(db, "test-batches")
	transactions := errtest.Must(transactiondb.New(db, "test-transactions"))(t)
	uploads, work := w.counter.bucket(uploadsBucket), w.counter.bucket(workBucket)
	slots := admissiontest.NewSlots()
	slots.Queue = admissiondb.New(db, "test-admission")
	log, now := slog.New(slog.DiscardHandler), w.plan.Now
	w.plan.Batches = w.store
	w.validate.Batches, w.validate.Uploads, w.validate.Work = w.store, uploads, work
	w.digest.Batches, w.digest.Uploads, w.digest.Work = w.store, uploads, work
	w.reconcile.Batches, w.reconcile.Work = w.store, work
	w.settle.Batches, w.settle.Uploads, w.settle.Work = w.store, uploads, work
	w.verdict.Batches, w.verdict.Work, w.verdict.Slots = w.store, work, slots
	w.admit.Batches, w.admit.Slots, w.slots = w.store, slots, slots
	w.ingest.Batches, w.ingest.Transactions, w.ingest.Uploads, w.ingest.Work = w.store, transactions, uploads, work
	w.close.Batches, w.close.Slots = w.store, slots
	w.intake = intake.Intake{
		Batches: w.store, Uploads: uploads, Scanner: malware.Builtin{}, Machine: noMachine{},
		Registry: anyUploader{}, MaxBytes: 1 << 30, Now: now, Log: log,
		MaxRatio: 1000, NewAttempt: pipeline.NewAttempt,
	}
	catalog := lineindexdb.New(db, "test-index")
	errtest.Fatal(t, errtest.Of(w.keys.Make(t.Context(), w.tenant))) // once for a tenant, and not counted
	w.validate.Keys = lineindexdb.NewKeys(catalog, openBox{}, "test", now)
	w.index.Batches, w.index.Indexer.Catalog, w.index.Accepted = w.store, catalog, pipeline.AcceptedLines(work)
	w.index.Indexer.Work, w.index.Indexer.Files = work, work
	w.export = pipeline.Export{
		Batches: w.store, Uploads: uploads, Work: work, Files: work, Write: copyLines,
		Attempt: func(context.Context) string { return "only" }, Lease: time.Minute, Now: now, Log: log,
	}
}

// copyLines writes the lines of an export without the format of its file: what is read for it is counted.
func copyLines(ctx context.Context, w io.Writer, f export.File) error {
	for i := range f.ChunkBytes {
		if err := f.Lines(ctx, i, func(l export.Line) error {
			_, err := w.Write(l.Text)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

type noMachine struct{}

func (noMachine) Start(context.Context, batch.ID) error { return nil }

type anyUploader struct{}

func (anyUploader) MayUpload(context.Context, string, string) (isEnabled, hasFeature bool, err error) {
	return true, true, nil
}

// runOnce runs each step as often as the state machine does if nothing fails.
func (w *countedBatch) runOnce(t *testing.T, size int64) {
	t.Helper()
	object := batch.Object{Key: intake.UploadKey(w.tenant, w.id), Size: size}
	errtest.Fatal(t, w.intake.Process(t.Context(), object, received))
	input := pipeline.BatchInput{ID: w.id}
	mustRun(t, w.admit.Run, w.ticket(admission.Validation))
	plan := mustRun(t, w.plan.Run, input)
	if plan.IsProcessedWhole {
		mustRun(t, w.process().Run, input)
	} else {
		w.runSteps(t, plan)
	}
	ended := errtest.Must(w.store.ClaimAnnouncement(t.Context(), w.id, "only", received, received.Add(time.Minute)))(t)
	errtest.Fatal(t, w.store.MarkAnnounced(t.Context(), ended, batch.Receivers()))
	if ended.Settings.Parquet {
		mustRun(t, w.export.Run, input)
	}
	mustRun(t, w.index.Run, input)
	if b := w.current(); b.Status != batch.Processed {
		t.Errorf("the batch ended as %s, want PROCESSED", b.Status)
	}
}

// runSteps runs the steps between Plan and the end of the batch.
func (w *countedBatch) runSteps(t *testing.T, plan pipeline.PlanOutput) {
	t.Helper()
	input := pipeline.BatchInput{ID: w.id}
	for _, i := range plan.Chunks {
		mustRun(t, w.validate.Run, pipeline.ChunkInput{ID: w.id, Index: i})
	}
	mustRun(t, w.digest.Run, pipeline.DigestInput{ID: w.id})
	for _, r := range plan.Partitions {
		mustRun(t, w.reconcile.Run, pipeline.PartitionInput{ID: w.id, Partitions: r})
	}
	for _, i := range plan.Chunks {
		mustRun(t, w.settle.Run, pipeline.ChunkInput{ID: w.id, Index: i})
	}
	mustRun(t, w.verdict.Run, input)
	mustRun(t, w.admit.Run, w.ticket(admission.Ingestion))
	for _, i := range plan.Chunks {
		mustRun(t, w.ingest.Run, pipeline.ChunkInput{ID: w.id, Index: i})
	}
	mustRun(t, w.close.Run, pipeline.CloseInput{ID: w.id})
}

// Large objects, such as copies of packed files, are written by as many requests as the model says.
func TestPutsOfLargeObjects(t *testing.T) {
	t.Parallel()
	var counter requestCounter
	work := counter.bucket(workBucket)
	for _, size := range []int{8<<20 - 1, 8 << 20, 8<<20 + 1, 16 << 20} {
		errtest.Fatal(t, errtest.Of(work.StoreObject(t.Context(), uniqueKey("work/large"), func(w io.Writer) error {
			_, err := w.Write(make([]byte, size))
			return err
		})))
		if got, want := counter.take().puts, cost.ObjectPuts(float64(size)); float64(got) != want {
			t.Errorf("%d bytes: %d PUTs were counted, and the model says %g", size, got, want)
		}
	}
}

// packGzip returns a file in gzip.
func packGzip(t *testing.T, content string) string {
	t.Helper()
	var packed strings.Builder
	p := gzip.NewWriter(&packed)
	errtest.Fatal(t, errtest.Of(io.WriteString(p, content)))
	errtest.Fatal(t, p.Close())
	return packed.String()
}

// TestRequestsAreThoseOfTheCostModel counts what valid batches use of DynamoDB and S3 if no step is repeated, and
// compares it with the model of 'sluice cost'. If it fails because the service uses more than before, that costs money:
// change the model and docs/cost.md only if it is worth it.
func TestRequestsAreThoseOfTheCostModel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lines, chunks       int64
		isPacked, isParquet bool
	}{
		{1200, 2, false, false}, // so many lines that no section of an index is empty
		{2500, 1, false, false}, // two full windows
		{1200, 2, true, false},
		{1200, 2, false, true},
	} {
		name := fmt.Sprintf("%d lines in %d chunks, packed %v, Parquet %v", tt.lines, tt.chunks, tt.isPacked,
			tt.isParquet)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var content strings.Builder
			for i := range tt.lines {
				content.WriteString(line(fmt.Sprint("m", i)))
			}
			load := cost.Load{Lines: tt.lines, Bytes: int64(content.Len()), Batches: 1, Parquet: tt.isParquet}
			file := content.String()
			if tt.isPacked {
				file = packGzip(t, file)
				load.PackedBytes = int64(len(file))
			}
			w := newCountedBatch(t, file, load.Bytes, tt.chunks, tenancy.Settings{Parquet: tt.isParquet})
			load.ChunkBytes = w.plan.ChunkBytes
			w.runOnce(t, int64(len(file)))
			used := w.counter.take()
			writes, reads := 0.0, 0.0
			for table, n := range used.writeUnits {
				if table != "test-transactions" {
					writes += n
				}
			}
			for _, n := range used.readUnits {
				reads += n
			}
			const uploadPut = 1 // by the client
			want := cost.UsageOf(load)
			for _, c := range []struct {
				what      string
				got, want float64
			}{
				{"write units of lines", used.writeUnits["test-transactions"], want.LineWrites},
				{"write units of other rows", writes, want.RowWrites},
				{"read units", reads, want.Reads},
				{"PUTs", float64(used.puts + uploadPut), want.Puts},
				{"GETs", float64(used.gets), want.Gets},
			} {
				if diff := c.got - c.want; diff > 0.01*c.want || diff < -0.03*c.want {
					t.Errorf("%s: %g were counted, and the model says %g", c.what, c.got, c.want)
				}
			}
		})
	}
}
