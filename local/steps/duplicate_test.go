package steps

import (
	"testing"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// another returns another batch of the same tenant, over the same stores and with the same steps.
func (w *testBatch) another(content string, ask func(*batch.Batch)) *testBatch {
	w.t.Helper()
	id := errtest.Must(batch.NewID())(w.t)
	next := *w
	next.id = id
	next.put(content, ask)
	return &next
}

// A file that was processed is noticed when it comes again: the batch names the one before it, or is rejected.
func TestDuplicateFiles(t *testing.T) {
	t.Parallel()
	content := line("a") + line("b")
	accepts := func(*batch.Batch) {}
	rejects := func(b *batch.Batch) { b.OnDuplicate, b.RejectOnInvalid = batch.RejectDuplicate, true }
	dryRun := func(b *batch.Batch) { b.ValidateOnly = true }
	first := newBatchWith(t, content, dryRun)
	if b := first.run(); b.Status != batch.Processed || b.DuplicateOf != "" {
		t.Fatalf("the dry run: got %s, duplicate of %q; want PROCESSED, of none", b.Status, b.DuplicateOf)
	}
	original := first.another(content, rejects)
	if b := original.run(); b.Status != batch.Processed || b.DuplicateOf != "" {
		t.Fatalf("the first batch after a dry run: got %s (%s), duplicate of %q; want PROCESSED, of none", b.Status,
			b.ErrorMessage, b.DuplicateOf)
	}
	rejectedDryRun := func(b *batch.Batch) { rejects(b); dryRun(b) }
	for name, ask := range map[string]func(*batch.Batch){"rejects": rejects, "dry run": rejectedDryRun} {
		b := original.another(content, ask).run()
		if want := "This file was processed as batch " + string(original.id) +
			"."; b.Status != batch.ValidationFailed || b.ErrorMessage != want || b.DuplicateOf != original.id ||
			b.Verdict.Accepted != 2 {
			t.Errorf("%s: got %s (%s), duplicate of %q, verdict %+v; want VALIDATION_FAILED (%s)", name, b.Status,
				b.ErrorMessage, b.DuplicateOf, b.Verdict, want)
		}
	}
	difftest.Equal(t, "versions of a line are stored", 1, original.countVersions("t-a"))
	if b := original.another(content, dryRun).run(); b.Status != batch.Processed || b.DuplicateOf != original.id {
		t.Errorf("another dry run: got %s, duplicate of %q, want PROCESSED, of %q", b.Status, b.DuplicateOf,
			original.id)
	}
	again := original.another(content, accepts)
	if b := again.run(); b.Status != batch.Processed || b.DuplicateOf != original.id {
		t.Errorf("accepted: got %s, duplicate of %q, want PROCESSED, of %q", b.Status, b.DuplicateOf, original.id)
	}
	if b := original.another(content, rejects).run(); b.DuplicateOf != again.id {
		t.Errorf("the latest batch with the file is named %q, want %q", b.DuplicateOf, again.id)
	}
	if b := original.another(content+line("c"), rejects).run(); b.Status != batch.Processed || b.DuplicateOf != "" {
		t.Errorf("another file: got %s, duplicate of %q; want PROCESSED, of none", b.Status, b.DuplicateOf)
	}
	invalid := original.another(content+"nonsense\n", rejects)
	if b := invalid.run(); b.Status != batch.ValidationFailed || b.DuplicateOf != "" {
		t.Errorf("an invalid file: got %s, duplicate of %q; want VALIDATION_FAILED, of none", b.Status, b.DuplicateOf)
	}
	if b := original.another(content+"nonsense\n", accepts).run(); b.Status != batch.Processed || b.DuplicateOf != "" {
		t.Errorf("a file that was rejected before: got %s, duplicate of %q; want PROCESSED, of none", b.Status,
			b.DuplicateOf)
	}
	other := original.another("", accepts)
	other.tenant = "another tenant"
	if got, err := original.batches.ProcessedAs(t.Context(), batch.File{Tenant: other.tenant, SHA256: sha(content)},
		received); err != nil || got != "" {
		t.Errorf("another tenant is told of batch %q, error %v", got, err)
	}
}

// Two batches with the same file are validated at the same time. Neither is rejected, as neither was processed when
// their verdicts were reached; the one that ends later names the other.
func TestEqualFilesAtTheSameTime(t *testing.T) {
	t.Parallel()
	content := line("a")
	rejects := func(b *batch.Batch) { b.OnDuplicate = batch.RejectDuplicate }
	first := newBatchWith(t, content, rejects)
	second := first.another(content, rejects)
	for _, w := range []*testBatch{first, second} {
		w.runToIngestion()
	}
	var ended [2]batch.Batch
	for i, w := range []*testBatch{second, first} {
		runThrice(w, "close", w.close.Run, pipeline.CloseInput{ID: w.id})
		ended[i] = w.current()
	}
	if ended[0].Status != batch.Processed || ended[1].Status != batch.Processed || ended[0].DuplicateOf != "" ||
		ended[1].DuplicateOf != second.id {
		t.Errorf("got %s, duplicate of %q, and %s, duplicate of %q; want both PROCESSED, the one that ended later as "+
			"a duplicate",
			ended[0].Status, ended[0].DuplicateOf, ended[1].Status, ended[1].DuplicateOf)
	}
}

// A batch that rejects open duplicates is rejected while another one with its file is being processed.
func TestOpenDuplicateIsRejected(t *testing.T) {
	t.Parallel()
	content := line("a")
	first := newBatchWith(t, content, func(*batch.Batch) {})
	first.runToIngestion()
	rejects := func(b *batch.Batch) { b.OnDuplicate = batch.RejectOpenDuplicate }
	dryRun := func(b *batch.Batch) { rejects(b); b.ValidateOnly = true }
	for _, ask := range []func(*batch.Batch){rejects, dryRun} {
		b := first.another(content, ask).run()
		want := "This file is being processed as batch " + string(first.id) + "."
		if b.Status != batch.ValidationFailed || b.ErrorMessage != want || b.DuplicateOf != first.id ||
			b.Verdict.Accepted != 1 || b.Verdict.AcceptedSHA256 != nil || !b.IsRejectedAsDuplicate() {
			t.Errorf("got %s (%s), duplicate of %q, verdict %+v; want VALIDATION_FAILED (%s)", b.Status, b.ErrorMessage,
				b.DuplicateOf, b.Verdict, want)
		}
	}
	runThrice(first, "close", first.close.Run, pipeline.CloseInput{ID: first.id})
	b := first.another(content, rejects).run()
	difftest.Equal(t, "after its end", []any{batch.ValidationFailed, batch.DuplicateMessage(first.id)},
		[]any{b.Status, b.ErrorMessage})
	if b := first.another(content+line("b"), rejects).run(); b.Status != batch.Processed {
		t.Errorf("another file: got %s (%s), want PROCESSED", b.Status, b.ErrorMessage)
	}
}

// runToIngestion runs the steps of a batch with one chunk once, down to its ingestion.
func (w *testBatch) runToIngestion() {
	w.t.Helper()
	input := pipeline.BatchInput{ID: w.id}
	mustRun(w.t, w.admit.Run, w.ticket(admission.Validation))
	plan := mustRun(w.t, w.plan.Run, input)
	mustRun(w.t, w.validate.Run, pipeline.ChunkInput{ID: w.id})
	mustRun(w.t, w.digest.Run, pipeline.DigestInput{ID: w.id})
	for _, r := range plan.Partitions {
		mustRun(w.t, w.reconcile.Run, pipeline.PartitionInput{ID: w.id, Partitions: r})
	}
	mustRun(w.t, w.settle.Run, pipeline.ChunkInput{ID: w.id})
	mustRun(w.t, w.verdict.Run, input)
	mustRun(w.t, w.admit.Run, w.ticket(admission.Ingestion))
	mustRun(w.t, w.ingest.Run, pipeline.ChunkInput{ID: w.id})
}
