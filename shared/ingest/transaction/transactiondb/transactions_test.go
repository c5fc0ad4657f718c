package transactiondb_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/transactiondb"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

func record(tx, modification, batch string, received time.Time) transaction.Version {
	return transaction.Version{
		Tenant: "tenant", TransactionID: tx, Modification: modification, ReceivedAt: received, Batch: batch,
		Line: 1 << 40, MainEntity: transaction.Receiver, Text: []byte(`{"line":"` + modification + `"}`),
	}
}

func versions(t *testing.T, s *transactiondb.Store, tx string) []transaction.Version {
	t.Helper()
	return list(t, s, transaction.Range{TransactionID: tx, Limit: 1000})
}

// list reads all versions of a range, in as many calls as its limit makes necessary.
func list(t *testing.T, s *transactiondb.Store, r transaction.Range) []transaction.Version {
	t.Helper()
	r.Tenant = "tenant"
	got, hasMore, err := s.List(context.Background(), r)
	errtest.Fatal(t, err)
	if len(got) > r.Limit || hasMore && len(got) == 0 {
		t.Fatalf("got %d versions, has more: %t, want 1 to %d", len(got), hasMore, r.Limit)
	}
	return got
}

func TestTransactions(t *testing.T) {
	client, injected := dynamotest.StartFaulty(t)
	s := errtest.Must(transactiondb.New(client, "test-transactions"))(t)
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
	for i := range 100 { // several calls, with any remainder
		all = append(all, record(fmt.Sprint("other", i), "m", older, at))
	}
	for range 2 { // again: the same items
		errtest.Fatal(t, errtest.Of(s.Put(context.Background(), all)))
	}
	difftest.Equal(t, "versions", want, versions(t, s, "tx"))
	keys := list(t, s, transaction.Range{TransactionID: "tx", After: "m", Limit: 2, KeysOnly: true})
	for i := range want { // the versions after m, and no line of it
		want[i].Line, want[i].MainEntity, want[i].Text = 0, 0, nil
	}
	difftest.Equal(t, "keys after m", want[2:], keys)
	for i := range 100 {
		if got := versions(t, s, fmt.Sprint("other", i)); len(got) != 1 {
			t.Errorf("other%d: %d versions", i, len(got))
		}
	}
	difftest.Len(t, "another transaction's versions", 0, versions(t, s, "t"))
	if injected.Load() == 0 {
		t.Error("no fault was injected")
	}
	errtest.Fails(t, "a modification ID of 256 bytes was taken",
		errtest.Of(s.Put(context.Background(), []transaction.Version{record("tx", long+"x", older, at)})))
}

// The versions of one modification are read newest first, from any of them on, and none of another modification.
func TestVersionsNewestFirst(t *testing.T) {
	client := dynamotest.Start(t)
	s := errtest.Must(transactiondb.New(client, "test-transactions"))(t)
	batches := []string{"00000000-0000-7000-8000-000000000000", "00000000-0000-7000-8000-000000000001"}
	var all []transaction.Version
	for _, modification := range []string{"a", "b", "bb", "c"} {
		for i := range 10 {
			v := record("tx", modification, batches[i%2], at.Add(time.Duration(i/2)))
			all = append(all, v)
		}
	}
	errtest.Fatal(t, errtest.Of(s.Put(context.Background(), all)))
	single := record("tx", "b", "", at.Add(2))
	single.Line = 0
	errtest.Fatal(t, s.Add(context.Background(), single))
	want := slices.Concat(all[10:14], []transaction.Version{single}, all[14:20])
	slices.Reverse(want)
	got := list(t, s, transaction.Range{TransactionID: "tx", Modification: "b", Limit: 100})
	difftest.Equal(t, "the versions of b", want, got)
	if !slices.IsSortedFunc(got, func(a, b transaction.Version) int { return b.Compare(a) }) {
		t.Errorf("by Compare, %+v are not newest first", got)
	}
	for i := range want {
		older := list(t, s, transaction.Range{TransactionID: "tx", Modification: "b", Before: &want[i], Limit: 100})
		difftest.Equal(t, fmt.Sprintf("versions older than %d", i), want[i+1:], older, cmpopts.EquateEmpty())
	}
}

// Of a modification and a receipt time there is one single version. To store it again changes nothing, and to store
// another one is refused.
func TestSingleVersions(t *testing.T) {
	client := dynamotest.Start(t)
	s := errtest.Must(transactiondb.New(client, "test-transactions"))(t)
	v := record("tx", "m", "", at)
	v.Line = 0
	for range 2 {
		errtest.Fatal(t, s.Add(t.Context(), v))
	}
	other := v
	other.Text = []byte(`{"line":"another"}`)
	errtest.Is(t, "another line at the same time", s.Add(t.Context(), other), transaction.ErrExists)
	difftest.Equal(t, "versions", []transaction.Version{v}, versions(t, s, "tx"))
	errtest.Fails(t, "Put stored a version without a batch", errtest.Of(s.Put(t.Context(), []transaction.Version{v})))
	errtest.Fails(t, "Add stored a version of a batch", s.Add(t.Context(), record("tx", "m", uuid.NewString(), at)))
}

var at = time.Date(2026, 11, 26, 8, 15, 0, 123456789, time.UTC)

// Versions are found by their keys, each once, and no others.
func TestFind(t *testing.T) {
	s, err := transactiondb.New(dynamotest.Start(t), "test-transactions")
	errtest.Fatal(t, err)
	id := uuid.NewString()
	line, single := record("tx", "m", id, at), record("a#b", "m", "", at)
	line.Expires = at.Add(time.Hour).Truncate(time.Second)
	single.Line, single.Batch = 0, ""
	errtest.Fatal(t, errtest.Of(s.Put(t.Context(), []transaction.Version{line, record("tx", "n", id, at)})))
	errtest.Fatal(t, s.Add(t.Context(), single))
	wanted := []transaction.Version{line, single, single, record("tx", "m", uuid.NewString(), at),
		record("tx", "m", id, at.Add(1)), record("x", "m", id, at)}
	wanted = append(wanted, line)
	byID := cmpopts.SortSlices(func(a, b transaction.Version) bool { return a.TransactionID < b.TransactionID })
	for _, keysOnly := range []bool{false, true} {
		want := []transaction.Version{single, line}
		for i := range want {
			if keysOnly {
				want[i].Line, want[i].MainEntity, want[i].Text = 0, 0, nil
			}
		}
		got, err := s.Find(t.Context(), wanted, keysOnly)
		errtest.Fatal(t, err)
		difftest.Equal(t, fmt.Sprint("keys only: ", keysOnly), want, got, byID)
	}
	if _, err := s.Find(t.Context(), []transaction.Version{record("tx", "m", "no batch", at)}, true); err == nil {
		t.Error("a version whose batch is no UUID was looked for")
	}
}
