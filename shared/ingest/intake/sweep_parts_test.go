package intake_test

import (
	"slices"
	"testing"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/objects"
)

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
