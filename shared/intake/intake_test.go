package intake_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/batch"
	"sluice/shared/batch/batchdb"
	"sluice/shared/chunk"
	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/intake"
	"sluice/shared/malware"
	"sluice/shared/objects"
)

var received = time.Date(2026, 11, 26, 8, 15, 0, 123000000, time.UTC)

// bucket holds one file, and its unpacked copies, and records the calls.
type bucket struct {
	content string
	// copies are the objects that were stored, by their keys.
	copies map[string]string
	// losing counts down the times that the whole file is opened: the last one of them loses the file after ten bytes.
	losing int
	// failStore is the error of the next call of StoreObject, after it has written, and duringStore is called by it.
	failStore   error
	duringStore func()
	// opened are the ETags of the calls of Open.
	opened []string
	tags   []string
	// fail is the error of the next call of Tag.
	fail error
}

func (b *bucket) Open(_ context.Context, key, etag string, from, to int64) (io.ReadCloser, error) {
	b.opened = append(b.opened, etag)
	if b.verdictOf(key) == "refused" {
		return nil, objects.ErrDenied
	}
	content, isCopy := b.copies[key]
	if !isCopy {
		content = b.content
	}
	if to >= 0 {
		content = content[min(int(from), len(content)):min(int(to), len(content))]
	}
	if b.losing > 0 && !isCopy && to < 0 {
		if b.losing--; b.losing == 0 { // the first one is for the scan
			return io.NopCloser(io.MultiReader(strings.NewReader(content[:10]), iotest.ErrReader(io.ErrUnexpectedEOF))),
				nil
		}
	}
	return io.NopCloser(strings.NewReader(content)), nil
}

func (b *bucket) StoreObject(_ context.Context, key string, write func(io.Writer) error) (objects.Info, error) {
	var content strings.Builder
	if during := b.duringStore; during != nil {
		b.duringStore = nil
		during()
	}
	err := write(&content)
	if err == nil {
		err, b.failStore = b.failStore, nil
	}
	if err != nil {
		return objects.Info{}, err
	}
	if b.copies == nil {
		b.copies = map[string]string{}
	}
	b.copies[key] = content.String()
	return objects.Info{ETag: `"` + path.Base(key) + `"`, Size: int64(content.Len())}, nil
}

func (b *bucket) Tag(_ context.Context, key, name, value string) error {
	if err := b.fail; err != nil {
		b.fail = nil
		return err
	}
	b.tags = append(b.tags, key+" "+name+"="+value)
	return nil
}

// verdict returns the verdict with which the file is tagged; "" for none.
func (b *bucket) verdict() string {
	if len(b.tags) == 0 {
		return ""
	}
	_, verdict, _ := strings.Cut(b.tags[len(b.tags)-1], " sluice-verdict=")
	return verdict
}

// verdictOf returns the verdict with which an object is tagged; "" for none.
func (b *bucket) verdictOf(key string) string {
	verdict := ""
	for _, tag := range b.tags {
		if of, v, _ := strings.Cut(tag, " sluice-verdict="); of == key {
			verdict = v
		}
	}
	return verdict
}

// machine records the batches started.
type machine struct {
	started []batch.ID
	// fail is the error of the next call of Start.
	fail error
}

func (m *machine) Start(_ context.Context, id batch.ID) error {
	if err := m.fail; err != nil {
		m.fail = nil
		return err
	}
	m.started = append(m.started, id)
	return nil
}

// scanner fails with its errors in turn, and then scans.
type scanner struct {
	errs []error
	// during is called by Scan.
	during func()
}

func (s *scanner) Scan(ctx context.Context, r io.Reader) (malware.Threat, error) {
	if s.during != nil {
		s.during()
	}
	if len(s.errs) > 0 {
		err := s.errs[0]
		s.errs = s.errs[1:]
		return malware.Threat{}, err
	}
	return malware.Builtin{}.Scan(ctx, r)
}

// registry is a registry in which clients are enabled and tenants have the batch feature, unless it says otherwise.
type registry struct{ clientDisabled, featureDisabled bool }

func (r *registry) MayUpload(context.Context, string, string) (isEnabled, hasFeature bool, err error) {
	return !r.clientDisabled, !r.featureDisabled, nil
}

type fixture struct {
	*intake.Intake
	registry *registry
	store    *batchdb.Store
	bucket   *bucket
	machine  *machine
	scanner  *scanner
	batch    batch.Batch
}

