package steps

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/machine"
)

var received = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

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
		difftest.Equal(t, fmt.Sprintf("versions of line %d", i), 1, w.countVersions(fmt.Sprint("t-m", i)))
	}
	difftest.Equal(t, "a rejected line was stored", 0, w.countVersions("t-twin"))
	difftest.Equal(t, "lines in the report", 3, strings.Count(w.report(b), "\n"))
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
		{"as many invalid lines as allowed",
			func(b *batch.Batch) { b.MaxRejected = &batch.RejectLimit{Share: "33.4%"} },
			batch.Processed, []batch.Status{batch.ValidationStarted, batch.Processed}},
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
			for _, pool := range admission.Pools() {
				gate, err := w.slots.Queue.Gate(t.Context(), pool)
				if err != nil || len(gate.Holders) != 0 {
					t.Errorf("slots of %s: held by %v, error %v, want none", pool, gate.Holders, err)
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
	return errtest.Must(run(context.Background(), in))(t)
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
	first := pipeline.ChunkInput{ID: w.id, Index: plan.Chunks[0]}
	if _, err := w.validate.Run(context.Background(), first); !errors.As(err, &over) {
		t.Errorf("validate: %v, want BatchOver", err)
	}
	if _, err := w.ingest.Run(context.Background(), first); !errors.As(err, &over) {
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
