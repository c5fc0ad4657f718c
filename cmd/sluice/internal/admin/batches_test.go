package admin

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/batch/batchtest"
	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// serveInvocation records an asynchronous invocation.
func (f *fakeInstallation) serveInvocation(t *testing.T, w http.ResponseWriter, r *http.Request) {
	body := errtest.Must(io.ReadAll(r.Body))(t)
	if f.invokeFails {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.EscapedPath(), "/2015-03-31/functions/"), "/invocations")
	f.invoked = append(f.invoked, r.Header.Get("X-Amz-Invocation-Type")+" "+name+" "+string(body))
	w.WriteHeader(http.StatusAccepted)
}

// newBatch stores a batch of the local cloud's tenant.
func (f *fakeInstallation) newBatch(t *testing.T, store *batchdb.Store, name string,
	changes ...batch.Transition) batch.ID {
	t.Helper()
	b := batchtest.NewBatch(t, f.tenant)
	b.Name = name
	errtest.Fatal(t, store.Create(t.Context(), b))
	for _, c := range changes {
		c.At = b.CreatedAt.Add(time.Minute)
		errtest.Fatal(t, errtest.Of(store.Apply(t.Context(), b.ID, c)))
	}
	return b.ID
}

func TestAdminBatches(t *testing.T) {
	f := newFakeInstallation(t)
	store := batchdb.New(f.db, "test-batches")
	difftest.Len(t, "runAdmin", 0, runAdmin[[]batchOutput](t, f, "batch", "list"))
	plan := chunk.NewPlan(100, 50)
	started := []batch.Transition{
		{To: batch.Uploaded, Object: &batch.Object{Key: "uploads/k", Size: 100}, ReceivedAt: time.Now()},
		{To: batch.ValidationStarted, Plan: &plan},
	}
	waiting, running := f.newBatch(t, store, "waiting"), f.newBatch(t, store, "running", started...)
	errtest.Fatal(t, errtest.Of(store.CommitValidated(t.Context(), running, 0, batch.ValidateResult{Lines: 1})))
	stored := f.newBatch(t, store, "stored", append(started,
		batch.Transition{To: batch.PendingIngestion, Verdict: &batch.Verdict{Total: 2, Accepted: 2}},
		batch.Transition{To: batch.Initialized})...)
	expect := func(want []batch.ID, args ...string) {
		t.Helper()
		var got []batch.ID
		for _, b := range runAdmin[[]batchOutput](t, f, append([]string{"batch", "list"}, args...)...) {
			got = append(got, b.BatchID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: got %v, want %v", args, got, want)
		}
	}
	expect([]batch.ID{stored, running, waiting})
	expect([]batch.ID{stored, running}, "--limit", "2")
	expect([]batch.ID{waiting}, "--status", "awaiting_upload")
	expect([]batch.ID{running}, "--name", "run")
	expect(nil, "--tenant", uuid.NewString())
	f.wantError(t, `there is no status "DONE"; there are AWAITING_UPLOAD, `, "batch", "list", "--status", "done")

	shown := runAdmin[batchOutput](t, f, "batch", "show", string(running))
	if shown.Status != batch.ValidationStarted || shown.Chunks == nil ||
		*shown.Chunks != (chunksOutput{Planned: 2, Validated: 1}) || shown.TenantID != f.tenant ||
		shown.Object != "uploads/k" || len(shown.History) != 1 {
		t.Errorf("the batch is shown as %+v with the chunks %+v", shown, shown.Chunks)
	}
	f.wantError(t, "there is no batch 0199a6a4-6f00-7cc3-98c4-dc0c0c07398f", "batch", "show",
		"0199a6a4-6f00-7cc3-98c4-dc0c0c07398f")
	f.wantError(t, `"x" is not the ID of a batch`, "batch", "show", "x")
}

func TestAdminBatchCancel(t *testing.T) {
	f := newFakeInstallation(t)
	store := batchdb.New(f.db, "test-batches")
	id := f.newBatch(t, store, "")
	for range 2 {
		got := runAdmin[batchOutput](t, f, "batch", "cancel", string(id))
		if got.Status != batch.Failed || got.ErrorMessage != batch.Cancelled || got.Note != "" {
			t.Errorf("the cancelled batch is %+v", got)
		}
	}
	request := `Event test-close%3Alive {"batch_id":"` + string(id) + `","ended":true}`
	difftest.Equal(t, "invoked", []string{request, request}, f.invoked)
	if len(f.transitions) != 1 || f.transitions[0].Batch != string(id) || f.transitions[0].To != "ERROR" ||
		f.transitions[0].From != "AWAITING_UPLOAD" || f.transitions[0].RequestID != f.records[0].RequestID {
		t.Errorf("the transitions are %+v, want one of the batch, with the ID of the act", f.transitions)
	}
	f.invokeFails = true
	other := f.newBatch(t, store, "")
	if got := runAdmin[batchOutput](t, f, "batch", "cancel", string(other)); got.Status != batch.Failed ||
		!strings.Contains(got.Note, "the sweep frees them within five minutes") {
		t.Errorf("without the function close, the cancelled batch is %+v", got)
	}
	ended := f.newBatch(t, store, "", batch.Transition{To: batch.Failed, ErrorMessage: batch.NeverUploaded})
	f.wantError(t, "is ERROR: it can be cancelled only until its ingestion begins", "batch", "cancel", string(ended))
	f.wantError(t, "there is no batch 0199a6a4-6f00-7cc3-98c4-dc0c0c07398f", "batch", "cancel",
		"0199a6a4-6f00-7cc3-98c4-dc0c0c07398f")
}
