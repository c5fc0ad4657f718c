package intake_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/malware"
	"sluice/shared/kit/objects"
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
	id := errtest.Must(batch.NewID())(t)
	f.batch = batch.Batch{ID: id, Tenant: "a tenant", Status: batch.AwaitingUpload, CreatedAt: received,
		UpdatedAt: received, UploadBy: received}
	errtest.Fatal(t, f.store.Create(context.Background(), f.batch))
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
	text := errtest.Must(os.ReadFile("../../../events/scan.json"))(t)
	var e events.S3Event
	errtest.Fatal(t, json.Unmarshal(text, &e))
	o := &e.Records[0].S3.Object
	o.Key, o.ETag, o.Size = url.QueryEscape(intake.UploadKey(f.batch.Tenant, f.batch.ID)), etag, size
	return e
}

func (f fixture) handle(t *testing.T, event any) error {
	t.Helper()
	text := errtest.Must(json.Marshal(event))(t)
	return f.Handle(context.Background(), text)
}

func (f fixture) currentBatch(t *testing.T) batch.Batch {
	t.Helper()
	return errtest.Must(f.store.Get(context.Background(), f.batch.ID))(t)
}
