package intake_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/objects"
	"sluice/shared/platform/document"
	"sluice/shared/platform/document/documentintake"
)

// Every file of a document comes to an outcome, even if its event, its upload or its scan was lost.
func TestSweepOfFiles(t *testing.T) {
	stored := objects.Info{ETag: `"e"`, Size: 1, Modified: received}
	down := errors.New("scanner is down")
	for name, tt := range map[string]struct {
		after   time.Duration
		info    objects.Info
		err     error
		scanErr error
		// recorded is the outcome that was recorded before.
		recorded []document.State
		// want is the outcome that counts in the end, and tag the verdict.
		want     document.Status
		code     string
		tag      string
		postpone time.Duration
	}{
		"too young": {after: 19 * time.Minute, info: stored},
		"lost event": {after: 21 * time.Minute, info: stored, want: document.Completed, tag: "clean",
			postpone: 5*time.Minute + 15*time.Second},
		"scanner does not answer": {after: 21 * time.Minute, info: stored, scanErr: down, want: document.Failed,
			code: document.ServerSideError, tag: "refused", postpone: 5*time.Minute + 15*time.Second},
		"no scan in time": {after: 61 * time.Minute, info: stored, want: document.Failed,
			code: document.ServerSideError, tag: "refused", postpone: 15*time.Minute + 15*time.Second},
		"scanned at the last moment": {after: 61 * time.Minute, info: stored,
			recorded: []document.State{{Status: document.Completed}}, want: document.Completed,
			postpone: 15*time.Minute + 15*time.Second},
		"not uploaded yet": {after: 119 * time.Minute, err: objects.ErrNotFound,
			postpone: 29*time.Minute + 45*time.Second},
		"never uploaded": {after: 121 * time.Minute, err: objects.ErrNotFound, want: document.Failed,
			code: document.ClientSideError, postpone: 30*time.Minute + 15*time.Second},
		"never uploaded, S3 denies it": {after: 10 * time.Hour, err: objects.ErrDenied, want: document.Failed,
			code: document.ClientSideError, postpone: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			f := newSweepFixture(t)
			files := &waitingFiles{files: []document.WaitingFile{{Tenant: "t", ID: "f", Since: received}}}
			store, bucket := &documentStore{recorded: tt.recorded}, &documentBucket{bucket: bucket{content: "x"}}
			var scanErrs []error
			if tt.scanErr != nil {
				scanErrs = []error{tt.scanErr}
			}
			f.Intake.Documents = &documentintake.Documents{Store: store, Registry: &registry{}, Files: bucket,
				Scanner: &failingScanner{scanner{errs: scanErrs}}, MaxBytes: 100, Log: slog.New(slog.DiscardHandler),
				Waiting: &documentintake.Waiting{Files: files, Uploads: f.storage, Age: f.Sweep.Age,
					Patience: f.Sweep.Patience, Now: f.Intake.Now}}
			f.storage.info, f.storage.err = tt.info, tt.err
			f.Intake.Sweep.Batches = noBatches{f.store}
			f.clock = received.Add(tt.after)
			errtest.Fatal(t, f.handle(t, json.RawMessage(scheduleEvent)))
			var got document.State
			if len(store.recorded) > 0 {
				got = store.recorded[0]
			}
			if got.Status != tt.want || got.ErrorCode != tt.code || bucket.verdict() != tt.tag {
				t.Errorf("got %+v and the verdict %q, want %s %s and %q", got, bucket.verdict(), tt.want, tt.code,
					tt.tag)
			}
			if tt.postpone == 0 && len(files.postponed) > 0 ||
				tt.postpone > 0 && (len(files.postponed) != 1 || !files.postponed[0].Equal(f.clock.Add(tt.postpone))) {
				t.Errorf("postponed to %v at %v, want by %v", files.postponed, f.clock, tt.postpone)
			}
		})
	}
}

// noBatches is a store in which the sweep finds no batch.
type noBatches struct{ *batchdb.Store }

func (noBatches) EachUnfinished(context.Context, time.Time, func(batch.ID) error) error { return nil }

func (noBatches) AdoptUnfinished(context.Context, time.Time) error { return nil }

// newPartsSweep returns a sweep with a batch whose file is uploaded in parts.
func newPartsSweep(t *testing.T) *sweepFixture {
	t.Helper()
	f := newSweepFixture(t)
	id := errtest.Must(batch.NewID())(t)
	f.batch.ID, f.batch.Multipart = id, &batch.Multipart{UploadID: "u", PartSize: 5, PartCount: 1}
	errtest.Fatal(t, f.store.Create(t.Context(), f.batch))
	return f
}

// An upload in parts ends as long after its latest URL as a single PUT, and its parts are removed.
func TestSweepGivesUpParts(t *testing.T) {
	f := newPartsSweep(t)
	errtest.Fatal(t, errtest.Of(f.store.ExtendUpload(t.Context(), f.batch.ID, received.Add(3*time.Hour))))
	if b := f.sweepAfter(t, 4*time.Hour-time.Minute); b.Status != batch.AwaitingUpload || f.storage.aborted != nil {
		t.Errorf("before its end the batch is %s, aborted %v; want AWAITING_UPLOAD and none", b.Status,
			f.storage.aborted)
	}
	b := f.sweepAfter(t, 2*time.Hour)
	want := []string{intake.UploadKey(f.batch.Tenant, f.batch.ID) + " u"}
	if b.Status != batch.Failed || b.ErrorMessage != batch.NeverUploaded || !slices.Equal(f.storage.aborted, want) {
		t.Errorf("the batch is %s (%q), aborted %v; want ERROR with %q, and %v", b.Status, b.ErrorMessage,
			f.storage.aborted, batch.NeverUploaded, want)
	}
}

// If the event of a completion is lost, the receipt time is when the completion was asked for.
func TestSweepFindsCompletedParts(t *testing.T) {
	f := newPartsSweep(t)
	askedAt := received.Add(time.Hour)
	errtest.Fatal(t, errtest.Of(f.store.RecordCompletion(t.Context(), f.batch.ID, "parts", askedAt)))
	*f.storage = storage{info: objects.Info{ETag: `"abc-1"`, Size: 2, Modified: received}}
	if b := f.sweepAfter(t, 2*time.Hour); b.Status != batch.Uploaded || !b.ReceivedAt.Equal(askedAt) {
		t.Errorf("the batch is %s, received %v; want UPLOADED, %v", b.Status, b.ReceivedAt, askedAt)
	}
}
