package intake_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiontest"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/malware"
	"sluice/shared/kit/objects"
	"sluice/shared/platform/document"
)

// storage is the bucket of uploads as the sweep finds it.
type storage struct {
	info objects.Info
	err  error
	// aborted are the uploads in parts that were aborted.
	aborted []string
}

func (s *storage) Head(context.Context, string) (objects.Info, error) { return s.info, s.err }

func (s *storage) AbortParts(_ context.Context, key, uploadID string) error {
	s.aborted = append(s.aborted, key+" "+uploadID)
	return nil
}

// executions is the state of the execution that the sweep finds.
type executions struct {
	state intake.ExecutionState
	err   error
}

func (e *executions) Execution(context.Context, batch.ID) (intake.ExecutionState, error) {
	return e.state, e.err
}

// announcements records the batches whose announcement is requested.
type announcements struct {
	requested []batch.ID
	// fail is the error of the next request.
	fail error
}

func (a *announcements) AnnounceBatch(_ context.Context, id batch.ID) error {
	if err := a.fail; err != nil {
		a.fail = nil
		return err
	}
	a.requested = append(a.requested, id)
	return nil
}

// waitingFiles are the files that wait for the outcome of their scan.
type waitingFiles struct {
	files     []document.WaitingFile
	postponed []time.Time
}

