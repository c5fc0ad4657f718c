package intake_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/batch"
	"sluice/shared/document"
	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/intake"
	"sluice/shared/intake/intakedb"
	"sluice/shared/upload"
)

// again counts the scans that were asked for.
type again struct {
	keys []string
	fail error // of the next
}

func (a *again) ScanAgain(_ context.Context, key, _ string) error {
	if err := a.fail; err != nil {
		a.fail = nil
		return err
	}
	a.keys = append(a.keys, key)
	return nil
}

// guarded is a fixture whose uploads GuardDuty scans.
type guarded struct {
	fixture
	again *again
	docs  *papers
	files *files
	clock *time.Time
}

const scans = 3 // that may come to nothing

func newGuarded(t *testing.T, db *dynamodb.Client) guarded {
	t.Helper()
	f := newFixtureOn(t, db, "{}")
	g := guarded{fixture: f, again: &again{}, docs: &papers{}, files: &files{}, clock: new(time.Time)}
	*g.clock = received.Add(time.Minute)
	now := func() time.Time { return *g.clock }
	f.Intake.Now = now
	f.Scanner = nil
	f.Results = &intake.Results{
		Store: intakedb.New(db, "test-batches", now), Again: g.again, Now: now,
		Patience: intake.Patience{Attempts: scans}, Wait: time.Hour,
	}
	f.Documents = &intake.Documents{Store: g.docs, Files: g.files, Results: f.Results, MaxBytes: 1000, Log: slog.New(slog.DiscardHandler)}
	return g
}

// result is the sample event of GuardDuty, about an object.
func result(t *testing.T, key, id, etag string, status upload.Result) intake.ScanResult {
	t.Helper()
	text, err := os.ReadFile("../../events/scan-result.json")
	if err != nil {
		t.Fatal(err)
	}
	var e intake.ScanResult
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	e.ID, e.Detail.Object.Key, e.Detail.Object.ETag, e.Detail.Result.Status = id, key, etag, status
	if status != upload.Threats {
		e.Detail.Result.Threats = nil
	}
	return e
}

// orders calls f with every distinct order of the letters of s.
func orders(s string, f func(order string)) {
	var grow func(prefix, rest string)
	grow = func(prefix, rest string) {
		if rest == "" {
			f(prefix)
		}
		for i, c := range rest {
			if strings.IndexRune(rest, c) == i {
				grow(prefix+string(c), rest[:i]+rest[i+1:])
			}
		}
	}
	grow("", s)
}

// The letters of the events below: C is S3's event, the others are results.
var results = map[rune]struct {
	id, etag string
	status   upload.Result
}{
	'n': {"n", "abc", upload.Clean}, 't': {"t", "abc", upload.Threats}, 'u': {"u", "abc", upload.Unsupported},
	'1': {"1", "abc", upload.Failed}, '2': {"2", "abc", upload.Denied}, '3': {"3", "abc", upload.Failed},
	'x': {"x", "other", upload.Threats}, // of another object under the key
}

// interleavings are sets of events and what every order of each of them must come to.
var interleavings = []struct {
	events  string
	clean   bool
	message string // of a refusal
}{
	{events: "CCnn", clean: true},
	{events: "CCtt", message: "The malware scan refused the file (EICAR-Test-File (not a virus))."},
	{events: "Cu", message: "could not be scanned"},
	{events: "C11n", clean: true},
	{events: "C12nn", clean: true},
	{events: "C112n", clean: true}, // one failure told twice is one failure
	{events: "CC123", message: "could not be scanned"},
	{events: "Cxn", clean: true},
}

func TestEveryOrderOfEvents(t *testing.T) {
	db := dynamotest.Start(t)
	for _, tt := range interleavings {
		t.Run(tt.events, func(t *testing.T) {
			orders(tt.events, func(order string) {
				g := newGuarded(t, db)
				for _, letter := range order {
					if letter == 'C' {
						must(t, order, g.handle(t, g.event(t, "abc", 2)))
						continue
					}
					r := results[letter]
					must(t, order, g.handle(t, result(t, intake.Key(g.batch.Tenant, g.batch.ID), r.id, r.etag, r.status)))
				}
				b := g.now(t)
				if !b.ReceivedAt.Equal(received) || b.Object.ETag != `"abc"` || b.Object.Size != 2 {
					t.Errorf("%s: %+v", order, b)
				}
				refused := b.Status == batch.Failed && strings.Contains(b.ErrorMessage, tt.message) && len(g.bucket.tags) > 0 && len(g.machine.started) == 0
				started := b.Status == batch.Uploaded && len(g.bucket.tags) == 0 && len(g.machine.started) > 0
				if tt.clean && !started || !tt.clean && !refused {
					t.Errorf("%s: %s %q, started %v, tags %v", order, b.Status, b.ErrorMessage, g.machine.started, g.bucket.tags)
				}
				g.nothingWaits(t, order)
			})
		})
	}
}

