package steps

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/transactiondb"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// newSettledBatch returns a batch of valid lines in one chunk that is about to be ingested.
func newSettledBatch(t *testing.T, lines int) *testBatch {
	t.Helper()
	var content strings.Builder
	for i := range lines {
		content.WriteString(line(fmt.Sprint("m", i)))
	}
	w := newTestBatch(t, content.String(), true)
	w.plan.ChunkBytes = 0 // all in one chunk
	input := pipeline.BatchInput{ID: w.id}
	mustRun(t, w.plan.Run, input)
	mustRun(t, w.validate.Run, pipeline.ChunkInput{ID: w.id})
	mustRun(t, w.reconcile.Run,
		pipeline.PartitionInput{ID: w.id, Partitions: pipeline.PartitionRange{End: batch.Partitions}})
	mustRun(t, w.settle.Run, pipeline.ChunkInput{ID: w.id})
	mustRun(t, w.verdict.Run, input)
	mustRun(t, w.admit.Run, w.ticket(admission.Ingestion))
	return w
}

// An ingestion that runs out of time continues at its cursor in the next run and stores every line once.
func TestIngestionContinues(t *testing.T) {
	t.Parallel()
	w := newSettledBatch(t, 2500) // more than two windows
	tick := received
	w.ingest.Budget = time.Second
	// two seconds pass between any two calls
	w.ingest.Now = func() time.Time { tick = tick.Add(2 * time.Second); return tick }
	runs := 0
	for done := false; !done; runs++ {
		if runs > 10 {
			t.Fatal("the ingestion did not end within ten runs")
		}
		done = mustRun(t, w.ingest.Run, pipeline.ChunkInput{ID: w.id}).Done
	}
	if runs < 3 {
		t.Errorf("%d runs, want at least 3", runs)
	}
	mustRun(t, w.close.Run, pipeline.CloseInput{ID: w.id})
	if b := w.current(); b.Status != batch.Processed {
		t.Errorf("batch %s, want PROCESSED", b.Status)
	}
	for _, i := range []int{0, 999, 1000, 1001, 1999, 2000, 2499} {
		difftest.Equal(t, fmt.Sprintf("versions of line %d", i), 1, w.countVersions(fmt.Sprint("t-m", i)))
	}
}

// A run that ends between its last window and the end of its chunk leaves the cursor at the end of the chunk. The next
// run has nothing to read and must not read the next chunk.
func TestIngestionAtEndOfChunk(t *testing.T) {
	t.Parallel()
	w := newTestBatch(t, line("a")+line("b")+line("c")+line("d"), true)
	w.plan.ChunkBytes = int64(2 * len(line("a")))
	input := pipeline.BatchInput{ID: w.id}
	for _, i := range mustRun(t, w.plan.Run, input).Chunks {
		mustRun(t, w.validate.Run, pipeline.ChunkInput{ID: w.id, Index: i})
	}
	mustRun(t, w.reconcile.Run,
		pipeline.PartitionInput{ID: w.id, Partitions: pipeline.PartitionRange{End: batch.Partitions}})
	for i := range 2 {
		mustRun(t, w.settle.Run, pipeline.ChunkInput{ID: w.id, Index: i})
	}
	mustRun(t, w.verdict.Run, input)
	mustRun(t, w.admit.Run, w.ticket(admission.Ingestion))
	cursor := batch.IngestCursor{Offset: w.plan.ChunkBytes, Line: 2, Stored: 2}
	errtest.Fatal(t, errtest.Of(w.batches.AdvanceCursor(context.Background(), w.id, 0, cursor)))
	for i := range 2 {
		if !mustRun(t, w.ingest.Run, pipeline.ChunkInput{ID: w.id, Index: i}).Done {
			t.Errorf("the ingestion of chunk %d is not done", i)
		}
	}
	chunks, err := w.batches.Chunks(context.Background(), w.id)
	if err != nil || chunks[0].Ingested.Stored != 2 || chunks[1].Ingested.Stored != 2 {
		t.Errorf("chunks %+v, %v; want 2 stored lines in each", chunks, err)
	}
}

// putFunc stores versions in place of a table.
type putFunc func(ctx context.Context, versions []transaction.Version) error