func (w *waitingFiles) EachWaiting(_ context.Context, before time.Time, visit func(document.WaitingFile) error) error {
	for _, f := range w.files {
		if f.Since.Before(before) {
			if err := visit(f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *waitingFiles) Postpone(_ context.Context, _ document.WaitingFile, at time.Time) error {
	w.postponed = append(w.postponed, at)
	return nil
}

// sweepFixture is a fixture with a sweep that looks at a batch after 20 minutes and gives an upload an hour.
type sweepFixture struct {
	fixture
	storage       *storage
	executions    *executions
	announcements *announcements
	clock         time.Time
	// plan is that of the batch.
	plan chunk.Plan
}

func newSweepFixture(t *testing.T) *sweepFixture {
	t.Helper()
	f := &sweepFixture{fixture: newFixture(t, "{}"), storage: &storage{err: objects.ErrNotFound},
		executions: &executions{}, announcements: &announcements{}, clock: received,
		plan: chunk.NewPlan(2, 0)}
	f.Intake.Now = func() time.Time { return f.clock }
	f.Intake.Sweep = &intake.Sweep{
		Batches: f.store, Uploads: f.storage, Machine: f.executions,
		Announcements: f.announcements, Slots: admissiontest.NewSlots(), Age: 20 * time.Minute, Patience: time.Hour,
	}
	return f
}

// sweepAfter lets time pass and sweeps, which must succeed.
func (f *sweepFixture) sweepAfter(t *testing.T, d time.Duration) batch.Batch {
	t.Helper()
	f.clock = f.clock.Add(d)
	errtest.Fatal(t, f.handle(t, json.RawMessage(scheduleEvent)))
	return f.currentBatch(t)
}

// advance brings the batch into a status.
func (f *sweepFixture) advance(t *testing.T, to batch.Status) {
	t.Helper()
	for _, tr := range []batch.Transition{
		{To: batch.Uploaded, ReceivedAt: received,
			Object: &batch.Object{Key: intake.UploadKey(f.batch.Tenant, f.batch.ID), ETag: `"abc"`, Size: 2}},
		{To: batch.ValidationStarted, Plan: &f.plan},
		{To: batch.PendingIngestion, Verdict: &batch.Verdict{Total: 1, Accepted: 1}},
		{To: batch.Initialized}, {To: batch.InProgress}, {To: batch.Processed},
	} {
		if f.currentBatch(t).Status == to {
			return
		}
		tr.At = f.clock
		if !f.currentBatch(t).Status.CanTransitionTo(tr.To) {
			continue // it is past that already
		}
		errtest.Fatal(t, errtest.Of(f.store.Apply(t.Context(), f.batch.ID, tr)))
	}
}

// An upload whose event was lost is processed as if it had come, with the time at which it was stored.
func TestSweepFindsLostEvent(t *testing.T) {
	f := newSweepFixture(t)
	*f.storage = storage{info: objects.Info{ETag: `"abc"`, Size: 2, Modified: received}}
	if b := f.sweepAfter(t, 19*time.Minute); b.Status != batch.AwaitingUpload {
		t.Errorf("before its time the batch is %s, want AWAITING_UPLOAD", b.Status)
	}
	b := f.sweepAfter(t, 2*time.Minute)
	want := batch.Object{Key: intake.UploadKey(f.batch.Tenant, f.batch.ID), ETag: `"abc"`, Size: 2}
	if b.Status != batch.Uploaded || b.Object != want || !b.ReceivedAt.Equal(received) || len(f.machine.started) != 1 {
		t.Errorf("got %+v, started %v, want UPLOADED with %+v and one start", b, f.machine.started, want)
	}
}

// A batch that was never uploaded ends after its time, expires, and its late upload is refused.
func TestSweepEndsBatchThatWasNeverUploaded(t *testing.T) {
	for name, missing := range map[string]error{"missing": objects.ErrNotFound, "denied": objects.ErrDenied} {
		t.Run(name, func(t *testing.T) {
			f := newSweepFixture(t)
			f.storage.err = missing
			if b := f.sweepAfter(t, 59*time.Minute); b.Status != batch.AwaitingUpload {
				t.Errorf("the batch is %s, want AWAITING_UPLOAD", b.Status)
			}
			difftest.Equal(t, "open", int64(0),
				errtest.Must(f.store.CountOpen(t.Context(), f.batch.Tenant,
					batch.OpenWork{Batches: 9, UnvalidatedBytes: 9}, f.clock))(t).Batches)
			b := f.sweepAfter(t, 2*time.Hour)
			if b.Status != batch.Failed || b.ErrorMessage != batch.NeverUploaded {
				t.Fatalf("the batch is %s (%q), want ERROR with %q", b.Status, b.ErrorMessage, batch.NeverUploaded)
			}
			for range 2 {
				errtest.Fatal(t, f.handle(t, f.event(t, "abc", 2)))
			}
			if after := f.currentBatch(t); !reflect.DeepEqual(after, b) || len(f.machine.started) != 0 ||
				len(f.bucket.tags) == 0 || f.bucket.tags[0] != intake.UploadKey(f.batch.Tenant,
				f.batch.ID)+" sluice-verdict=refused" {
				t.Errorf("after a late upload: %+v, started %v, tags %v, want no change, no start and the tag",
					after, f.machine.started, f.bucket.tags)
			}
		})
	}
}

// A batch without an execution that runs ends in ERROR; one with a running execution is left alone.
func TestSweepEndsWhatNothingMoves(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status batch.Status
		state  intake.ExecutionState
		want   batch.Status
	}{
		{"running", batch.InProgress, intake.ExecutionRunning, batch.InProgress},
		{"not planned yet", batch.Uploaded, intake.ExecutionRunning, batch.Uploaded},
		{"stopped before planning", batch.Uploaded, intake.ExecutionEnded, batch.Failed},
		{"stopped while validating", batch.ValidationStarted, intake.ExecutionEnded, batch.Failed},
		{"stopped before ingestion", batch.PendingIngestion, intake.ExecutionEnded, batch.Failed},
		{"forgotten", batch.Initialized, intake.NoExecution, batch.Failed},
		{"stopped while ingesting", batch.InProgress, intake.ExecutionEnded, batch.Failed},
		{"processed", batch.Processed, intake.ExecutionEnded, batch.Processed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newSweepFixture(t)
			f.advance(t, tt.status)
			f.executions.state = tt.state
			b := f.sweepAfter(t, time.Hour)
			if b.Status != tt.want || (b.Status == batch.Failed && b.ErrorMessage != batch.TechnicalFailure) {
				t.Errorf("the batch is %s (%q), want %s", b.Status, b.ErrorMessage, tt.want)
			}
		})
	}
}

// A batch that is past validation keeps its slot of that if it is processed whole, as long as its execution runs; any
// other batch needs it no longer.
func TestSweepOfSlots(t *testing.T) {
	for _, tt := range []struct {
		name      string
		plan      chunk.Plan
		status    batch.Status
		execution intake.ExecutionState
		used      int
	}{
		{"one chunk", chunk.NewPlan(2, 0), batch.InProgress, intake.ExecutionRunning, 1},
		{"one chunk, before ingestion", chunk.NewPlan(2, 0), batch.PendingIngestion, intake.ExecutionRunning, 1},
		{"one chunk, stopped", chunk.NewPlan(2, 0), batch.InProgress, intake.ExecutionEnded, 0},
		{"one chunk, processed", chunk.NewPlan(2, 0), batch.Processed, intake.ExecutionRunning, 0},
		{"two chunks", chunk.NewPlan(2, 1), batch.InProgress, intake.ExecutionRunning, 0},
		{"two chunks, validated", chunk.NewPlan(2, 1), batch.ValidationStarted, intake.ExecutionRunning, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newSweepFixture(t)
			f.plan = tt.plan
			f.advance(t, batch.Uploaded)
			slots := admissiontest.NewSlots()
			slots.Now, f.Intake.Sweep.Slots = func() time.Time { return f.clock }, slots
			ticket := admission.Ticket{Pool: admission.LargeValidation, Place: admission.PlaceOf(f.currentBatch(t)),
				Token: "token"}
			errtest.Fatal(t, slots.Enter(t.Context(), ticket))
			f.advance(t, tt.status)
			f.executions.state = tt.execution
			f.sweepAfter(t, time.Hour)
			load := errtest.Must(slots.Load(t.Context(), admission.LargeValidation, 0))(t)
			difftest.Equal(t, "slots used", tt.used, load.Used)
		})
	}
}

