package findhttp_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"sluice/openapi/wire"
	"sluice/shared/access"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/find"
	"sluice/shared/ingest/find/findhttp"
	"sluice/shared/ingest/find/findtest"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/observation/observationdb"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/transactiondb"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

const requestID = "1f0a8f4e-6f54-4d0a-8c6b-0d9a5c7b4e15"

var (
	now   = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)
	since = now.Add(-30 * 24 * time.Hour)
)

// api is the interface over real stores and an index in memory, for one caller.
type api struct {
	index        *findtest.Index
	batches      *batchdb.Store
	transactions *transactiondb.Store
	singles      *observationdb.Store
	objects      map[find.Kind]find.Source
	caller       httpapi.Caller
	now          time.Time
	httpapi.API
}

func newAPI(t *testing.T) *api {
	t.Helper()
	db := dynamotest.Start(t)
	transactions, err := transactiondb.New(db, "test-transactions")
	errtest.Fatal(t, err)
	paging, err := platform.NewPaging(make([]byte, 32))
	errtest.Fatal(t, err)
	a := &api{batches: batchdb.New(db, "test-batches"), transactions: transactions,
		singles: observationdb.New(db, "test-observations"), objects: map[find.Kind]find.Source{}, now: now}
	clock := func() time.Time { return a.now }
	a.index = &findtest.Index{Since: since, Now: clock}
	a.objects[find.Batch] = find.BatchSource{Batches: a.batches}
	a.caller = httpapi.Caller{Tenant: "t1", Client: "c1", Expires: now.Add(1000 * time.Hour),
		Permissions: []string{permission.BatchRead}, Layers: access.Layers{Geographic: []string{"EU"}}.OrDefault()}
	s := &findhttp.Find{Paging: paging, Finder: &find.Finder{Batches: a.batches, Sources: a.objects, Now: clock,
		Hits: &find.Hits{Lines: a.index, Keys: a.index, Singles: a.singles, Versions: transactions, Now: clock}}}
	a.API = httpapi.API{Routes: s.Routes(), Errors: httpapi.MonitoringErrors, Log: slog.New(slog.DiscardHandler),
		Now: clock}
	return a
}

// send sends a query as the caller.
func (a *api) send(t *testing.T, query string) events.APIGatewayProxyResponse {
	t.Helper()
	values, err := url.ParseQuery(query)
	errtest.Fatal(t, err)
	e := events.APIGatewayProxyRequest{HTTPMethod: http.MethodGet, Path: "/tm/realtime/api/find",
		MultiValueQueryStringParameters: values}
	e.RequestContext.Authorizer = a.caller.Context()
	r, err := httpapi.Lambda(a.Handler())(t.Context(), e)
	errtest.Fatal(t, err)
	return r
}

// page reads one page.
func (a *api) page(t *testing.T, query string) wire.FoundItems {
	t.Helper()
	r := a.send(t, query)
	var out wire.FoundItems
	if err := json.Unmarshal([]byte(r.Body), &out); err != nil || r.StatusCode != 200 {
		t.Fatalf("%s: got %d %s", query, r.StatusCode, r.Body)
	}
	return out
}

// find reads all pages, and returns "kind status place" of each item: the place is the line or the modification.
func (a *api) find(t *testing.T, query string) (all []string, pages int) {
	t.Helper()
	for next := ""; ; {
		out := a.page(t, query+next)
		for _, item := range out.Items {
			all = append(all, fmt.Sprint(item.Kind, " ", text(item.Status), " ", describe(item)))
		}
		if pages++; out.Next == nil || pages > 100 {
			return all, pages
		}
		next = "&next=" + *out.Next
	}
}

func describe(item wire.FoundItem) string {
	if item.Line != nil {
		return fmt.Sprint("line ", *item.Line)
	}
	return text(item.ModificationExternalID)
}

func text(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// addBatch stores a batch of the caller that was received some time ago and has ended as change says.
func (a *api) addBatch(t *testing.T, age time.Duration, change func(*batch.Batch)) batch.Batch {
	t.Helper()
	id, err := batch.NewID()
	errtest.Fatal(t, err)
	b := batch.Batch{ID: id, Tenant: a.caller.Tenant, Status: batch.Processed, CreatedAt: now.Add(-age),
		UpdatedAt: now.Add(-age), ReceivedAt: now.Add(-age), UploadBy: now, Settings: tenancy.Settings{},
		Verdict: &batch.Verdict{Outcome: batch.Judged, Total: 2, Accepted: 1, Invalid: 1}}
	if change != nil {
		change(&b)
	}
	errtest.Fatal(t, a.batches.Create(t.Context(), b))
	return b
}

// addLine indexes a line of a batch, by payment, transaction, modification and request.
func (a *api) addLine(b batch.Batch, number int64, ids ...string) {
	a.index.Add(b.Tenant, lineindex.Batch{ID: b.ID, ReceivedAt: b.ReceivedAt,
		Expires: b.Settings.ExpiryOf(b.ReceivedAt)}, number, ids...)
}

// ingest stores a line of a batch, and indexes it.
func (a *api) ingest(t *testing.T, b batch.Batch, number int64, ids ...string) {
	t.Helper()
	a.addLine(b, number, ids...)
	errtest.Fatal(t, errtest.Of(a.transactions.Put(t.Context(), []transaction.Version{{Tenant: b.Tenant,
		TransactionID: ids[1], Modification: ids[2], ReceivedAt: b.ReceivedAt, Batch: string(b.ID), Line: number,
		Text: []byte(`{}`)}})))
}

// sendSingle records a single transaction that was sent some time ago and, unless it is refused, stores it.
func (a *api) sendSingle(t *testing.T, age time.Duration, status int, ids ...string) {
	t.Helper()
	at := now.Add(-age)
	if status == http.StatusCreated {
		errtest.Fatal(t, a.transactions.Add(t.Context(), transaction.Version{Tenant: a.caller.Tenant,
			TransactionID: ids[1], Modification: ids[2], ReceivedAt: at,
			Text: fmt.Appendf(nil, `{"payment_external_id":%q}`, ids[0])}))
	}
	errtest.Fatal(t, a.singles.Record(t.Context(), observation.Event{Tenant: a.caller.Tenant, At: at, Status: status,
		PaymentID: ids[0], TransactionID: ids[1], ModificationID: ids[2], RequestID: ids[3]}))
}
