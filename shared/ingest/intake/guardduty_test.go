package intake_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/shared/ingest/admission/admissiontest"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/objects"
	"sluice/shared/platform/document"
	"sluice/shared/platform/document/documentintake"
)

func TestEveryOrderOfEvents(t *testing.T) {
	db := dynamotest.Start(t)
	for _, tt := range interleavings {
		t.Run(tt.events, func(t *testing.T) {
			forEachOrder(tt.events, func(order string) {
				g := newGuardDutyFixture(t, db)
				for _, letter := range order {
					if letter == 'C' {
						g.mustHandle(t, g.event(t, "abc", 2))
						continue
					}
					r := scanResults[letter]
					must(t, order, g.handle(t,
						newScanEvent(t, g.key(), r.id, r.etag, r.status)))
				}
				b := g.currentBatch(t)
				if !b.ReceivedAt.Equal(received) || b.Object.ETag != `"abc"` || b.Object.Size != 2 {
					t.Errorf("%s: got %+v, want the object pinned with its size and receipt time", order, b)
				}
				refused := b.Status == batch.Failed && strings.Contains(b.ErrorMessage, tt.message) &&
					g.bucket.verdict() == "refused" && len(g.machine.started) == 0
				started := b.Status == batch.Uploaded && g.bucket.verdict() == "clean" && len(g.machine.started) > 0
				if tt.clean && !started || !tt.clean && !refused {
					t.Errorf("%s: status %s, message %q, started %v, tags %v, want clean = %v, message %q", order,
						b.Status,
						b.ErrorMessage, g.machine.started, g.bucket.tags, tt.clean, tt.message)
				}
				g.checkNothingWaits(t, order)
			})
		})
	}
}

// must ends the test with the name of what failed.
func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// checkNothingWaits checks that no upload is waiting, once the sweep has run.
func (g guardDutyFixture) checkNothingWaits(t *testing.T, what string) {
	t.Helper()
	waited := false
	must(t, what, g.GuardDuty.Uploads.EachWaiting(t.Context(), received.Add(time.Second), func(u intake.Upload) error {
		// A repeated event of S3 may leave the upload waiting. The sweep finds nothing to do and ends that.
		waited = true
		return g.handle(t, json.RawMessage(scheduleEvent))
	}))
	if !waited {
		return
	}
	must(t, what, g.GuardDuty.Uploads.EachWaiting(t.Context(), received.Add(time.Second), func(u intake.Upload) error {
		return fmt.Errorf("%s still waits", u.Object.Key)
	}))
}

// scheduleEvent is the event that EventBridge sends every five minutes.
const scheduleEvent = `{"detail-type":"Scheduled Event"}`

func TestEveryOrderOfEventsOfADocument(t *testing.T) {
	db, file := dynamotest.Start(t), 0
	for _, tt := range interleavings {
		forEachOrder(tt.events, func(order string) {
			g := newGuardDutyFixture(t, db)
			file++
			etag := func(s string) string { return fmt.Sprint(s, file) } // each order has an object of its own
			for _, letter := range order {
				if letter == 'C' {
					e := g.event(t, etag("abc"), 2)
					e.Records[0].S3.Object.Key = "documents/t/f"
					g.mustHandle(t, e)
					continue
				}
				r := scanResults[letter]
				g.mustHandle(t, newScanEvent(t, "documents/t/f", r.id, etag(r.etag), r.status))
			}
			status, verdict := document.Failed, "refused"
			switch {
			case tt.clean:
				status, verdict = document.Completed, "clean"
			case strings.Contains(tt.events, "t"):
				status = document.Infected
			}
			if len(g.documents.recorded) == 0 || g.documents.recorded[0].Status != status ||
				g.files.verdict() != verdict {
				t.Errorf("%s: recorded %+v, tags %v, want first %s, last %s", order, g.documents.recorded, g.files.tags,
					status, verdict)
			}
		})
	}
}

// A scan that failed is requested again until the last attempt, and never once a final result is known.
func TestFailedScansAreRepeated(t *testing.T) {
	db := dynamotest.Start(t)
	g := newGuardDutyFixture(t, db)
	key := g.key()
	g.mustHandle(t, g.event(t, "abc", 2))
	for i, status := range []intake.ScanResult{intake.ScanFailed, intake.AccessDenied, intake.ScanFailed} {
		g.mustHandle(t, newScanEvent(t, key, fmt.Sprint(i), "abc", status))
		if want := min(i+1, scanAttempts-1); len(g.rescanner.keys) != want || g.rescanner.keys[0] != key {
			t.Errorf("after %d failures: requested scans of %v, want %d of %s", i+1, g.rescanner.keys, want, key)
		}
	}
	if b := g.currentBatch(t); b.Status != batch.Failed {
		t.Errorf("after the last failure: got status %s, want ERROR", b.Status)
	}

	g = newGuardDutyFixture(t, db)
	key = g.key()
	g.mustHandle(t, newScanEvent(t, key, "n", "abc", intake.NoThreatsFound))
	g.mustHandle(t, newScanEvent(t, key, "1", "abc", intake.ScanFailed))
	difftest.Len(t, "a failure after a final result: requested scans of", 0, g.rescanner.keys)
	lost := errors.New("lost")
	g = newGuardDutyFixture(t, db)
	g.rescanner.fail = lost
	failed := newScanEvent(t, g.key(), "1", "abc", intake.ScanFailed)
	errtest.Is(t, "a request for a scan that fails", g.handle(t, failed), lost)
	if err := g.handle(t, failed); err != nil || len(g.rescanner.keys) != 1 {
		t.Errorf("its retry: got error %v, requested scans of %v, want one", err, g.rescanner.keys)
	}
}

