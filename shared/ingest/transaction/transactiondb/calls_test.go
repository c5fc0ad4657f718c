package transactiondb_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/transactiondb"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

// heldTable is a table whose first requests are answered when as many as one store may have under way have arrived, and
// not before it is released.
type heldTable struct {
	full, release chan struct{}

	mu                      sync.Mutex
	arrived, underWay, most int
}

func newHeldTable() *heldTable {
	return &heldTable{full: make(chan struct{}), release: make(chan struct{})}
}

func (h *heldTable) Do(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	h.arrived, h.underWay = h.arrived+1, h.underWay+1
	h.most = max(h.most, h.underWay)
	if h.arrived == dynamo.Concurrency {
		close(h.full)
	}
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		h.underWay--
		h.mu.Unlock()
	}()
	for _, event := range []chan struct{}{h.full, h.release} {
		select {
		case <-event:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return dynamotest.Respond(http.StatusOK, "{}"), nil
}

// pages returns versions that take a number of requests.
func pages(n int) (versions []transaction.Version) {
	for i := range n * dynamo.MaxPutItems {
		versions = append(versions, record("tx", fmt.Sprint(i), uuid.NewString(), at))
	}
	return versions
}

// Calls of Put at the same time share the requests that a store may have under way, and one that gets none ends with
// its context.
func TestPutsShareTheirRequests(t *testing.T) {
	t.Parallel()
	table := newHeldTable()
	s := errtest.Must(transactiondb.New(dynamodb.New(dynamodb.Options{
		Region: "none", HTTPClient: table, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
	}), "transactions"))(t)
	errs := make(chan error, 2)
	for range 2 {
		go func() { errs <- errtest.Of(s.Put(t.Context(), pages(dynamo.Concurrency-1))) }()
	}
	<-table.full
	given, cancel := context.WithCancel(t.Context())
	cancel()
	errtest.Is(t, "a Put that gets no request until its context ends returned", errtest.Of(s.Put(given, pages(1))),
		context.Canceled)
	close(table.release)
	errtest.Fatal(t, errors.Join(<-errs, <-errs))
	difftest.Equal(t, "result", []any{2 * (dynamo.Concurrency - 1), dynamo.Concurrency},
		[]any{table.arrived, table.most})
}
