package transactionhttp_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/transactionhttp"
	"sluice/shared/kit/errtest"
)

// racingStore is a store in which a batch becomes PROCESSED, with one more line, between the two readings of a request.
type racingStore struct{ lines []transaction.Version }

func (r *racingStore) List(_ context.Context, q transaction.Range) ([]transaction.Version, bool, error) {
	var found []transaction.Version
	for _, line := range r.lines {
		if transaction.CompareModifications(line.Modification, q.After) > 0 && len(found) < q.Limit {
			found = append(found, line)
		}
	}
	return found, false, nil
}

func (r *racingStore) Statuses(_ context.Context, ids []batch.ID) (map[batch.ID]batch.Status, error) {
	r.lines = append(r.lines, transaction.Version{Batch: string(ids[0]), Modification: "m2", Text: []byte(`{}`)})
	return map[batch.ID]batch.Status{ids[0]: batch.Processed}, nil
}

// A reply never shows a part of a batch.
func TestBatchesAppearAsAWhole(t *testing.T) {
	id, err := batch.NewID()
	errtest.Fatal(t, err)
	store := &racingStore{[]transaction.Version{{Batch: string(id), Modification: "m1", Text: []byte(`{}`)}}}
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
	r.SetPathValue("transaction_external_id", "x")
	reply, err := (&transactionhttp.Transactions{Store: store, Batches: store, Now: time.Now}).Read(t.Context(),
		httpapi.Caller{Tenant: "t"}, r)
	errtest.Fatal(t, err)
	if got := reply.Body.(transactionhttp.TransactionReply).Modifications; len(got) != 2 {
		t.Errorf("got %d modifications, want both of the batch", len(got))
	}
}
