package batchhttp_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"sluice/shared/batch"
	"sluice/shared/batch/batchhttp"
	"sluice/shared/httpapi"
	"sluice/shared/transaction"
)

// racing is a store in which a batch is finished between a reader's two looks: its last line comes, and it is PROCESSED.
type racing struct{ lines []transaction.Version }

func (r *racing) ReadKeys(ctx context.Context, tenant, id, after string, yield func(transaction.Version) bool) error {
	return r.ReadVersions(ctx, tenant, id, after, yield)
}

func (r *racing) ReadVersions(_ context.Context, _, _, _ string, yield func(transaction.Version) bool) error {
	for _, line := range r.lines {
		if !yield(line) {
			break
		}
	}
	return nil
}

func (r *racing) Statuses(_ context.Context, ids []batch.ID) (map[batch.ID]batch.Status, error) {
	r.lines = append(r.lines, transaction.Version{Batch: string(ids[0]), Modification: "m2", Text: []byte(`{}`)})
	return map[batch.ID]batch.Status{ids[0]: batch.Processed}, nil
}

func TestAReplyNeverShowsHalfABatch(t *testing.T) {
	id, err := batch.NewID()
	if err != nil {
		t.Fatal(err)
	}
	store := &racing{[]transaction.Version{{Batch: string(id), Modification: "m1", Text: []byte(`{}`)}}}
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
	reply, err := (&batchhttp.Transactions{Store: store, Batches: store}).Read(t.Context(), httpapi.Caller{Tenant: "t"}, r)
	if err != nil {
		t.Fatal(err)
	}
	if got := reply.Body.(batchhttp.TransactionReply).Modifications; len(got) != 2 {
		t.Errorf("%d of the batch's 2 modifications", len(got))
	}
}
