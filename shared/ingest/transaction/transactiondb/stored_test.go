package transactiondb_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"sluice/sampledata"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/ingest/transaction/transactiondb"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

const storedTenant = "7c2f1a52-3f6e-4b1e-9d0a-000000000001"

// storedVersions are one version of each kind of row, with every attribute set.
var storedVersions = []transaction.Version{{
	Tenant: storedTenant, TransactionID: "transaction", Modification: "modification", ReceivedAt: at,
	Batch: "0193a0b4-7c00-7000-8000-000000000001", Line: 42, MainEntity: transaction.Receiver,
	Text: []byte(`{"transaction_external_id":"transaction"}`),
}, {
	Tenant: storedTenant, TransactionID: "transaction", Modification: "single modification", ReceivedAt: at,
	MainEntity: transaction.Sender, Text: []byte(`{"transaction_external_id":"transaction"}`),
}}

// packedVersions also have the values that the packed form distinguishes: UUIDs, and a text that cannot be packed.
var packedVersions = append(storedVersions[:2:2], transaction.Version{
	Tenant: storedTenant, TransactionID: "transaction", Modification: "unpacked", ReceivedAt: at,
	Batch: "0193a0b4-7c00-7000-8000-000000000001", Line: 44, MainEntity: transaction.ReceivingPartner,
	Text: []byte("\x01 is no JSON"),
}, transaction.Version{
	Tenant: storedTenant, TransactionID: "transaction", Modification: "expiring", ReceivedAt: at,
	Batch: "0193a0b4-7c00-7000-8000-000000000001", Line: 45, MainEntity: transaction.Sender,
	Expires: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), Text: []byte(`{"transaction_external_id":"transaction"}`),
}, transaction.Version{
	Tenant: storedTenant, TransactionID: "transaction", Modification: "0193a0b4-7c00-7000-8000-0000000000ff",
	ReceivedAt: at, Batch: "0193a0b4-7c00-7000-8000-000000000001", Line: 1 << 40, MainEntity: transaction.Sender,
	Text: []byte(`{"request_uuid":"1f0a8f4e-6f54-4d0a-8c6b-0d9a5c7b4e15","payment_external_id":"order-42",` +
		`"transaction_external_id":"transaction","sender":{"by_external_id":"9a5c7b4e-6f54-4d0a-8c6b-1f0a8f4e0d15"},` +
		`"receiver":{"external_entity_type":"unknown","unknown":{"external_id":"shop-17","full_name":"Zoë"}},` +
		`"modification":{"external_id":"0193a0b4-7c00-7000-8000-0000000000ff","type":"settlement","amount":48.90,` +
		`"currency":"EUR","created_at":"2025-11-25T14:03:21.512Z"}}`),
})

// TestStoredTransactions pins the stored items: one golden item for each kind of row. Renaming a Go field so that a
// stored name changes fails it.
func TestStoredTransactions(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s, err := transactiondb.New(client, "test-transactions")
	errtest.Fatal(t, err)
	for _, v := range packedVersions {
		if v.IsSingle() {
			err = s.Add(ctx, v)
		} else {
			_, err = s.Put(ctx, []transaction.Version{v})
		}
		errtest.Fatal(t, err)
	}
	dynamotest.CompareStored(t, client, "test-transactions", "transactions-library-frames")
}

// TestReadStoredTransactions reads the golden items of every form, which must stay readable for ever: transactions,
// with bare frames, of releases before the packed form; transactions-packed, with dictionary 1 and frames of the
// library whose literals were rewritten; transactions-short-frames, in the same form with frames of an encoder of our
// own; transactions-library-frames, as the library writes them. A later form or dictionary gets another file; none of
// these is ever changed.
func TestReadStoredTransactions(t *testing.T) {
	for name, want := range map[string][]transaction.Version{
		"transactions": storedVersions, "transactions-packed": packedVersions,
		"transactions-short-frames": packedVersions, "transactions-library-frames": packedVersions,
	} {
		t.Run(name, func(t *testing.T) {
			client := dynamotest.Start(t)
			dynamotest.LoadStored(t, client, "test-transactions", name)
			s := errtest.Must(transactiondb.New(client, "test-transactions"))(t)
			r := transaction.Range{Tenant: storedTenant, TransactionID: "transaction", Limit: 10}
			got, _, err := s.List(t.Context(), r)
			byLine := func(a, b transaction.Version) int { return cmp.Compare(a.Line, b.Line) }
			slices.SortFunc(got, byLine)
			want := slices.SortedFunc(slices.Values(want), byLine)
			errtest.Fatal(t, err)
			difftest.Equal(t, "versions", want, got)
			errtest.Is(t, "adding a version again that is stored in this form", s.Add(t.Context(), storedVersions[1]),
				nil)
			other := storedVersions[1]
			other.Text = []byte(`{"transaction_external_id":"another"}`)
			errtest.Is(t, "adding another text in place of one that is stored in this form", s.Add(t.Context(), other),
				transaction.ErrExists)
		})
	}
}

// The items of realistic lines take one write unit, but for few: these lines come from another seed than the ones of
// which the dictionary was made.
func TestItemsFitIntoWriteUnits(t *testing.T) {
	s := errtest.Must(transactiondb.New(nil, ""))(t)
	bytes, units := 0, 0
	lines := sampledata.Lines(1000, 271828, 0)
	reader := scanner.New(transaction.Rules{})
	for i, text := range lines {
		identity := reader.Identify(text)
		size := errtest.Must(s.ItemSize(transaction.Version{
			Tenant: storedTenant, TransactionID: string(identity.TransactionExternalID),
			Modification: string(identity.ModificationID), ReceivedAt: at,
			Batch: "0193a0b4-7c00-7000-8000-000000000001", Line: int64(i + 1), MainEntity: identity.MainEntity,
			Text: text,
		}))(t)
		bytes += size
		units += dynamo.WriteUnits(size)
	}
	mean, perLine := float64(bytes)/float64(len(lines)), float64(units)/float64(len(lines))
	if mean > 450 || perLine > 1.01 {
		t.Errorf("the mean item has %.1f bytes and takes %.4f write units, want at most 450 and 1.01", mean, perLine)
	}
}
