package transactionhttp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"sluice/shared/access/permission"
	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/transactionhttp"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestOneTransaction(t *testing.T) {
	a := newAPI(t)
	processed := a.createBatch(t, batch.Processed)
	a.store(t, "t1", "x", "m1", processed, "hello", now)
	r := a.get(t, "x", "")
	if r.StatusCode != 200 {
		t.Fatalf("got %d %s, want 200", r.StatusCode, r.Body)
	}
	want := map[string]any{"transaction_external_id": "x", "modifications": []any{map[string]any{
		"modification_external_id": "m1", "batch_id": processed, "line": 7.0, "received_at": "2026-11-26T08:15:00Z",
		"main_entity": map[string]any{"role": "sender", "by_external_id": "s1"},
		"transaction": map[string]any{"transaction_external_id": "x",
			"modification": map[string]any{"external_id": "m1", "amount": 1.5},
			"sender":       map[string]any{"by_external_id": "s1"}, "description": "hello"},
	}}}
	difftest.Equal(t, "the result", want, decode(t, r))
}

func TestPermission(t *testing.T) {
	a := newAPI(t)
	a.caller.Permissions = slices.DeleteFunc(permission.All(),
		func(p string) bool { return p == permission.TransactionRead })
	a.caller.Features = []string{tenancy.BatchFeature}
	if r := a.get(t, "x", ""); r.StatusCode != 403 || !strings.Contains(r.Body, permission.TransactionRead) {
		t.Errorf("without %s: got %d %s, want 403", permission.TransactionRead, r.StatusCode, r.Body)
	}
	a.caller.Permissions, a.caller.Features = []string{permission.TransactionRead}, nil
	if r := a.get(t, "x", ""); r.StatusCode != 404 {
		t.Errorf("with %s, without the batch feature: got %d %s, want 404", permission.TransactionRead, r.StatusCode,
			r.Body)
	}
}

// Only lines of batches that are PROCESSED are visible, and of each modification the one that was received last, in
// whatever order they were stored.
func TestVisibleVersions(t *testing.T) {
	a := newAPI(t)
	for _, status := range batch.Statuses() {
		t.Run(string(status), func(t *testing.T) {
			id := "of " + string(status)
			a.store(t, "t1", id, "m", a.createBatch(t, status), "note", now)
			want := map[bool]int{true: 1}[status == batch.Processed]
			if got := a.descriptions(t, id); len(got) != want {
				t.Errorf("got %v, want %d modifications", got, want)
			}
		})
	}
	first, second := a.createBatch(t, batch.Processed), a.createBatch(t, batch.Processed)
	running, failed := a.createBatch(t, batch.InProgress), a.createBatch(t, batch.Failed)
	a.store(t, "t1", "x", "m1", second, "second", now.Add(time.Second))
	a.store(t, "t1", "x", "m1", first, "first", now)
	a.store(t, "t1", "x", "m1", running, "third", now.Add(2*time.Second))
	a.store(t, "t1", "x", "m10", first, "another", now)
	a.store(t, "t1", "x", "m2", failed, "never", now)
	a.store(t, "t2", "x", "m3", first, "others", now)
	difftest.Equal(t, "the result", []string{"second", "another"}, a.descriptions(t, "x"))
	a.caller.Tenant = "t3"
	if got := a.descriptions(t, "x"); got != nil {
		t.Errorf("another tenant sees %v", got)
	}
}

// An ID may hold anything, up to its 255 bytes; one that no line can have is not found.
func TestIDsInPaths(t *testing.T) {
	a := newAPI(t)
	processed := a.createBatch(t, batch.Processed)
	for _, id := range []string{"a/b", "..", "a//b", "50%", "a%2Fb", "é ?#&+", "#", strings.Repeat("x", 255),
		strings.Repeat("é", 127)} {
		a.store(t, "t1", id, "m", processed, "it", now)
		if got := a.descriptions(t, id); len(got) != 1 {
			t.Errorf("%.40q: got %v, want one modification", id, got)
		}
	}
	for _, id := range []string{strings.Repeat("x", 254), strings.Repeat("x", 256), strings.Repeat("x", 5000), "A/B"} {
		if got := a.descriptions(t, id); got != nil {
			t.Errorf("%.40q: got %v, want 404", id, got)
		}
	}
}

