package intake_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/ingest/intake"
	"sluice/shared/ingest/intake/intakedb"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/document/documentintake"
)

// rescanner records the scans requested.
type rescanner struct {
	keys []string
	// fail is the error of the next call.
	fail error
}

func (a *rescanner) ScanAgain(_ context.Context, key, _ string) error {
	if err := a.fail; err != nil {
		a.fail = nil
		return err
	}
	a.keys = append(a.keys, key)
	return nil
}

// guardDutyFixture is a fixture whose uploads GuardDuty scans.
type guardDutyFixture struct {
	fixture
	rescanner *rescanner
	documents *documentStore
	files     *documentBucket
	clock     *time.Time
}

// scanAttempts is the number of scans after which an upload counts as unscannable.
const scanAttempts = 3

func newGuardDutyFixture(t *testing.T, db *dynamodb.Client) guardDutyFixture {
	t.Helper()
	f := newFixtureOn(t, db, "{}")
	g := guardDutyFixture{fixture: f, rescanner: &rescanner{}, documents: &documentStore{}, files: &documentBucket{},
		clock: new(time.Time)}
	*g.clock = received.Add(time.Minute)
	now := func() time.Time { return *g.clock }
	f.Intake.Now = now
	f.Scanner = nil
	f.GuardDuty = &intake.GuardDuty{
		Uploads: intakedb.New(db, "test-batches", now), Rescanner: g.rescanner, Now: now,
		Retry: intake.RetryPolicy{Attempts: scanAttempts}, MaxWait: time.Hour,
	}
	f.Documents = &documentintake.Documents{Store: g.documents, Registry: &registry{}, Files: g.files,
		GuardDuty: f.GuardDuty, MaxBytes: 1000, Log: slog.New(slog.DiscardHandler)}
	return g
}

// mustHandle handles an event, which must succeed.
func (g guardDutyFixture) mustHandle(t *testing.T, event any) {
	t.Helper()
	errtest.Fatal(t, g.handle(t, event))
}

// key returns the key of the batch's upload.
func (g guardDutyFixture) key() string { return intake.UploadKey(g.batch.Tenant, g.batch.ID) }

// newScanEvent returns the sample event of GuardDuty, about an object.
func newScanEvent(t *testing.T, key, id, etag string, status intake.ScanResult) intake.ScanEvent {
	t.Helper()
	text := errtest.Must(os.ReadFile("../../../events/scan-result.json"))(t)
	var e intake.ScanEvent
	errtest.Fatal(t, json.Unmarshal(text, &e))
	e.ID, e.Detail.Object.Key, e.Detail.Object.ETag, e.Detail.Result.Status = id, key, etag, status
	if status != intake.ThreatsFound {
		e.Detail.Result.Threats = nil
	}
	return e
}

// forEachOrder calls f with every distinct order of the letters of s.
func forEachOrder(s string, f func(order string)) {
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
var scanResults = map[rune]struct {
	id, etag string
	status   intake.ScanResult
}{
	'n': {"n", "abc", intake.NoThreatsFound},
	't': {"t", "abc", intake.ThreatsFound},
	'u': {"u", "abc", intake.Unsupported},
	'1': {"1", "abc", intake.ScanFailed},
	'2': {"2", "abc", intake.AccessDenied},
	'3': {"3", "abc", intake.ScanFailed},
	'x': {"x", "other", intake.ThreatsFound}, // of another object with the same key
}

// interleavings are sets of events and the outcome that every order of them must have.
var interleavings = []struct {
	events string
	clean  bool
	// message is part of the message of a refusal.
	message string
}{
	{events: "CCnn", clean: true},
	{events: "CCtt", message: "The malware scan refused the file (EICAR-Test-File (not a virus))."},
	{events: "Cu", message: "could not be scanned"},
	{events: "C11n", clean: true},
	{events: "C12nn", clean: true},
	{events: "C112n", clean: true}, // a repeated event of one failure
	{events: "CC123", message: "could not be scanned"},
	{events: "Cxn", clean: true},
}