func newFixture(t *testing.T, content string) fixture {
	t.Helper()
	return newFixtureOn(t, dynamotest.Start(t), content)
}

func newFixtureOn(t *testing.T, db *dynamodb.Client, content string) fixture {
	t.Helper()
	f := fixture{
		store:  batchdb.New(db, "test-batches"),
		bucket: &bucket{content: content}, machine: &machine{}, scanner: &scanner{},
		registry: &registry{},
	}
	id, err := batch.NewID()
	if err != nil {
		t.Fatal(err)
	}
	f.batch = batch.Batch{ID: id, Tenant: "a tenant", Status: batch.AwaitingUpload, CreatedAt: received,
		UpdatedAt: received, UploadBy: received}
	if err := f.store.Create(context.Background(), f.batch); err != nil {
		t.Fatal(err)
	}
	f.Intake = &intake.Intake{
		Registry: f.registry,
		Batches:  f.store, Uploads: f.bucket, Scanner: f.scanner, Machine: f.machine, MaxBytes: 1000,
		MaxRatio: 100, NewAttempt: newAttempt(),
		Retry: intake.RetryPolicy{Attempts: 3},
		Now:   func() time.Time { return received.Add(time.Minute) }, Log: slog.New(slog.DiscardHandler),
	}
	return f
}

// newAttempt returns a function that names attempts: 1, 2, 3.
func newAttempt() func() string {
	n := 0
	return func() string { n++; return strconv.Itoa(n) }
}

// event returns the sample event of the scan function, about the fixture's upload.
func (f fixture) event(t *testing.T, etag string, size int64) events.S3Event {
	t.Helper()
	text, err := os.ReadFile("../../events/scan.json")
	if err != nil {
		t.Fatal(err)
	}
	var e events.S3Event
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	o := &e.Records[0].S3.Object
	o.Key, o.ETag, o.Size = url.QueryEscape(intake.UploadKey(f.batch.Tenant, f.batch.ID)), etag, size
	return e
}

func (f fixture) handle(t *testing.T, event any) error {
	t.Helper()
	text, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	return f.Handle(context.Background(), text)
}

func (f fixture) currentBatch(t *testing.T) batch.Batch {
	t.Helper()
	b, err := f.store.Get(context.Background(), f.batch.ID)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCleanUploadIsStarted(t *testing.T) {
	f := newFixture(t, "{}\n")
	e := f.event(t, "abc", 3)
	for range 3 { // events come at least once
		if err := f.handle(t, e); err != nil {
			t.Fatal(err)
		}
	}
	b := f.currentBatch(t)
	want := batch.Object{Key: intake.UploadKey(f.batch.Tenant, f.batch.ID), ETag: `"abc"`, Size: 3}
	if b.Status != batch.Uploaded || b.Object != want || !b.ReceivedAt.Equal(received) {
		t.Errorf("got %+v, want UPLOADED with the object %+v", b, want)
	}
	for _, id := range f.machine.started {
		if id != f.batch.ID {
			t.Errorf("started %s, want %s", id, f.batch.ID)
		}
	}
	if len(f.machine.started) == 0 || f.bucket.opened[0] != `"abc"` {
		t.Errorf("started %v, opened %v, want a start and the ETag \"abc\"", f.machine.started, f.bucket.opened)
	}
}

// A later object under the same key is not the batch's.
func TestAnotherObjectChangesNothing(t *testing.T) {
	f := newFixture(t, "{}\n")
	if err := f.handle(t, f.event(t, "abc", 3)); err != nil {
		t.Fatal(err)
	}
	before := f.currentBatch(t)
	if err := f.handle(t, f.event(t, "other", 99999)); err != nil {
		t.Fatal(err)
	}
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
	if err := f.handle(t, e); !errors.Is(err, lost) {
		t.Fatalf("the first run: %v", err)
	}
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
			if err := f.handle(t, e); err != nil {
				t.Fatal(err)
			}
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
			if err := f.handle(t, f.event(t, "abc", 2)); err != nil {
				t.Fatal(err)
			}
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
		if _, err := f.store.Apply(context.Background(), f.batch.ID, started); err != nil {
			t.Fatal(err)
		}
	}
	f.scanner.errs = []error{malware.ErrUnscannable}
	if err := f.handle(t, e); err != nil {
		t.Fatal(err)
	}
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