// A query parameter names the transactions that no path can carry, and any other one.
func TestIDsInQueries(t *testing.T) {
	a := newAPI(t)
	processed := a.createBatch(t, batch.Processed)
	get := func(parameters map[string]string) events.APIGatewayProxyResponse {
		t.Helper()
		return a.send(t, events.APIGatewayProxyRequest{
			HTTPMethod: "GET", Path: strings.TrimSuffix(path, "/"), QueryStringParameters: parameters,
		})
	}
	for _, id := range []string{".", "..", "batch", "a/b", "é ?#&+", "transaction"} {
		a.store(t, "t1", id, "m", processed, "it", now)
		r := get(map[string]string{"transaction_external_id": id})
		if reply := decode(t, r); r.StatusCode != 200 || reply["transaction_external_id"] != id {
			t.Errorf("%q: got %d %v, want 200", id, r.StatusCode, reply)
		}
	}
	if r := get(map[string]string{"transaction_external_id": "unknown"}); r.StatusCode != 404 {
		t.Errorf("an unknown transaction: got %d %s, want 404", r.StatusCode, r.Body)
	}
	const want = `{"detail":[{"loc":["query","transaction_external_id"],"msg":"The parameter is required.",` +
		`"type":"missing"}]}`
	if r := get(nil); r.StatusCode != 422 || r.Body != want {
		t.Errorf("no parameter: got %d %s, want 422 %s", r.StatusCode, r.Body, want)
	}
}

// A parameter that is misspelt or repeated is named and not left out in silence.
func TestUnknownParametersOfTransactions(t *testing.T) {
	a := newAPI(t)
	a.store(t, "t1", "it", "m", a.createBatch(t, batch.Processed), "text", now)
	for _, test := range []struct {
		path   string
		query  map[string][]string
		status int
		want   string
	}{
		{path + "it", map[string][]string{"aftr": {"m"}}, 422, `"loc":["query","aftr"]`},
		{path + "it", map[string][]string{"transaction_external_id": {"it"}}, 422, `"type":"extra_forbidden"`},
		{path + "it", map[string][]string{"after": {"a", "b"}}, 422, `"type":"repeated"`},
		{strings.TrimSuffix(path, "/"), map[string][]string{"transaction_external_id": {"it"}, "limit": {"1"}}, 422,
			`"loc":["query","limit"]`},
		{strings.TrimSuffix(path, "/"), map[string][]string{"transaction_external_id": {"it"}, "after": {""}}, 200,
			`"it"`},
	} {
		r := a.send(t, events.APIGatewayProxyRequest{HTTPMethod: "GET", Path: test.path,
			MultiValueQueryStringParameters: test.query})
		if r.StatusCode != test.status || !strings.Contains(r.Body, test.want) {
			t.Errorf("%s %v: got %d %s, want %d %s", test.path, test.query, r.StatusCode, r.Body, test.status,
				test.want)
		}
	}
}

// A reply lists a hundred errors at most, and says how many more there are.
func TestListOfErrorsIsBounded(t *testing.T) {
	a := newAPI(t)
	for n, want := range map[int]string{
		100: "", 101: "1 more error is not listed.", 3000: "2900 more errors are not listed.",
	} {
		query := map[string][]string{}
		for i := range n {
			query[fmt.Sprintf("p%04d", i)] = []string{"x"}
		}
		r := a.send(t, events.APIGatewayProxyRequest{HTTPMethod: "GET", Path: path + "it",
			MultiValueQueryStringParameters: query})
		var body struct {
			Detail []struct {
				Loc       []string
				Msg, Type string
			}
		}
		errtest.Fatal(t, json.Unmarshal([]byte(r.Body), &body))
		last := body.Detail[len(body.Detail)-1]
		if want == "" && (r.StatusCode != 422 || len(body.Detail) != 100 || last.Loc[1] != "p0099") {
			t.Errorf("%d errors: got %d with %d, want 422 with 100", n, r.StatusCode, len(body.Detail))
		}
		if want != "" && (r.StatusCode != 422 || len(body.Detail) != 101 || last.Msg != want ||
			last.Type != "errors_left_out") {
			t.Errorf("%d errors: got %d with %d, the last %+v; want 422 with 101, the last %q", n, r.StatusCode,
				len(body.Detail), last, want)
		}
	}
}

// A transaction that does not exist is not found on any page of it, nor is one without a visible version.
func TestAfterOnUnknownTransaction(t *testing.T) {
	a := newAPI(t)
	a.store(t, "t1", "failed", "m", a.createBatch(t, batch.Failed), "it", now)
	for _, id := range []string{"unknown", "failed"} {
		for _, after := range []string{"m", "l", "z", "~e30", strings.Repeat("x", 256)} {
			if r := a.get(t, id, after); r.StatusCode != 404 {
				t.Errorf("%s after %s: got %d %s, want 404", id, after, r.StatusCode, r.Body)
			}
		}
	}
}

