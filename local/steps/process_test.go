package steps

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// newWholeBatch returns a batch whose file is one chunk. It has its slot of validation and is planned.
func newWholeBatch(t *testing.T, content string, ask func(*batch.Batch)) *testBatch {
	t.Helper()
	w := newBatchWith(t, content, ask)
	w.plan.ChunkBytes = 0
	mustRun(t, w.admit.Run, w.ticket(admission.Validation))
	if !mustRun(t, w.plan.Run, pipeline.BatchInput{ID: w.id}).IsProcessedWhole {
		t.Fatal("the batch is not processed whole")
	}
	return w
}

// expectSlots checks how many slots of validation and of ingestion are in use.
func (w *testBatch) expectSlots(when string, want ...int) {
	w.t.Helper()
	var got []int
	for _, pool := range []admission.Pool{admission.LargeValidation, admission.LargeIngestion} {
		got = append(got, errtest.Must(w.slots.Load(w.t.Context(), pool, 0))(w.t).Used)
	}
	difftest.Equal(w.t, "slots "+when, want, got)
}

// failingSlots fails to take back the first slot.
type failingSlots struct {
	*admission.Slots
	hasFailed bool
}

func (s *failingSlots) Leave(ctx context.Context, stage admission.Stage, b batch.Batch) error {
	if !s.hasFailed {
		s.hasFailed = true
		return errors.New("no answer")
	}
	return s.Slots.Leave(ctx, stage, b)
}

// A batch that is processed whole has its slot of validation, and none of ingestion, in all runs until its end. The
// slot is taken back also if the run that ended the batch could not do that.
func TestProcessHoldsItsSlot(t *testing.T) {
	t.Parallel()
	var content strings.Builder
	for i := range 2500 { // more than two windows
		content.WriteString(line(fmt.Sprint("m", i)))
	}
	w := newWholeBatch(t, content.String(), func(*batch.Batch) {})
	tick := received
	w.ingest.Budget = time.Second
	// two seconds pass between any two calls
	w.ingest.Now = func() time.Time { tick = tick.Add(2 * time.Second); return tick }
	process, input := w.process(), pipeline.BatchInput{ID: w.id}
	process.Slots = &failingSlots{Slots: w.slots}
	for runs := 0; w.current().Status != batch.Processed; runs++ {
		w.expectSlots("before the end", 1, 0)
		out, err := process.Run(t.Context(), input)
		if out.Done || runs > 10 || err != nil && w.current().Status != batch.Processed {
			t.Fatalf("run %d: %+v, %v; the batch is %s", runs, out, err, w.current().Status)
		}
	}
	w.expectSlots("if it cannot be taken back", 1, 0)
	for range 2 {
		difftest.Equal(t, "the end", pipeline.ProcessOutput{Done: true}, mustRun(t, process.Run, input))
		w.expectSlots("after the end", 0, 0)
	}
}

// The error of a step that processes a file is that of the state, which decides how the batch ends.
func TestProcessReturnsErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		// prepare changes the planned batch before it is processed.
		prepare func(w *testBatch)
		want    error
	}{
		{"not announced", func(*testBatch) {}, &pipeline.NotAnnounced{}},
		{"cancelled", func(w *testBatch) {
			errtest.Fatal(w.t, errtest.Of(w.batches.Apply(w.t.Context(), w.id,
				batch.Transition{To: batch.Failed, At: received, ErrorMessage: batch.Cancelled})))
		}, &pipeline.BatchOver{}},
		{"the file is gone", func(w *testBatch) {
			errtest.Fatal(w.t, bucket(uploadsBucket).Remove(w.t.Context(), w.current().Object.Key))
		}, &pipeline.ObjectChanged{}},
		{"a failing table", func(w *testBatch) {
			w.ingest.Transactions = putFunc(func(context.Context, []transaction.Version) error {
				return errors.New("no answer")
			})
		}, &pipeline.Transient{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWholeBatch(t, line("a"), func(b *batch.Batch) {
				if tt.name == "not announced" {
					b.Declared.SHA256 = sha("x")
				}
			})
			tt.prepare(w)
			process := w.process()
			for range 2 {
				out, err := process.Run(t.Context(), pipeline.BatchInput{ID: w.id})
				if out.Done || reflect.TypeOf(err) != reflect.TypeOf(tt.want) {
					t.Errorf("got %+v and %T (%v), want %T", out, err, err, tt.want)
				}
				w.expectSlots("after a failure", 1, 0)
			}
		})
	}
}
