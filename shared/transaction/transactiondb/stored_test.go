package transactiondb_test

import (
	"errors"
	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/transaction"
	"sluice/shared/transaction/transactiondb"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const storedTenant = "7c2f1a52-3f6e-4b1e-9d0a-000000000001"

// TestStoredTransactions pins what is stored: one golden item for each kind of row, with every attribute set. It writes
// through the store and compares the items, and it reads the golden items through the store and compares the values.
// Renaming a Go field so that a stored name changes fails both.
func TestStoredTransactions(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s, err := transactiondb.New(client, "test-transactions")
	if err != nil {
		t.Fatal(err)
	}
	want := []transaction.Version{{
		Tenant: storedTenant, TransactionID: "transaction", Modification: "modification", ReceivedAt: at,
		Batch: "0193a0b4-7c00-7000-8000-000000000001", Line: 42, MainEntity: transaction.Receiver,
		Text: []byte(`{"transaction_external_id":"transaction"}`),
	}, {
		Tenant: storedTenant, TransactionID: "transaction", Modification: "single modification", ReceivedAt: at,
		MainEntity: transaction.Sender, Text: []byte(`{"transaction_external_id":"transaction"}`),
	}}
	if err := errors.Join(s.Put(ctx, want[:1]), s.Add(ctx, want[1])); err != nil {
		t.Fatal(err)
	}
	dynamotest.CompareStored(t, client, "test-transactions", "transactions")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-transactions", "transactions")
	if s, err = transactiondb.New(client, "test-transactions"); err != nil {
		t.Fatal(err)
	}
	got, _, err := s.List(ctx, transaction.Range{Tenant: storedTenant, TransactionID: "transaction", Limit: 10})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("versions: %v, (-want +got)\n%s", err, diff)
	}
}