// A scan that was interrupted is repeated; one that never ends is given up.
func TestSweepRepeatsInterruptedScan(t *testing.T) {
	f := newSweepFixture(t)
	f.advance(t, batch.Uploaded)
	if b := f.sweepAfter(t, 30*time.Minute); b.Status != batch.Uploaded || len(f.machine.started) != 1 {
		t.Errorf("the batch is %s, started %v, want UPLOADED and one start", b.Status, f.machine.started)
	}

	for name, tag := range map[string]error{"the file is there": nil, "the file is gone": objects.ErrNotFound} {
		t.Run(name, func(t *testing.T) {
			f := newSweepFixture(t)
			f.advance(t, batch.Uploaded)
			f.bucket.fail = tag
			if b := f.sweepAfter(t, 2*time.Hour); b.Status != batch.Failed || b.ErrorMessage != batch.Unscannable {
				t.Errorf("the batch is %s (%q), want ERROR with %q", b.Status, b.ErrorMessage, batch.Unscannable)
			}
		})
	}
}

// A batch at which the sweep fails is looked at again later, and does not keep others waiting.
func TestSweepPostponesBeforeItActs(t *testing.T) {
	f := newSweepFixture(t)
	f.advance(t, batch.InProgress)
	f.executions.err = errors.New("no answer")
	f.clock = f.clock.Add(40 * time.Minute)
	if err := f.handle(t, json.RawMessage(scheduleEvent)); !errors.Is(err, f.executions.err) {
		t.Errorf("got error %v, want %v", err, f.executions.err)
	}
	f.executions.err, f.executions.state = nil, intake.ExecutionEnded
	if b := f.sweepAfter(t, 20*time.Minute); b.Status != batch.InProgress { // 10 minutes pause, and 20 of age
		t.Errorf("at once the batch is %s, want IN_PROGRESS", b.Status)
	}
	if b := f.sweepAfter(t, 11*time.Minute); b.Status != batch.Failed {
		t.Errorf("later the batch is %s, want ERROR", b.Status)
	}
}

// A sweep beside the step that ends the batch changes nothing.
func TestSweepLosesARace(t *testing.T) {
	f := newSweepFixture(t)
	f.advance(t, batch.Uploaded)
	f.scanner.during = func() { f.advance(t, batch.Processed) }
	f.scanner.errs = []error{malware.ErrUnscannable}
	if b := f.sweepAfter(t, 30*time.Minute); b.Status != batch.Processed || len(f.bucket.tags) != 0 {
		t.Errorf("the batch is %s, tags %v, want PROCESSED and no tag", b.Status, f.bucket.tags)
	}
}

// The announcement of a batch that has ended is requested until it is made, however often that fails.
func TestSweepRequestsAnnouncements(t *testing.T) {
	f := newSweepFixture(t)
	f.advance(t, batch.Processed)
	for _, step := range []struct {
		name  string
		after time.Duration
		fail  error
		want  int
	}{
		{"the function that ended the batch may still do it", 50 * time.Second, nil, 0},
		{"it was killed", 20 * time.Second, nil, 1},
		{"the announcement is on its way", 10 * time.Minute, nil, 1},
		{"it was lost", 2 * time.Minute, nil, 2},
		{"the request fails", 12 * time.Minute, errors.New("no answer"), 2},
		{"it is repeated after the pause", 12 * time.Minute, nil, 3},
	} {
		f.announcements.fail = step.fail
		f.clock = f.clock.Add(step.after)
		errtest.Is(t, step.name+"", f.handle(t, json.RawMessage(scheduleEvent)), step.fail)
		difftest.Equal(t, step.name+": times requested", step.want, len(f.announcements.requested))
	}
	errtest.Fatal(t, f.store.MarkAnnounced(t.Context(), f.batch, batch.Receivers()))
	f.sweepAfter(t, time.Hour)
	difftest.Equal(t, "after the announcement: times requested", 3, len(f.announcements.requested))
}
