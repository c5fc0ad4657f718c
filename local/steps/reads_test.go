package steps

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/errtest"
)

// filled returns the number of sections that are not empty.
func filled(sections string) (n int) {
	for b := []byte(sections); len(b) > 0; {
		length, size := binary.Uvarint(b)
		if b = b[size:]; length > 0 {
			n++
		}
	}
	return n
}

// Reconcile reads each section of an index by one GET, and Settle each section of rejections; an empty one takes none.
// The read units of settling a chunk do not grow with the number of chunks. A batch whose chunks were validated and
// reconciled by a release that recorded no sections ends as well, by more GETs.
func TestReadsOfManyChunks(t *testing.T) {
	t.Parallel()
	var content strings.Builder
	for i := range 30 {
		content.WriteString(line(fmt.Sprint("m", i)))
	}
	for i := range 10 {
		content.WriteString(line(fmt.Sprint("m", 3*i)))
	}
	content.WriteString("nonsense\n")
	t.Run("with sections", func(t *testing.T) {
		testReads(t, content.String(), func(s batch.JobStore) batch.JobStore { return s }, true)
	})
	t.Run("without", func(t *testing.T) {
		testReads(t, content.String(), func(s batch.JobStore) batch.JobStore { return storeWithoutSections{s} }, false)
	})
}

// testReads runs a batch whose steps use the store that newStore makes of the usual one, and counts what they read. The
// GETs are counted only if that store has the sections of files.
func testReads(t *testing.T, content string, newStore func(batch.JobStore) batch.JobStore, hasSections bool) {
	t.Helper()
	var reads requestCounter
	w := newTestBatch(t, content, false)
	store := newStore(batchdb.New(reads.database(w.db), "test-batches"))
	w.validate.Batches, w.reconcile.Batches, w.settle.Batches = store, store, store
	w.reconcile.Work, w.settle.Work = reads.bucket(workBucket), reads.bucket(workBucket)

	plan := mustRun(t, w.plan.Run, pipeline.BatchInput{ID: w.id})
	for _, i := range plan.Chunks {
		mustRun(t, w.validate.Run, pipeline.ChunkInput{ID: w.id, Index: i})
	}
	reads.take()
	for p := range batch.Partitions {
		ranges := pipeline.PartitionRange{First: p, End: p + 1}
		mustRun(t, w.reconcile.Run, pipeline.PartitionInput{ID: w.id, Partitions: ranges})
	}
	want, chunks := 0, w.chunks()
	for _, c := range chunks {
		want += filled(c.Validated.IndexSections)
	}
	gets, units := reads.takeReads()
	if hasSections && gets != want || units > 6*batch.Partitions {
		t.Errorf("reconciling %d chunks took %d GETs and %.1f read units, want %d and at most %d", len(chunks),
			gets, units, want, 6*batch.Partitions)
	}
	for _, i := range plan.Chunks {
		mustRun(t, w.settle.Run, pipeline.ChunkInput{ID: w.id, Index: i})
	}
	reconciled := errtest.Must(w.batches.Reconciled(t.Context(), w.id))(t)
	want = 1 // for the only chunk that has findings
	for _, r := range reconciled {
		if r.RejectionsKey != "" {
			want += filled(r.RejectionsSections)
		}
	}
	// Each chunk reads four rows: the batch, itself, the line counts, and those of the partitions by one query.
	gets, units = reads.takeReads()
	if hasSections && gets != want || units > float64(5*len(chunks)) {
		t.Errorf("settling %d chunks took %d GETs and %.1f read units, want %d and at most %d", len(chunks),
			gets, units, want, 5*len(chunks))
	}
	if b := w.run(); b.Status != batch.Processed || b.Verdict.Accepted != 20 || b.Verdict.Invalid != 21 {
		t.Errorf("the batch ended as %s with the verdict %+v, want PROCESSED, 20 accepted, 21 invalid",
			b.Status, b.Verdict)
	}
}

// chunks returns the chunks of the batch.
func (w *testBatch) chunks() []batch.Chunk {
	w.t.Helper()
	return errtest.Must(w.batches.Chunks(context.Background(), w.id))(w.t)
}

// storeWithoutSections is the store of a release that recorded no sections of files.
type storeWithoutSections struct{ batch.JobStore }

func (s storeWithoutSections) CommitValidated(ctx context.Context, id batch.ID, index int,
	r batch.ValidateResult) (batch.ValidateResult, error) {
	r.IndexSections, r.NamesSections = "", ""
	return s.JobStore.CommitValidated(ctx, id, index, r)
}

func (s storeWithoutSections) CommitReconciled(ctx context.Context, id batch.ID, partition int,
	r batch.ReconcileResult) (batch.ReconcileResult, error) {
	r.RejectionsSections = ""
	return s.JobStore.CommitReconciled(ctx, id, partition, r)
}

// Reconcile reads the neighbouring partitions of an index by one GET, on both sides of one that is reconciled.
func TestReadsOfNeighbouringPartitions(t *testing.T) {
	t.Parallel()
	var content strings.Builder
	for i := range 60 {
		content.WriteString(line(fmt.Sprint("m", i%59)))
	}
	for name, tt := range map[string]struct {
		reconciled []pipeline.PartitionRange
		gets       int // of each index
	}{
		"all":                {nil, 1},
		"but the first":      {[]pipeline.PartitionRange{{First: 0, End: 1}}, 1},
		"but one in between": {[]pipeline.PartitionRange{{First: 7, End: 8}}, 2},
		"but two":            {[]pipeline.PartitionRange{{First: 1, End: 2}, {First: 14, End: 15}}, 3},
		"none":               {[]pipeline.PartitionRange{{First: 0, End: batch.Partitions}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var reads requestCounter
			w := newTestBatch(t, content.String(), false)
			for _, i := range mustRun(t, w.plan.Run, pipeline.BatchInput{ID: w.id}).Chunks {
				mustRun(t, w.validate.Run, pipeline.ChunkInput{ID: w.id, Index: i})
			}
			for _, r := range tt.reconciled {
				mustRun(t, w.reconcile.Run, pipeline.PartitionInput{ID: w.id, Partitions: r})
			}
			w.reconcile.Work = reads.bucket(workBucket)
			mustRun(t, w.reconcile.Run, pipeline.PartitionInput{ID: w.id,
				Partitions: pipeline.PartitionRange{End: batch.Partitions}})
			gets, _ := reads.takeReads()
			want := 0
			for _, c := range w.chunks() {
				want += min(tt.gets, filled(c.Validated.IndexSections))
			}
			if gets > want || tt.gets == 1 && gets != want {
				t.Errorf("reconciling took %d GETs, want %d", gets, want)
			}
			if b := w.run(); b.Verdict.Accepted != 58 || b.Verdict.Invalid != 2 {
				t.Errorf("the verdict is %+v, want 58 accepted and 2 invalid", b.Verdict)
			}
		})
	}
}