// A batch fails if no result comes in time; a result that comes after that changes nothing.
func TestResultThatNeverComes(t *testing.T) {
	g := newGuardDutyFixture(t, dynamotest.Start(t))
	g.mustHandle(t, g.event(t, "abc", 2))
	for _, at := range []time.Duration{30 * time.Second, 2 * time.Minute, time.Hour} {
		*g.clock = received.Add(at)
		g.mustHandle(t, json.RawMessage(scheduleEvent))
		if b := g.currentBatch(t); b.Status != batch.Uploaded || len(g.machine.started) != 0 {
			t.Fatalf("after %v: got status %s, want UPLOADED and no start", at, b.Status)
		}
	}
	*g.clock = received.Add(time.Hour + time.Second)
	g.mustHandle(t, json.RawMessage(scheduleEvent))
	if b := g.currentBatch(t); b.Status != batch.Failed || !strings.Contains(b.ErrorMessage, "could not be scanned") ||
		len(g.bucket.tags) != 1 {
		t.Errorf("after the longest wait: got status %s, message %q, tags %v, want ERROR, tagged", b.Status,
			b.ErrorMessage,
			g.bucket.tags)
	}
	must(t, "late", g.handle(t, newScanEvent(t, g.key(), "n", "abc",
		intake.NoThreatsFound)))
	if b := g.currentBatch(t); b.Status != batch.Failed || len(g.machine.started) != 0 {
		t.Errorf("a late result: got status %s, started %v, want ERROR and no start", b.Status, g.machine.started)
	}
	g.checkNothingWaits(t, "late")
}

// The sweep resolves an upload whose result was recorded before the function was interrupted, and an upload that fails
// does not keep another one waiting.
func TestSweep(t *testing.T) {
	g := newGuardDutyFixture(t, dynamotest.Start(t))
	key := g.key()
	g.mustHandle(t, newScanEvent(t, key, "n", "abc", intake.NoThreatsFound))
	lost := errors.New("lost")
	g.machine.fail = lost
	errtest.Is(t, "handle", g.handle(t, g.event(t, "abc", 2)), lost)
	other := g.event(t, "def", 2)
	other.Records[0].S3.Object.Key = "documents/t/f"
	g.mustHandle(t, other)
	g.machine.fail = lost
	*g.clock = received.Add(2 * time.Hour)
	if err := g.handle(t, json.RawMessage(scheduleEvent)); !errors.Is(err, lost) || len(g.documents.recorded) != 1 {
		t.Errorf("sweep with a failing upload: got error %v, documents %v, want %v and one", err, g.documents.recorded,
			lost)
	}
	g.mustHandle(t, json.RawMessage(scheduleEvent))
	if len(g.machine.started) != 1 || len(g.documents.recorded) != 1 {
		t.Errorf("next sweep: started %v, documents %v, want one of each", g.machine.started, g.documents.recorded)
	}
}

// An upload and a file without a result are scanned again, each time that the sweep looks at them, until there is one.
func TestSweepRequestsLostScans(t *testing.T) {
	g := newGuardDutyFixture(t, dynamotest.Start(t))
	file := document.WaitingFile{Tenant: "t", ID: "f", Since: received}
	files := &waitingFiles{files: []document.WaitingFile{file}}
	uploads := &storage{info: objects.Info{ETag: `"def"`, Size: 2, Modified: received}}
	g.Intake.Sweep = &intake.Sweep{
		Batches: g.store, Machine: &executions{}, Announcements: &announcements{}, Uploads: uploads,
		Slots: admissiontest.NewSlots(), Age: 20 * time.Minute, Patience: 24 * time.Hour,
	}
	g.Documents.(*documentintake.Documents).Waiting = &documentintake.Waiting{Files: files, Uploads: uploads,
		Age: 20 * time.Minute, Patience: 24 * time.Hour, Now: g.Intake.Now}
	g.mustHandle(t, g.event(t, "abc", 2))
	for _, step := range []struct {
		name  string
		at    time.Duration
		event any
		// want is how many scans of each are requested by then.
		want int
	}{
		{"GuardDuty may still scan", 19 * time.Minute, json.RawMessage(scheduleEvent), 0},
		{"nothing has come", 22 * time.Minute, json.RawMessage(scheduleEvent), 1},
		{"it has failed", 30 * time.Minute, newScanEvent(t, g.key(), "1", "abc", intake.ScanFailed), 2},
		{"the result of the upload", 31 * time.Minute, newScanEvent(t, g.key(), "n", "abc", intake.NoThreatsFound), 2},
		{"there is a result", 50 * time.Minute, json.RawMessage(scheduleEvent), 2},
	} {
		*g.clock = received.Add(step.at)
		g.mustHandle(t, step.event)
		scans := 0
		for _, key := range g.rescanner.keys {
			if key == g.key() {
				scans++
			}
		}
		difftest.Equal(t, step.name+": scans are requested", step.want, scans)
	}
	if want := document.FilePrefix + "t/f"; !slices.Contains(g.rescanner.keys, want) {
		t.Errorf("scans of %v are requested, want one of %s", g.rescanner.keys, want)
	}
	if started := slices.Compact(g.machine.started); len(started) != 1 { // by a name that counts once
		t.Errorf("started %v, want the batch", started)
	}
}

