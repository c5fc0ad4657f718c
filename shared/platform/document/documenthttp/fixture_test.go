package documenthttp_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/httpapitest"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/objects"
	"sluice/shared/platform/document/documentdb"
	"sluice/shared/platform/document/documenthttp"
)

const (
	tenant   = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"
	commands = "/documentmanagementcommand/api/v2/documentmanagement"
	queries  = "/documentmanagementquery/api/documentmanagement"
)

// maxBytes is the size of the largest file.
const maxBytes = 1000

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// bucket is a bucket of files that records deletions.
type bucket struct {
	deleted []string
	// signed are the sizes that were signed, 0 for a file of any size.
	signed []int64
	// fail is the error of the next deletion.
	fail error
}

func (b *bucket) SignPutOf(_ context.Context, key string, size int64, _ time.Duration) (objects.SignedURL, error) {
	b.signed = append(b.signed, size)
	return objects.SignedURL{URL: "https://put/" + key, Headers: map[string]string{"If-None-Match": "*"}}, nil
}

func (b *bucket) SignGet(_ context.Context, key string, d objects.Download, _ time.Duration) (objects.SignedURL,
	error) {
	return objects.SignedURL{URL: "https://get/" + key + "/" + d.FileName}, nil
}

func (b *bucket) Empty(_ context.Context, key string) error {
	if err := b.fail; err != nil {
		b.fail = nil
		return err
	}
	b.deleted = append(b.deleted, key)
	return nil
}

// fixture is document management over a real store, for one caller.
type fixture struct {
	*testing.T
	bucket *bucket
	now    time.Time
	store  *documentdb.Store
	caller httpapi.Caller
	paging *platform.Paging
}

func newFixture(t *testing.T) *fixture {
	store := documentdb.New(dynamotest.Start(t), "test-documents")
	return &fixture{t, &bucket{}, now, store, httpapi.Caller{
		Tenant: tenant, Client: "c", Expires: now.Add(time.Hour),
		Permissions: []string{"DocumentManagementAccess", "DocumentManagementCreate", "DocumentManagementCreateVirtual",
			"DocumentManagementEdit", "DocumentManagementDelete"},
	}, platform.LoadPaging(t.Context(), store)}
}

// send sends a request and returns the status and the body of the reply. It decodes the data of the reply into data,
// unless that is nil.
func (f *fixture) send(method, path, body string, data any) (int, string) {
	f.Helper()
	s := &documenthttp.Documents{Store: f.store, Files: f.bucket, MaxBytes: maxBytes,
		Now: func() time.Time { return f.now }, NewID: uuid.NewString, Paging: f.paging}
	h := httpapi.Lambda(platform.Handler(s.Routes(), nil, nil, slog.New(slog.DiscardHandler),
		func() time.Time { return now }))
	r := errtest.Must(h(f.Context(), httpapitest.NewPlatformRequest(f, f.caller, method, path, body)))(f)
	if data != nil {
		if err := json.Unmarshal([]byte(r.Body), &struct{ Data any }{data}); err != nil {
			f.Fatalf("%v: %s", err, r.Body)
		}
	}
	return r.StatusCode, r.Body
}

// createDocument creates a document of an entity type, "" for the type of the route, and returns its ID.
func (f *fixture) createDocument(entityType string) string {
	f.Helper()
	if entityType != "" {
		entityType = `,"requestType":"` + entityType + `"`
	}
	var n struct{ ID, Status, SignedURLToUpload string }
	code, body := f.send("POST", commands, `{"data":{"fileName":"a.pdf","entityId":"e","journeyId":"j"`+entityType+`}}`,
		&n)
	if code != 202 || n.Status != "Processing" ||
		!strings.HasPrefix(n.SignedURLToUpload, "https://put/documents/"+tenant+"/") {
		f.Fatalf("got %d %s, want 202 with a Processing document", code, body)
	}
	return n.ID
}
