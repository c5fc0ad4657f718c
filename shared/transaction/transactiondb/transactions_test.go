package transactiondb_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/transaction"
	"sluice/shared/transaction/transactiondb"
)

func record(tx, modification, batch string, received time.Time) transaction.Version {
	return transaction.Version{
		Tenant: "tenant", TransactionID: tx, Modification: modification, ReceivedAt: received, Batch: batch,
		Line: 1 << 40, MainEntity: transaction.Receiver, Text: []byte(`{"line":"` + modification + `"}`),
	}
}

func versions(t *testing.T, s *transactiondb.Store, tx string) []transaction.Version {
	t.Helper()
	var out []transaction.Version
	err := s.ReadVersions(context.Background(), "tenant", tx, "", func(r transaction.Version) bool {
		out = append(out, r)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTransactions(t *testing.T) {
	client, injected := dynamotest.StartFaulty(t)
	s, err := transactiondb.New(client, "test-transactions")
	if err != nil {
		t.Fatal(err)
	}
	older, newer := uuid.NewString(), uuid.NewString()
	long := strings.Repeat("é", 127) + "x" // 255 bytes
	want := []transaction.Version{
		record("tx", "m", older, at), record("tx", "m", newer, at.Add(time.Nanosecond)),
		record("tx", "m\x00", older, at), record("tx", long, older, at),
	}
	var all []transaction.Version
	for _, i := range []int{3, 1, 0, 2} {
		all = append(all, want[i])
	}
	for i := range 100 { // several calls, whatever is left over
		all = append(all, record(fmt.Sprint("other", i), "m", older, at))
	}
	for range 2 { // again: the same items
		if err := s.Put(context.Background(), all); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, versions(t, s, "tx")); diff != "" {
		t.Error(diff)
	}
	var keys []transaction.Version
	err = s.ReadKeys(context.Background(), "tenant", "tx", "m", func(r transaction.Version) bool {
		keys = append(keys, r)
		return len(keys) < 2
	})
	for i := range want { // what lies behind m, and no line of it
		want[i].Line, want[i].MainEntity, want[i].Text = 0, 0, nil
	}
	if diff := cmp.Diff(want[2:], keys); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for i := range 100 {
		if got := versions(t, s, fmt.Sprint("other", i)); len(got) != 1 {
			t.Errorf("other%d: %d versions", i, len(got))
		}
	}
	if got := versions(t, s, "t"); len(got) != 0 {
		t.Errorf("another transaction's versions: %+v", got)
	}
	if injected.Load() == 0 {
		t.Error("no fault was injected")
	}
	if err := s.Put(context.Background(), []transaction.Version{record("tx", long+"x", older, at)}); err == nil {
		t.Error("a modification ID of 256 bytes was taken")
	}
}

var at = time.Date(2026, 11, 26, 8, 15, 0, 123456789, time.UTC)
