package batchdb_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/receipt"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

var storedReceiptKeys = []receipt.Key{
	{ID: "first", KMSKey: "arn:1", PublicKey: []byte{1, 2}, ActiveFrom: at},
	{ID: "second", KMSKey: "arn:2", PublicKey: []byte{3, 4}, ActiveFrom: at.Add(time.Hour)},
}

// TestStoredReceipts pins how a receipt and the keys of receipts are stored.
func TestStoredReceipts(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s := newStore(client)
	errtest.Fatal(t, errtest.Of(s.CommitReceipt(ctx, storedBatch, "a.b.c")))
	errtest.Fatal(t, s.ReplaceReceiptKeys(ctx, storedReceiptKeys, 0))
	dynamotest.CompareStored(t, client, "test-batches", "receipts")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-batches", "receipts")
	s = newStore(client)
	difftest.Equal(t, "Receipt", "a.b.c", errtest.Must(s.Receipt(ctx, storedBatch))(t))
	keys, version, err := s.ReceiptKeys(ctx)
	if diff := cmp.Diff(storedReceiptKeys, keys); version != 1 || err != nil || diff != "" {
		t.Errorf("ReceiptKeys: version %d, error %v, want 1; keys (-want +got)\n%s", version, err, diff)
	}
}

// Of receipts that are committed at the same time one is kept, and everyone is told which.
func TestOneReceiptIsKept(t *testing.T) {
	ctx := t.Context()
	s := newStore(dynamotest.Start(t))
	difftest.Equal(t, "before the first", "", errtest.Must(s.Receipt(ctx, storedBatch))(t))
	texts := []string{"a", "b", "c"}
	got := make([]string, len(texts))
	var group sync.WaitGroup
	for i, text := range texts {
		group.Go(func() {
			var err error
			if got[i], err = s.CommitReceipt(ctx, storedBatch, text); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	kept, err := s.Receipt(ctx, storedBatch)
	if diff := cmp.Diff([]string{kept, kept, kept}, got); kept == "" || err != nil || diff != "" {
		t.Errorf("%q is kept, error %v, and others were returned (-want +got)\n%s", kept, err, diff)
	}
}

// Keys are replaced by the last reader alone.
func TestReceiptKeysAreReplacedAsRead(t *testing.T) {
	ctx := t.Context()
	s := newStore(dynamotest.Start(t))
	if keys, version, err := s.ReceiptKeys(ctx); keys != nil || version != 0 || err != nil {
		t.Errorf("before the first: got %v, version %d, error %v, want none", keys, version, err)
	}
	for _, tt := range []struct {
		version int64
		keys    int
		want    error
	}{
		{1, 1, receipt.ErrKeysChanged}, {0, 1, nil}, {0, 1, receipt.ErrKeysChanged}, {1, 2, nil},
		{1, 1, receipt.ErrKeysChanged},
	} {
		errtest.Is(t, fmt.Sprintf("%d keys in place of version %d", tt.keys, tt.version),
			s.ReplaceReceiptKeys(ctx, storedReceiptKeys[:tt.keys], tt.version), tt.want)
	}
	if keys, version, err := s.ReceiptKeys(ctx); len(keys) != 2 || version != 2 || err != nil {
		t.Errorf("got %d keys of version %d, error %v, want 2 and 2", len(keys), version, err)
	}
}