func (f putFunc) Put(ctx context.Context, versions []transaction.Version) (refused int, err error) {
	return 0, f(ctx, versions)
}

// stored returns how many lines of the first chunk are recorded as stored.
func (w *testBatch) stored() int64 {
	w.t.Helper()
	chunks, err := w.batches.Chunks(context.Background(), w.id)
	if err != nil || len(chunks) != 1 {
		w.t.Errorf("%d chunks, %v; want one", len(chunks), err)
		return -1
	}
	if chunks[0].Ingested == nil {
		return 0
	}
	return chunks[0].Ingested.Stored
}

// windowOf returns which window of 1000 lines versions are, from 0.
func windowOf(versions []transaction.Version) int { return int(versions[0].Line-1) / 1000 }

// A window is being stored before the one before it is stored and recorded, and no other one is.
func TestTwoWindowsAreStoredAtATime(t *testing.T) {
	t.Parallel()
	const windows = 3
	w := newSettledBatch(t, windows*1000-1)
	var began [windows + 1]chan struct{}
	for i := range began {
		began[i] = make(chan struct{})
	}
	close(began[windows]) // nothing follows the last window
	w.ingest.Transactions = putFunc(func(ctx context.Context, versions []transaction.Version) error {
		i := windowOf(versions)
		close(began[i])
		if recorded := w.stored(); recorded < int64(i-1)*1000 {
			t.Errorf("window %d is being stored when %d lines are recorded, want window %d recorded", i, recorded, i-2)
		}
		select {
		case <-began[i+1]:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := w.ingest.Run(ctx, pipeline.ChunkInput{ID: w.id})
	if stored := w.stored(); err != nil || !out.Done || stored != windows*1000-1 {
		t.Errorf("done: %t, %d lines stored, %v; want all", out.Done, stored, err)
	}
}

// When a window cannot be stored, the one after it is given up, and nothing is recorded that may not be stored.
func TestFailedWindowEndsTheRun(t *testing.T) {
	t.Parallel()
	for failed, recorded := range []int64{0, 1000} {
		t.Run(fmt.Sprint("window ", failed), func(t *testing.T) {
			t.Parallel()
			w := newSettledBatch(t, 3000)
			began, ended := make(chan struct{}), make(chan struct{})
			w.ingest.Transactions = putFunc(func(ctx context.Context, versions []transaction.Version) error {
				switch windowOf(versions) {
				case failed:
					<-began
					return errors.New("the table is gone")
				case failed + 1:
					close(began)
					<-ctx.Done()
					close(ended)
					return ctx.Err()
				}
				return nil
			})
			if out, err := w.ingest.Run(context.Background(), pipeline.ChunkInput{ID: w.id}); err == nil || out.Done {
				t.Errorf("done: %t, error %v; want an error", out.Done, err)
			}
			select {
			case <-ended:
			default:
				t.Error("the run has ended while a window was being stored")
			}
			difftest.Equal(t, "lines are recorded as stored", recorded, w.stored())
		})
	}
}

// refusingTable stores versions after it has refused some of the writes.
type refusingTable struct {
	*transactiondb.Store
	refused int
}

func (r refusingTable) Put(ctx context.Context, versions []transaction.Version) (refused int, err error) {
	_, err = r.Store.Put(ctx, versions)
	return r.refused, err
}

// A run reports a table that refuses more than a tenth of the writes, once in a while.
func TestRefusedWritesAreReported(t *testing.T) {
	t.Parallel()
	for refused, want := range map[int]int{100: 0, 101: 1} {
		w := newSettledBatch(t, 3000)
		w.ingest.Transactions = refusingTable{w.transactions, refused}
		reports := &countedReports{}
		w.ingest.Slots = reports
		out, err := w.ingest.Run(t.Context(), pipeline.ChunkInput{ID: w.id})
		if err != nil || !out.Done || int(reports.n.Load()) != want {
			t.Errorf("%d refused of 1000: %d reports, done %t, error %v; want %d", refused, reports.n.Load(),
				out.Done, err, want)
		}
	}
}

// countedReports counts reports, and answers each with an error, which ends nothing.
type countedReports struct{ n atomic.Int64 }

func (c *countedReports) ReportRefused(context.Context) error {
	c.n.Add(1)
	return errors.New("the table is gone")
}