func TestScanResultsOfOtherObjects(t *testing.T) {
	g := newGuardDutyFixture(t, dynamotest.Start(t))
	for _, key := range []string{"malware-protection-resource-validation-object", "uploads/t/x",
		"work/t/" + string(g.batch.ID)} {
		g.mustHandle(t, newScanEvent(t, key, "n", "abc", intake.NoThreatsFound))
		if u, err := g.GuardDuty.Uploads.Get(t.Context(), batch.Object{Key: key, ETag: `"abc"`}); err != nil ||
			u.Result != "" {
			t.Errorf("key %s: recorded %+v, error %v, want nothing", key, u, err)
		}
	}
}

// An event that is not understood must become a dead letter and not count as handled.
func TestUnknownEventsAreErrors(t *testing.T) {
	g := newGuardDutyFixture(t, dynamotest.Start(t))
	whole := newScanEvent(t, g.key(), "n", "abc", intake.NoThreatsFound)
	for name, change := range map[string]func(*intake.ScanEvent){
		"another type":   func(e *intake.ScanEvent) { e.DetailType = "GuardDuty Finding" },
		"another source": func(e *intake.ScanEvent) { e.Source = "aws.s3" },
		"a volume":       func(e *intake.ScanEvent) { e.Detail.ResourceType = "EBS_VOLUME" },
		"no id":          func(e *intake.ScanEvent) { e.ID = "" },
		"no key":         func(e *intake.ScanEvent) { e.Detail.Object.Key = "" },
		"no ETag":        func(e *intake.ScanEvent) { e.Detail.Object.ETag = "" },
		"no result":      func(e *intake.ScanEvent) { e.Detail.Result.Status = "" },
		"a new result":   func(e *intake.ScanEvent) { e.Detail.Result.Status = "MAYBE" },
	} {
		t.Run(name, func(t *testing.T) {
			e := whole
			change(&e)
			if err := g.handle(t, e); err == nil {
				t.Error("got no error")
			}
		})
	}
	for _, text := range []string{`{}`, `[]`, `null`, `"x"`, `{"Records":{}}`,
		`{"detail-type":"Scheduled Event","detail":`} {
		errtest.Fails(t, "event "+text, g.Handle(t.Context(), json.RawMessage(text)))
	}
	f := newFixture(t, "{}")
	errtest.Fails(t, "an event of GuardDuty where GuardDuty does not scan", f.handle(t, whole))
	// S3 sends this when the notification is configured.
	must(t, "a test event", g.Handle(t.Context(), json.RawMessage(`{"Service":"Amazon S3","Event":"s3:TestEvent"}`)))
}

// A refused file stays refused after later events, which end without an error.
func TestRefusedFilesStayRefused(t *testing.T) {
	db := dynamotest.Start(t)
	t.Run("document", func(t *testing.T) {
		g := newGuardDutyFixture(t, db)
		g.files.tags = []string{"documents/t/f sluice-verdict=refused"}
		e := g.event(t, "abc", 2)
		e.Records[0].S3.Object.Key = "documents/t/f"
		r := scanResults['n']
		g.mustHandle(t, newScanEvent(t, "documents/t/f", r.id, "abc", r.status))
		g.mustHandle(t, e)
		if len(g.documents.recorded) != 1 || g.documents.recorded[0].Status != document.Infected ||
			g.files.verdict() != "refused" {
			t.Errorf("recorded %+v, tags %v, want Infected and refused", g.documents.recorded, g.files.tags)
		}
	})
	t.Run("batch", func(t *testing.T) {
		g := newGuardDutyFixture(t, db)
		g.bucket.tags = []string{g.key() + " sluice-verdict=refused"}
		r := scanResults['n']
		g.mustHandle(t, newScanEvent(t, intake.UploadKey(g.batch.Tenant, g.batch.ID), r.id, "abc", r.status))
		g.mustHandle(t, g.event(t, "abc", 2))
		if b := g.currentBatch(t); b.Status != batch.Failed || len(g.machine.started) != 0 ||
			g.bucket.verdict() != "refused" {
			t.Errorf("status %s, started %v, tags %v, want ERROR, no start, refused", b.Status, g.machine.started,
				g.bucket.tags)
		}
	})
}