// A line is read back byte for byte, with the white space between its tokens, and so is text that looks like markup.
func TestReadBackIsByteForByte(t *testing.T) {
	a := newAPI(t)
	processed := a.createBatch(t, batch.Processed)
	lines := []string{
		"{ \"a\" :\t1.50 , \"transaction\":null}", ` {"a":"<&>\u003c \"transaction\":null}"} `, "{\"a\": [ ] }\r",
		`{"a":1e2}`,
	}
	var versions []transaction.Version
	for i, text := range lines {
		versions = append(versions, transaction.Version{Tenant: "t1", TransactionID: "x", ReceivedAt: now,
			Batch:        processed,
			Modification: fmt.Sprintf(`%d"transaction":null}`, i), Line: 1, Text: []byte(text)})
	}
	errtest.Fatal(t, errtest.Of(a.transactions.Put(t.Context(), versions)))
	r := a.get(t, "x", "")
	decode(t, r)
	rest := r.Body
	for _, text := range lines {
		_, after, found := strings.Cut(rest, `"transaction":`+text+`}`)
		if !found {
			t.Fatalf("the reply %s does not have %q as it was sent", r.Body, text)
		}
		rest = after
	}
}

// A transaction of any size is read page by page, each within what Lambda may answer; nothing is lost or doubled.
func TestLargeTransaction(t *testing.T) {
	a := newAPI(t)
	processed := a.createBatch(t, batch.Processed)
	const modifications = 23
	for i := range modifications {
		note := strings.Repeat([]string{"x", `"`, "<"}[i%3], []int{200_000, 60_000, 200_000}[i%3])
		a.store(t, "t1", "x", fmt.Sprintf("m%02d &?", i), processed, note, now)
	}
	var seen []string
	pages := 0
	for after := ""; ; {
		r := a.get(t, "x", after)
		pages++
		if payload, err := json.Marshal(r); err != nil || r.StatusCode != 200 || len(payload) > 6<<20 {
			t.Fatalf("page %d: got %d, %v, %d bytes, want 200 of at most 6 MiB", pages, r.StatusCode, err, len(payload))
		}
		var reply transactionhttp.TransactionReply
		errtest.Fatal(t, json.Unmarshal([]byte(r.Body), &reply))
		for _, m := range reply.Modifications {
			seen = append(seen, m.ModificationExternalID)
		}
		if after = reply.NextAfter; after == "" {
			break
		}
	}
	if len(seen) != modifications || !slices.IsSorted(seen) || len(slices.Compact(seen)) != modifications || pages < 3 {
		t.Errorf("got %v in %d pages, want %d modifications in order and at least 3 pages", seen, pages, modifications)
	}
	const empty = `{"transaction_external_id":"x","modifications":[]}`
	if r := a.get(t, "x", "zzzzzz"); r.Body != empty {
		t.Errorf("after the last one: got %d %s, want %s", r.StatusCode, r.Body, empty)
	}
}

// Expired versions are gone, although they are stored for some days more: the newest version of a modification that has
// not expired is shown, and a transaction whose versions have all expired is not found.
func TestExpiredTransactionsAreGone(t *testing.T) {
	a := newAPI(t)
	processed := a.createBatch(t, batch.Processed)
	store := func(id, modification, batchID string, age time.Duration, expires time.Time) {
		t.Helper()
		v := transaction.Version{
			Tenant: "t1", TransactionID: id, Modification: modification, ReceivedAt: now.Add(-age), Batch: batchID,
			Expires: expires, Text: []byte(line(id, modification, modification+" "+age.String())),
		}
		put := func() error { return errtest.Of(a.transactions.Put(t.Context(), []transaction.Version{v})) }
		if v.IsSingle() {
			put = func() error { return a.transactions.Add(t.Context(), v) }
		}
		errtest.Fatal(t, put())
	}
	never := time.Time{}
	store("x", "m1", processed, time.Hour, now)                    // expires now
	store("x", "m1", processed, 2*time.Hour, now.Add(time.Second)) // is shown for a second more
	store("x", "m1", processed, 3*time.Hour, never)
	store("x", "m2", "", time.Hour, now.Add(-time.Second))
	store("x", "m3", "", time.Hour, now.Add(time.Second))
	difftest.Equal(t, "modifications", []string{"m1 2h0m0s", "m3 1h0m0s"}, a.descriptions(t, "x"))
	for i := range 50 { // more than are read at once
		store("gone", fmt.Sprint("m", i), processed, time.Hour, now.Add(-time.Duration(i)*time.Hour))
		store("gone", "m", "", time.Duration(i)*time.Second, now)
	}
	if got := a.descriptions(t, "gone"); got != nil {
		t.Errorf("a transaction that has expired: %q, want that it is not found", got)
	}
	store("gone", "n", processed, time.Hour, never)
	difftest.Equal(t, "a modification that has not expired, after those that have", []string{"n 1h0m0s"},
		a.descriptions(t, "gone"))
}