func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func (g guarded) nothingWaits(t *testing.T, what string) {
	t.Helper()
	must(t, what, g.Results.Store.Waiting(t.Context(), received.Add(time.Second), func(u upload.Upload) error {
		// A repetition of S3's event may leave it waiting: the sweep finds nothing to do and ends that.
		return g.handle(t, json.RawMessage(sweep))
	}))
	must(t, what, g.Results.Store.Waiting(t.Context(), received.Add(time.Second), func(u upload.Upload) error {
		return fmt.Errorf("%s still waits", u.Object.Key)
	}))
}

const sweep = `{"detail-type":"Scheduled Event"}`

func TestEveryOrderOfEventsOfADocument(t *testing.T) {
	db, file := dynamotest.Start(t), 0
	for _, tt := range interleavings {
		orders(tt.events, func(order string) {
			g := newGuarded(t, db)
			file++
			etag := func(s string) string { return fmt.Sprint(s, file) } // a file of its own under the one key
			for _, letter := range order {
				if letter == 'C' {
					e := g.event(t, etag("abc"), 2)
					e.Records[0].S3.Object.Key = "documents/t/f"
					must(t, order, g.handle(t, e))
					continue
				}
				r := results[letter]
				must(t, order, g.handle(t, result(t, "documents/t/f", r.id, etag(r.etag), r.status)))
			}
			status := document.Failed
			switch {
			case tt.clean:
				status = document.Completed
			case strings.Contains(tt.events, "t"):
				status = document.Infected
			}
			if len(g.docs.settled) == 0 || g.docs.settled[0].Status != status || (len(g.files.tags) > 0) == tt.clean {
				t.Errorf("%s: %+v, tags %v", order, g.docs.settled, g.files.tags)
			}
		})
	}
}

// A scan that came to nothing is asked for again until the last attempt, and not once a final result is known.
func TestScansAgain(t *testing.T) {
	db := dynamotest.Start(t)
	g := newGuarded(t, db)
	key := intake.Key(g.batch.Tenant, g.batch.ID)
	must(t, "created", g.handle(t, g.event(t, "abc", 2)))
	for i, status := range []upload.Result{upload.Failed, upload.Denied, upload.Failed} {
		must(t, string(status), g.handle(t, result(t, key, fmt.Sprint(i), "abc", status)))
		if want := min(i+1, scans-1); len(g.again.keys) != want || g.again.keys[0] != key {
			t.Errorf("after %d failures: %v", i+1, g.again.keys)
		}
	}
	if b := g.now(t); b.Status != batch.Failed {
		t.Errorf("%s", b.Status)
	}

	g = newGuarded(t, db)
	key = intake.Key(g.batch.Tenant, g.batch.ID)
	must(t, "clean", g.handle(t, result(t, key, "n", "abc", upload.Clean)))
	must(t, "failed", g.handle(t, result(t, key, "1", "abc", upload.Failed)))
	if len(g.again.keys) != 0 {
		t.Errorf("asked again for %v", g.again.keys)
	}
	lost := errors.New("lost")
	g = newGuarded(t, db)
	g.again.fail = lost
	failed := result(t, intake.Key(g.batch.Tenant, g.batch.ID), "1", "abc", upload.Failed)
	if err := g.handle(t, failed); !errors.Is(err, lost) {
		t.Errorf("a request that was lost: %v", err)
	}
	if err := g.handle(t, failed); err != nil || len(g.again.keys) != 1 {
		t.Errorf("its retry: %v, %v", err, g.again.keys)
	}
}

