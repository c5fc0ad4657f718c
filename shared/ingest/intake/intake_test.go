package intake_test

import (
	"context"
	"errors"
	"io"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/malware"
)

func TestCleanUploadIsStarted(t *testing.T) {
	f := newFixture(t, "{}\n")
	e := f.event(t, "abc", 3)
	for range 3 { // events come at least once
		errtest.Fatal(t, f.handle(t, e))
	}
	b := f.currentBatch(t)
	want := batch.Object{Key: intake.UploadKey(f.batch.Tenant, f.batch.ID), ETag: `"abc"`, Size: 3}
	if b.Status != batch.Uploaded || b.Object != want || !b.ReceivedAt.Equal(received) {
		t.Errorf("got %+v, want UPLOADED with the object %+v", b, want)
	}
	for _, id := range f.machine.started {
		difftest.Equal(t, "started", f.batch.ID, id)
	}
	if len(f.machine.started) == 0 || f.bucket.opened[0] != `"abc"` {
		t.Errorf("started %v, opened %v, want a start and the ETag \"abc\"", f.machine.started, f.bucket.opened)
	}
}

// A later object under the same key is not the batch's.
func TestAnotherObjectChangesNothing(t *testing.T) {
	f := newFixture(t, "{}\n")
	errtest.Fatal(t, f.handle(t, f.event(t, "abc", 3)))
	before := f.currentBatch(t)
	errtest.Fatal(t, f.handle(t, f.event(t, "other", 99999)))
	if after := f.currentBatch(t); !reflect.DeepEqual(after, before) || len(f.machine.started) != 1 {
		t.Errorf("got %+v, started %v, want %+v and one start", after, f.machine.started, before)
	}
}

// Whichever call fails, the retry of the event continues from there.
func TestLostCallIsRepeated(t *testing.T) {
	lost := errors.New("lost")
	f := newFixture(t, "{}\n")
	f.machine.fail = lost
	e := f.event(t, "abc", 3)
	errtest.Is(t, "the first run", f.handle(t, e), lost)
	if err := f.handle(t, e); err != nil || len(f.machine.started) != 1 {
		t.Errorf("the second run: error %v, started %v, want one start", err, f.machine.started)
	}

	f = newFixture(t, "PK\x03\x04")
	f.bucket.fail = lost
	e = f.event(t, "abc", 4)
	if err := f.handle(t, e); !errors.Is(err, lost) || f.currentBatch(t).Status != batch.Uploaded {
		t.Fatalf("the first run: error %v, status %s, want the lost call and UPLOADED", err, f.currentBatch(t).Status)
	}
	if err := f.handle(t, e); err != nil || f.currentBatch(t).Status != batch.Failed {
		t.Errorf("the second run: error %v, status %s, want ERROR", err, f.currentBatch(t).Status)
	}
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name    string
		content string
		size    int64
		errs    []error
		refused bool
	}{
		{"as large as allowed", strings.Repeat("{", 1000), 1000, nil, false},
		{"a byte too large", "{}", 1001, nil, true},
		{"an archive", "PK\x03\x04", 4, nil, true},
		{"a scanner that answers at the third try", "{}", 2, []error{io.ErrUnexpectedEOF, io.ErrUnexpectedEOF}, false},
		{"a scanner that does not answer", "{}", 2,
			[]error{io.ErrUnexpectedEOF, io.ErrUnexpectedEOF, io.ErrUnexpectedEOF}, true},
		{"a file that cannot be scanned", "{}", 2, []error{malware.ErrUnscannable}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, tt.content)
			f.scanner.errs = tt.errs
			e := f.event(t, "abc", tt.size)
			errtest.Fatal(t, f.handle(t, e))
			b := f.currentBatch(t)
			if !tt.refused {
				if b.Status != batch.Uploaded || len(f.machine.started) != 1 || f.bucket.verdict() != "clean" {
					t.Errorf("status %s, started %v, tags %v, want UPLOADED, one start, clean", b.Status,
						f.machine.started, f.bucket.tags)
				}
				return
			}
			want := b.Object.Key + " sluice-verdict=refused"
			if b.Status != batch.Failed || b.ErrorMessage == "" || len(f.machine.started) != 0 ||
				len(f.bucket.tags) != 1 || f.bucket.tags[0] != want {
				t.Errorf("status %s, message %q, started %v, tags %v, want ERROR with a message, no start, the tag %q",
					b.Status, b.ErrorMessage, f.machine.started, f.bucket.tags, want)
			}
		})
	}
}

// A client that was disabled, or a tenant that lost the feature, after the URL was given uploads in vain, also if that
// happened during the scan.
func TestUploadersAreCheckedAgain(t *testing.T) {
	for name, disable := range map[string]func(*registry){
		"The client that asked for the upload URL has been disabled.": func(r *registry) { r.clientDisabled = true },
		"The batch feature has been disabled for this tenant.":        func(r *registry) { r.featureDisabled = true },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "{}")
			f.scanner.during = func() { disable(f.registry) }
			errtest.Fatal(t, f.handle(t, f.event(t, "abc", 2)))
			if b := f.currentBatch(t); b.Status != batch.Failed || b.ErrorMessage != name ||
				f.bucket.verdict() != "refused" || len(f.machine.started) != 0 {
				t.Errorf("status %s, message %q, tags %v, started %v, want ERROR with %q, refused, no start", b.Status,
					b.ErrorMessage, f.bucket.tags, f.machine.started, name)
			}
		})
	}
}

// A run whose scanner fails must not fail a batch that a concurrent run has started.
func TestLateRefusalChangesNothing(t *testing.T) {
	f := newFixture(t, "{}")
	e := f.event(t, "abc", 2)
	f.scanner.during = func() {
		plan := chunk.NewPlan(2, 0)
		started := batch.Transition{To: batch.ValidationStarted, At: received, Plan: &plan}
		errtest.Fatal(t, errtest.Of(f.store.Apply(context.Background(), f.batch.ID, started)))
	}
	f.scanner.errs = []error{malware.ErrUnscannable}
	errtest.Fatal(t, f.handle(t, e))
	if b := f.currentBatch(t); b.Status != batch.ValidationStarted || len(f.bucket.tags) != 0 {
		t.Errorf("status %s, tags %v, want VALIDATION_STARTED and no tag", b.Status, f.bucket.tags)
	}
}

func TestStrayObjects(t *testing.T) {
	f := newFixture(t, "{}")
	for _, key := range []string{
		"", "uploads/", "uploads/t", "uploads/t/no-uuid", "work/t/" + string(f.batch.ID),
		"uploads/t/0199a6a4-6f00-7cc3-98c4-dc0c0c07398f",
	} {
		e := f.event(t, "abc", 2)
		e.Records[0].S3.Object.Key = url.QueryEscape(key)
		if err := f.handle(t, e); err != nil || len(f.machine.started) != 0 {
			t.Errorf("key %q: error %v, started %v, want neither", key, err, f.machine.started)
		}
	}
}
