package steps

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
)

// manyChunks returns a file of 31 lines, one of them invalid, which newTestBatch divides into more than ten chunks.
func manyChunks() string {
	var content strings.Builder
	for i := range 30 {
		content.WriteString(line(fmt.Sprint("m", i)))
	}
	return content.String() + "nonsense\n"
}

// countingStore counts how often all chunks of a batch are read.
type countingStore struct {
	batch.JobStore
	reads *int
}

func (s countingStore) Chunks(ctx context.Context, id batch.ID) ([]batch.Chunk, error) {
	*s.reads++
	return s.JobStore.Chunks(ctx, id)
}

// Settling every chunk must not read every chunk: that would be a quarter of a million reads for the largest batch.
func TestSettleReadsNoOtherChunk(t *testing.T) {
	w := newTestBatch(t, manyChunks(), false)
	reads := 0
	w.settle.Batches = countingStore{w.batches, &reads}
	if b := w.run(); b.Status != batch.Processed || b.Plan.Count() < 10 {
		t.Errorf("got status %s and %d chunks, want PROCESSED and at least 10", b.Status, b.Plan.Count())
	}
	difftest.Equal(t, "times that settling read all chunks", 0, reads)
}

// storeWithoutLineCounts is the store of a release that committed no line counts.
type storeWithoutLineCounts struct{ batch.JobStore }

func (storeWithoutLineCounts) CommitLineCounts(_ context.Context, _ batch.ID,
	c batch.LineCounts) (batch.LineCounts, error) {
	return c, nil
}

// A batch that was reconciled before a deployment is settled after it.
func TestSettleWithoutLineCounts(t *testing.T) {
	w := newTestBatch(t, manyChunks(), false)
	w.reconcile.Batches = storeWithoutLineCounts{w.batches}
	b := w.run()
	if b.Status != batch.Processed || b.Verdict.Accepted != 30 || b.Verdict.Invalid != 1 {
		t.Fatalf("got status %s and verdict %+v, want PROCESSED with 30 accepted and 1 invalid", b.Status, b.Verdict)
	}
	difftest.Contains(t, "report", w.report(b), `"line":31`)
}

func TestTooManyTransactions(t *testing.T) {
	w := newTestBatch(t, manyChunks(), false)
	w.plan.MaxTransactions = 30
	b := w.run()
	want := batch.Verdict{Outcome: batch.TooManyTransactions, Total: 31, Invalid: 1}
	if b.Status != batch.ValidationFailed || !cmp.Equal(*b.Verdict, want) || w.countVersions("t-m0") != 0 {
		t.Errorf("got status %s, verdict %+v, %d lines stored, want VALIDATION_FAILED, %+v, none",
			b.Status, b.Verdict, w.countVersions("t-m0"), want)
	}
	c, err := w.batches.Chunk(t.Context(), w.id, 0)
	if err != nil || c.Settled == nil || *c.Settled != (batch.SettleResult{Skipped: true}) {
		t.Errorf("got chunk %+v, error %v, want it skipped", c, err)
	}
}