// A result that never comes ends the batch; one that comes after that changes nothing.
func TestAResultThatDoesNotCome(t *testing.T) {
	g := newGuarded(t, dynamotest.Start(t))
	must(t, "created", g.handle(t, g.event(t, "abc", 2)))
	for _, at := range []time.Duration{30 * time.Second, 2 * time.Minute, time.Hour} {
		*g.clock = received.Add(at)
		must(t, "sweep", g.handle(t, json.RawMessage(sweep)))
		if b := g.now(t); b.Status != batch.Uploaded || len(g.machine.started) != 0 {
			t.Fatalf("after %v: %s", at, b.Status)
		}
	}
	*g.clock = received.Add(time.Hour + time.Second)
	must(t, "sweep", g.handle(t, json.RawMessage(sweep)))
	if b := g.now(t); b.Status != batch.Failed || !strings.Contains(b.ErrorMessage, "could not be scanned") || len(g.bucket.tags) != 1 {
		t.Errorf("%s %q", b.Status, b.ErrorMessage)
	}
	must(t, "late", g.handle(t, result(t, intake.Key(g.batch.Tenant, g.batch.ID), "n", "abc", upload.Clean)))
	if b := g.now(t); b.Status != batch.Failed || len(g.machine.started) != 0 {
		t.Errorf("%s, started %v", b.Status, g.machine.started)
	}
	g.nothingWaits(t, "late")
}

// A function that is lost behind the record of a result is taken up by the sweep, and one upload that cannot be settled does
// not keep another waiting.
func TestTheSweepTakesUp(t *testing.T) {
	g := newGuarded(t, dynamotest.Start(t))
	key := intake.Key(g.batch.Tenant, g.batch.ID)
	must(t, "result", g.handle(t, result(t, key, "n", "abc", upload.Clean)))
	lost := errors.New("lost")
	g.machine.fail = lost
	if err := g.handle(t, g.event(t, "abc", 2)); !errors.Is(err, lost) {
		t.Fatal(err)
	}
	other := g.event(t, "def", 2)
	other.Records[0].S3.Object.Key = "documents/t/f"
	must(t, "document", g.handle(t, other))
	g.machine.fail = lost
	*g.clock = received.Add(2 * time.Hour)
	if err := g.handle(t, json.RawMessage(sweep)); !errors.Is(err, lost) || len(g.docs.settled) != 1 {
		t.Errorf("%v, documents %v", err, g.docs.settled)
	}
	must(t, "sweep", g.handle(t, json.RawMessage(sweep)))
	if len(g.machine.started) != 1 || len(g.docs.settled) != 1 {
		t.Errorf("started %v, documents %v", g.machine.started, g.docs.settled)
	}
}

func TestResultsOfWhatIsNoUpload(t *testing.T) {
	g := newGuarded(t, dynamotest.Start(t))
	for _, key := range []string{"malware-protection-resource-validation-object", "uploads/t/x", "work/t/" + string(g.batch.ID)} {
		must(t, key, g.handle(t, result(t, key, "n", "abc", upload.Clean)))
		if u, err := g.Results.Store.Get(t.Context(), batch.Object{Key: key, ETag: `"abc"`}); err != nil || u.Result != "" {
			t.Errorf("%s: %+v %v", key, u, err)
		}
	}
}

// An event that is not understood must come to the dead letters, not pass for handled.
func TestEventsThatAreRefused(t *testing.T) {
	g := newGuarded(t, dynamotest.Start(t))
	whole := result(t, intake.Key(g.batch.Tenant, g.batch.ID), "n", "abc", upload.Clean)
	for name, change := range map[string]func(*intake.ScanResult){
		"another type":   func(e *intake.ScanResult) { e.DetailType = "GuardDuty Finding" },
		"another source": func(e *intake.ScanResult) { e.Source = "aws.s3" },
		"a volume":       func(e *intake.ScanResult) { e.Detail.ResourceType = "EBS_VOLUME" },
		"no id":          func(e *intake.ScanResult) { e.ID = "" },
		"no key":         func(e *intake.ScanResult) { e.Detail.Object.Key = "" },
		"no ETag":        func(e *intake.ScanResult) { e.Detail.Object.ETag = "" },
		"no result":      func(e *intake.ScanResult) { e.Detail.Result.Status = "" },
		"a new result":   func(e *intake.ScanResult) { e.Detail.Result.Status = "MAYBE" },
	} {
		e := whole
		change(&e)
		if err := g.handle(t, e); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	for _, text := range []string{`{}`, `[]`, `null`, `"x"`, `{"Records":{}}`, `{"detail-type":"Scheduled Event","detail":`} {
		if err := g.Handle(t.Context(), json.RawMessage(text)); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
	f := newFixture(t, "{}")
	for _, e := range []any{whole, json.RawMessage(sweep)} {
		if err := f.handle(t, e); err == nil {
			t.Error("a result was taken where GuardDuty does not scan")
		}
	}
	// S3 may send this when the notification is set up.
	must(t, "a test event", g.Handle(t.Context(), json.RawMessage(`{"Service":"Amazon S3","Event":"s3:TestEvent"}`)))
}
