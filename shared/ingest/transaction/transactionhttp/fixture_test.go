package transactionhttp_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/find"
	"sluice/shared/ingest/find/findtest"
	"sluice/shared/ingest/observation/observationdb"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/transactiondb"
	"sluice/shared/ingest/transaction/transactionhttp"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

const path = "/tm/realtime/api/transactions/"

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// api is the interface of stored transactions over real stores, for one caller.
type api struct {
	batches      *batchdb.Store
	transactions *transactiondb.Store
	singles      *observationdb.Store
	index        *findtest.Index
	caller       httpapi.Caller
	httpapi.API
}

func newAPI(t *testing.T) *api {
	t.Helper()
	db := dynamotest.Start(t)
	transactions, err := transactiondb.New(db, "test-transactions")
	errtest.Fatal(t, err)
	clock := func() time.Time { return now }
	a := &api{batches: batchdb.New(db, "test-batches"), transactions: transactions,
		singles: observationdb.New(db, "test-observations"), index: &findtest.Index{Since: now, Now: clock}}
	paging, err := platform.NewPaging(make([]byte, 32))
	errtest.Fatal(t, err)
	a.caller = httpapi.Caller{
		Tenant: "t1", Client: "c1", Permissions: []string{permission.TransactionRead}, Expires: now.Add(time.Hour),
	}
	s := &transactionhttp.Transactions{
		Store: transactions, Batches: a.batches, Now: clock, Paging: paging,
		Hits: &find.Hits{Lines: a.index, Keys: a.index, Singles: a.singles, Versions: transactions, Now: clock},
	}
	a.API = httpapi.API{
		Routes: s.Routes(), Errors: httpapi.MonitoringErrors, Log: slog.New(slog.DiscardHandler),
		Now: clock,
	}
	return a
}

// get reads a transaction as the caller and returns the answer of the function.
func (a *api) get(t *testing.T, escapedID, after string) events.APIGatewayProxyResponse {
	t.Helper()
	e := events.APIGatewayProxyRequest{HTTPMethod: "GET", Path: path + escapedID}
	if after != "" {
		e.QueryStringParameters = map[string]string{"after": after}
	}
	return a.send(t, e)
}

// send sends a request as the caller and returns the answer of the function.
func (a *api) send(t *testing.T, e events.APIGatewayProxyRequest) events.APIGatewayProxyResponse {
	t.Helper()
	e.RequestContext.Authorizer = a.caller.Context()
	r, err := httpapi.Lambda(a.Handler())(t.Context(), e)
	errtest.Fatal(t, err)
	return r
}

// decode decodes the body of a reply.
func decode(t *testing.T, r events.APIGatewayProxyResponse) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(r.Body), &out); err != nil {
		t.Fatalf("%d %q: %v", r.StatusCode, r.Body, err)
	}
	return out
}

// createBatch creates a batch with a status.
func (a *api) createBatch(t *testing.T, state batch.Status) string {
	t.Helper()
	id, err := batch.NewID()
	if err == nil {
		err = a.batches.Create(t.Context(), batch.Batch{ID: id, Tenant: a.caller.Tenant, Status: state, CreatedAt: now,
			UpdatedAt: now, UploadBy: now})
	}
	errtest.Fatal(t, err)
	return string(id)
}

func line(transactionID, modification, note string) string {
	return fmt.Sprintf(`{ "transaction_external_id":%q,"modification":{"external_id":%q,"amount":1.50},`+
		`"sender":{"by_external_id":"s1"},"description":%q}`,
		transactionID, modification, note)
}

// store stores a line, received at a time.
func (a *api) store(t *testing.T, tenant, id, modification, batchID, note string, received time.Time) {
	t.Helper()
	_, err := a.transactions.Put(t.Context(), []transaction.Version{{
		Tenant: tenant, TransactionID: id, Modification: modification, ReceivedAt: received, Batch: batchID, Line: 7,
		MainEntity: transaction.Sender,
		Text:       []byte(line(id, modification, note)),
	}})
	errtest.Fatal(t, err)
}

// descriptions reads a transaction and returns the description of each modification, in order; nil if it is not found.
func (a *api) descriptions(t *testing.T, id string) []string {
	t.Helper()
	escaped := strings.ReplaceAll(url.PathEscape(id), ".", "%2E") // bare dots are steps in a path
	r := a.get(t, escaped, "")
	reply := decode(t, r)
	if r.StatusCode == 404 && reply["message"] == "Transaction not found." {
		return nil
	}
	if r.StatusCode != 200 || reply["transaction_external_id"] != id {
		t.Fatalf("got %d %v, want 200 of %.40q", r.StatusCode, reply, id)
	}
	var out []string
	for _, m := range reply["modifications"].([]any) {
		out = append(out, m.(map[string]any)["transaction"].(map[string]any)["description"].(string))
	}
	return out
}
