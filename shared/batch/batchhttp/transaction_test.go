package batchhttp_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/batch"
	"sluice/shared/batch/batchhttp"
	"sluice/shared/transaction"
)

// inState makes a batch that stands in a state.
func (a *api) inState(t *testing.T, state batch.Status) string {
	t.Helper()
	id, err := batch.NewID()
	if err == nil {
		err = a.batches.Create(t.Context(), batch.Batch{ID: id, Tenant: a.caller.Tenant, Status: state, CreatedAt: now, UpdatedAt: now, UploadBy: now})
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(id)
}

func line(transactionID, modification, note string) string {
	return fmt.Sprintf(`{ "transaction_external_id":%q,"modification":{"external_id":%q,"amount":1.50},"sender":{"by_external_id":"s1"},"description":%q}`,
		transactionID, modification, note)
}

func (a *api) put(t *testing.T, tenant, id, modification, batchID, note string, received time.Time) {
	t.Helper()
	err := a.transactions.Put(t.Context(), []transaction.Version{{
		Tenant: tenant, TransactionID: id, Modification: modification, ReceivedAt: received, Batch: batchID, Line: 7, MainEntity: transaction.Sender,
		Text: []byte(line(id, modification, note)),
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// notes reads a transaction and returns, of each modification in order, what its line says.
func (a *api) notes(t *testing.T, id string) []string {
	t.Helper()
	escaped := strings.ReplaceAll(url.PathEscape(id), ".", "%2E") // bare dots are steps in a path
	status, reply := a.call(t, "transaction", "GET", "/"+escaped, "")
	if status == 404 && reply["message"] == "Transaction not found." {
		return nil
	}
	if status != 200 || reply["transaction_external_id"] != id {
		t.Fatalf("%d %v", status, reply)
	}
	var out []string
	for _, m := range reply["modifications"].([]any) {
		out = append(out, m.(map[string]any)["transaction"].(map[string]any)["description"].(string))
	}
	return out
}

func TestATransaction(t *testing.T) {
	a := newAPI(t)
	done := a.inState(t, batch.Processed)
	a.put(t, "t1", "x", "m1", done, "hello", now)
	status, reply := a.call(t, "transaction", "GET", "/x", "")
	if status != 200 {
		t.Fatalf("%d %v", status, reply)
	}
	want := map[string]any{"transaction_external_id": "x", "modifications": []any{map[string]any{
		"modification_external_id": "m1", "batch_id": done, "line": 7.0, "received_at": "2026-11-26T08:15:00Z",
		"main_entity": map[string]any{"role": "sender", "by_external_id": "s1"},
		"transaction": map[string]any{"transaction_external_id": "x", "modification": map[string]any{"external_id": "m1", "amount": 1.5},
			"sender": map[string]any{"by_external_id": "s1"}, "description": "hello"},
	}}}
	if diff := cmp.Diff(want, reply); diff != "" {
		t.Error(diff)
	}
}

// Only lines of batches that are PROCESSED are there, and of each modification the one that was received last, in whatever
// order they were written.
func TestWhatCanBeSeen(t *testing.T) {
	a := newAPI(t)
	for _, state := range batch.Statuses() {
		id := "of " + string(state)
		a.put(t, "t1", id, "m", a.inState(t, state), "note", now)
		if got := a.notes(t, id); (state == batch.Processed) != (len(got) == 1) {
			t.Errorf("%s: %v", state, got)
		}
	}
	done, again, running, failed := a.inState(t, batch.Processed), a.inState(t, batch.Processed), a.inState(t, batch.InProgress), a.inState(t, batch.Failed)
	a.put(t, "t1", "x", "m1", again, "second", now.Add(time.Second))
	a.put(t, "t1", "x", "m1", done, "first", now)
	a.put(t, "t1", "x", "m1", running, "third", now.Add(2*time.Second))
	a.put(t, "t1", "x", "m10", done, "another", now)
	a.put(t, "t1", "x", "m2", failed, "never", now)
	a.put(t, "t2", "x", "m3", done, "others", now)
	if diff := cmp.Diff([]string{"second", "another"}, a.notes(t, "x")); diff != "" {
		t.Error(diff)
	}
	a.caller.Tenant = "t3"
	if got := a.notes(t, "x"); got != nil {
		t.Errorf("another tenant sees %v", got)
	}
}

// An ID may hold anything, up to its 255 bytes; one that no line can have is not found.
func TestIDsInPaths(t *testing.T) {
	a := newAPI(t)
	done := a.inState(t, batch.Processed)
	for _, id := range []string{"a/b", "..", "a//b", "50%", "a%2Fb", "é ?#&+", "#", strings.Repeat("x", 255), strings.Repeat("é", 127)} {
		a.put(t, "t1", id, "m", done, "it", now)
		if got := a.notes(t, id); len(got) != 1 {
			t.Errorf("%q: %v", id, got)
		}
	}
	for _, id := range []string{strings.Repeat("x", 254), strings.Repeat("x", 256), strings.Repeat("x", 5000), "A/B"} {
		if got := a.notes(t, id); got != nil {
			t.Errorf("%.10q: %v", id, got)
		}
	}
}

// A transaction of any size is read page by page, each within what Lambda may answer with: nothing is lost or doubled.
func TestALargeTransaction(t *testing.T) {
	a := newAPI(t)
	done := a.inState(t, batch.Processed)
	const all = 23
	for i := range all {
		note := strings.Repeat([]string{"x", `"`, "<"}[i%3], []int{200_000, 60_000, 200_000}[i%3])
		a.put(t, "t1", "x", fmt.Sprintf("m%02d &?", i), done, note, now)
	}
	var seen []string
	pages := 0
	for after := ""; ; pages++ {
		r := a.invoke(t, "transaction", "GET", "/x", map[string]string{"after": after}, "")
		if payload, err := json.Marshal(r); err != nil || r.StatusCode != 200 || len(payload) > 6<<20 {
			t.Fatalf("%v, %d, %d bytes", err, r.StatusCode, len(payload))
		}
		var reply batchhttp.TransactionReply
		if err := json.Unmarshal([]byte(r.Body), &reply); err != nil {
			t.Fatal(err)
		}
		for _, m := range reply.Modifications {
			seen = append(seen, m.ModificationExternalID)
		}
		if after = reply.NextAfter; after == "" {
			break
		}
	}
	if len(seen) != all || !slices.IsSorted(seen) || len(slices.Compact(seen)) != all || pages < 2 {
		t.Errorf("%d pages more, %v", pages, seen)
	}
	if r := a.invoke(t, "transaction", "GET", "/x", map[string]string{"after": "zzzzzz"}, ""); r.Body != `{"transaction_external_id":"x","modifications":[]}` {
		t.Errorf("behind the last: %d %s", r.StatusCode, r.Body)
	}
}
