package dynamo_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/dynamo"
	"sluice/shared/entity"
	"sluice/shared/transaction"
)

func record(tx, modification, batch string, received time.Time) transaction.Record {
	return transaction.Record{
		Tenant: "tenant", TransactionID: tx, Modification: modification, ReceivedAt: received, Batch: batch,
		Line: 1 << 40, MainEntity: transaction.Receiver, Text: []byte(`{"line":"` + modification + `"}`),
	}
}

func versions(t *testing.T, s *dynamo.Transactions, tx string) []transaction.Record {
	t.Helper()
	var out []transaction.Record
	err := s.Versions(context.Background(), "tenant", tx, "", func(r transaction.Record) bool {
		out = append(out, r)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTransactions(t *testing.T) {
	client, injected := faulty(t)
	s, err := dynamo.NewTransactions(client, "test-transactions")
	if err != nil {
		t.Fatal(err)
	}
	older, newer := uuid.NewString(), uuid.NewString()
	long := strings.Repeat("é", 127) + "x" // 255 bytes
	want := []transaction.Record{
		record("tx", "m", older, at), record("tx", "m", newer, at.Add(time.Nanosecond)),
		record("tx", "m\x00", older, at), record("tx", long, older, at),
	}
	var all []transaction.Record
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
	var keys []transaction.Record
	err = s.Keys(context.Background(), "tenant", "tx", "m", func(r transaction.Record) bool {
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
	if err := s.Put(context.Background(), []transaction.Record{record("tx", long+"x", older, at)}); err == nil {
		t.Error("a modification ID of 256 bytes was taken")
	}
}

func TestEntities(t *testing.T) {
	ctx := context.Background()
	client, injected := faulty(t)
	s := dynamo.NewEntities(client, "test-entities")
	var entities []entity.Entity
	var ids []string
	want := map[string]entity.LifecycleStatus{}
	for i := range 301 {
		e := entity.Entity{ID: fmt.Sprintf("e#%d", i), LifecycleStatus: entity.Compliant}
		entities, ids = append(entities, e), append(ids, e.ID, e.ID, "nobody"+e.ID)
		want[e.ID] = e.LifecycleStatus
	}
	entities = append(entities, entity.Entity{ID: "e#7", LifecycleStatus: entity.ClientOffboarded}) // the last one counts
	want["e#7"] = entity.ClientOffboarded
	if err := s.Import(ctx, "tenant", entities); err != nil {
		t.Fatal(err)
	}
	got, err := s.Lookup(ctx, "tenant", ids)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := s.Lookup(ctx, "tenan", ids); err != nil || len(got) != 0 {
		t.Errorf("another tenant finds %d, %v", len(got), err)
	}
	if injected.Load() == 0 {
		t.Error("no fault was injected")
	}
}

// A caller whose time is up gets its context's error, however busy the table is.
func TestThrottlingEndsWithTheContext(t *testing.T) {
	client, _ := faulty(t)
	s := dynamo.NewEntities(client, "test-entities")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Import(ctx, "tenant", []entity.Entity{{ID: "a", LifecycleStatus: entity.Compliant}}); err == nil {
		t.Error("no error")
	}
}
