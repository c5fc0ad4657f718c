package batchhttp_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/functions/setup/listsetup"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/permission"
	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiontest"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/batch/batchhttp"
	"sluice/shared/ingest/observation/observationdb"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/objects"
	"sluice/shared/screening/catalog/catalogtest"
)

const base = "/tm/realtime/api/transactions"

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// api is the batch interface over a real store, for one caller.
type api struct {
	db      *dynamodb.Client
	queue   *admissiontest.Memory
	batches *batchdb.Store
	singles *observationdb.Store
	caller  httpapi.Caller
	now     time.Time // of the endpoints
	newID   func() (batch.ID, error)
	lists   *catalogtest.Memory
	closer  *closer
	parts   *parts
	// storage holds the objects of all buckets.
	storage storage
	httpapi.API
}

var settings = tenancy.Settings{MaxFuture: time.Hour, MainEntity: tenancy.ByPaymentType}

func newAPI(t *testing.T) *api {
	t.Helper()
	files := storage{}
	cfg := aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		BaseEndpoint: aws.String("http://s3.test"), HTTPClient: files}
	clock := func() time.Time { return now }
	var a *api
	bucket := func(name string) *objects.Bucket {
		return objects.New(cfg, name, objects.Options{PathStyle: true, Now: func() time.Time { return a.now }})
	}
	db := dynamotest.Start(t)
	a = &api{db: db, queue: admissiontest.NewMemory(), batches: batchdb.New(db, "test-batches"),
		singles: observationdb.New(db, "test-observations"), now: now, newID: batch.NewID,
		lists: catalogtest.NewMemory(), closer: &closer{}, storage: files}
	a.caller = httpapi.Caller{
		Tenant: "t1", Client: "c1", Permissions: []string{permission.BatchUpload, permission.BatchRead,
			permission.TransactionRead},
		Features: []string{tenancy.BatchFeature}, Expires: now.Add(time.Hour), Attributes: settings.Attributes(),
	}
	a.parts = newParts(bucket("uploads"))
	b := &batchhttp.Batches{
		Store: a.batches, Uploads: a.parts, UploadPatience: 24 * time.Hour, PartSize: 400, Reports: bucket("work"),
		Lists:     &listsetup.Lists{Loader: a.lists.Loader()},
		Positions: &admission.Positions{Queue: a.queue, Now: func() time.Time { return a.now }, Age: 2 * time.Second},
		Singles:   a.singles, Paging: paging(t), Closer: a.closer, Log: slog.New(slog.DiscardHandler),
		UploadLifetime:   15 * time.Minute,
		DownloadLifetime: time.Minute, MaxBytes: 1000, ReportDays: 30, Now: func() time.Time { return a.now },
		NewID: func() (batch.ID, error) { return a.newID() }, NewKey: func() [16]byte { return [16]byte{1, 2, 3} },
	}
	a.API = httpapi.API{Routes: b.Routes(), Errors: httpapi.MonitoringErrors, Log: slog.New(slog.DiscardHandler),
		Now: clock}
	return a
}

// call sends a request as the caller and decodes the reply.
func (a *api) call(t *testing.T, method, path, body string) (int, map[string]any) {
	t.Helper()
	r := a.invoke(t, method, path, body)
	var out map[string]any
	if err := json.Unmarshal([]byte(r.Body), &out); err != nil {
		t.Fatalf("%d %q", r.StatusCode, r.Body)
	}
	return r.StatusCode, out
}

// invoke sends a request as the caller and returns the answer of the function.
func (a *api) invoke(t *testing.T, method, path, body string) events.APIGatewayProxyResponse {
	t.Helper()
	return a.send(t, events.APIGatewayProxyRequest{HTTPMethod: method, Path: base + path, Body: body,
		Headers: map[string]string{"Content-Type": "application/json"}})
}

// getQuery asks for a path with the text of a query.
func (a *api) getQuery(t *testing.T, path, query string) events.APIGatewayProxyResponse {
	t.Helper()
	values := errtest.Must(url.ParseQuery(query))(t)
	return a.send(t, events.APIGatewayProxyRequest{HTTPMethod: http.MethodGet, Path: path,
		MultiValueQueryStringParameters: values})
}

// send sends a request as the caller and returns the answer of the function.
func (a *api) send(t *testing.T, e events.APIGatewayProxyRequest) events.APIGatewayProxyResponse {
	t.Helper()
	e.RequestContext.Authorizer = a.caller.Context()
	return errtest.Must(httpapi.Lambda(a.Handler())(t.Context(), e))(t)
}

// generateUploadURL asks for an upload URL and returns the reply.
func (a *api) generateUploadURL(t *testing.T, body string) map[string]any {
	t.Helper()
	status, reply := a.call(t, "POST", "/batch/generate-upload-url", body)
	if status != 200 {
		t.Fatalf("got %d %v, want 200", status, reply)
	}
	return reply
}

// createBatch asks for an upload URL and returns the ID of its batch.
func (a *api) createBatch(t *testing.T) string {
	t.Helper()
	return a.generateUploadURL(t, "")["batch_id"].(string)
}

// apply applies transitions to a batch.
func (a *api) apply(t *testing.T, id string, changes ...batch.Transition) {
	t.Helper()
	for _, c := range changes {
		c.At = now
		errtest.Fatal(t, errtest.Of(a.batches.Apply(t.Context(), batch.ID(id), c)))
	}
}
