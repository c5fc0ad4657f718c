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

	"sluice/openapi/wire"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/observation"
	"sluice/shared/kit/errtest"
)

// makesIDs has each batch get an ID of the time of the endpoints, each later than the one before.
func (a *api) makesIDs() {
	made := 0
	a.newID = func() (batch.ID, error) {
		made++
		return idAt(a.now.Add(time.Duration(made) * time.Millisecond)), nil
	}
}

const failedPath = "/transactions/failed-modifications"

// failedModifications reads all pages of a day. No page but the last may lack the token of the next one.
func (a *api) failedModifications(t *testing.T, query string) (ids []string, pages int) {
	t.Helper()
	for next := ""; ; {
		r := a.observeAt(t, failedPath, query+next)
		var out wire.FailedModifications
		if err := json.Unmarshal([]byte(r.Body), &out); err != nil || r.StatusCode != 200 {
			t.Fatalf("%s: got %d %s", query, r.StatusCode, r.Body)
		}
		if out.Metadata.Count != int64(len(out.Data)) {
			t.Errorf("count is %d of %d IDs", out.Metadata.Count, len(out.Data))
		}
		ids = append(ids, out.Data...)
		pages++
		if out.Metadata.Next == nil {
			return ids, pages
		}
		next = "&next=" + url.QueryEscape(*out.Metadata.Next)
	}
}

// reportOf is a report with an entry for each modification ID, which are short from the third on. "" is a line that has
// none that can be read.
func reportOf(ids ...string) string {
	var b strings.Builder
	for i, id := range ids {
		switch text, _ := json.Marshal(id); {
		case id == "" && i < 2:
			fmt.Fprintf(&b, `{"line":%d,"modification_external_id":null,"errors":[]}`+"\n", i+1)
		case id == "":
			fmt.Fprintf(&b, `{"line":%d,"codes":["json_invalid"]}`+"\n", i+1)
		case i < 2:
			fmt.Fprintf(&b, `{"line":%d,"modification_external_id":%s,"errors":[]}`+"\n", i+1, text)
		default:
			fmt.Fprintf(&b, `{"line":%d,"modification_external_id":%s,"codes":["enum"]}`+"\n", i+1, text)
		}
	}
	return b.String()
}

// The rejected lines of the batches of a day are listed, the newest batch first, in pages of any size.
func TestFailedModifications(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.makesIDs()
	plan := chunk.NewPlan(100, 60)
	add := func(key string, to batch.Status, before ...batch.Transition) string {
		id := a.createBatch(t)
		v := batch.Verdict{Total: 8, Accepted: 5, Invalid: 3, ReportKey: "reports/" + key, SummaryKey: "reports/s"}
		a.apply(t, id, append(before, batch.Transition{To: batch.Uploaded, ReceivedAt: now,
			Object: &batch.Object{Key: "k", Size: 100}}, batch.Transition{To: batch.ValidationStarted, Plan: &plan,
			MaxLineBytes: 10}, batch.Transition{To: to, Verdict: &v, ErrorMessage: "x"})...)
		return id
	}
	a.storage["/work/reports/first"] = reportOf("a", "", "b\"", "", "a")
	a.storage["/work/reports/second"] = reportOf(strings.Repeat("é", 127), strings.Repeat("é", 128), "c")
	add("first", batch.ValidationFailed)
	add("deleted", batch.ValidationFailed)
	a.createBatch(t) // without results so far
	add("second", batch.PendingIngestion)
	cancelled := add("second", batch.PendingIngestion)
	a.apply(t, cancelled, batch.Transition{To: batch.Failed, ErrorMessage: batch.Cancelled})
	a.now = now.AddDate(0, 0, -1)
	a.storage["/work/reports/yesterday"] = reportOf("y")
	add("yesterday", batch.ValidationFailed)
	a.now = now
	want := []string{strings.Repeat("é", 127), strings.Repeat("é", 127) + "…", "c", "a", "b\"", "a"}
	for limit, wantPages := range map[int]int{1: 6, 2: 3, 3: 2, 4: 2, 5: 2, 6: 1, 1000: 1} {
		ids, pages := a.failedModifications(t, fmt.Sprintf("date=2026-11-26&limit=%d", limit))
		// A page that is full at the end of a report does not know whether there is another one.
		if diff := cmp.Diff(want, ids); diff != "" || pages < wantPages || pages > wantPages+1 {
			t.Errorf("by %d: %d pages, want %d (-want +got)\n%s", limit, pages, wantPages, diff)
		}
	}
	for date, want := range map[string][]string{"2026-11-25": {"y"}, "2026-11-27": nil, "2026-10-27": nil} {
		if ids, _ := a.failedModifications(t, "date="+date); !slices.Equal(ids, want) {
			t.Errorf("%s: got %q, want %q", date, ids, want)
		}
	}
	a.caller.Tenant = "t2"
	if ids, _ := a.failedModifications(t, "date=2026-11-26"); len(ids) != 0 {
		t.Errorf("another tenant gets %q", ids)
	}
}

// recordSingle records a single transaction of the caller's tenant.
func (a *api) recordSingle(t *testing.T, modification string, at time.Time, status int, reason string) {
	t.Helper()
	errtest.Fatal(t, a.singles.Record(t.Context(), observation.Event{Tenant: a.caller.Tenant, At: at,
		TransactionID: "x", ModificationID: modification, Status: status, Reason: reason}))
}

// Single transactions that were refused follow the lines, in the order of their receipt, in pages of any size.
func TestFailedModificationsHaveSingles(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.makesIDs()
	a.storage["/work/reports/r"] = reportOf("line 1", "line 2")
	a.judgedBatch(t, batch.Verdict{Total: 2, Invalid: 2, ReportKey: "reports/r", SummaryKey: "reports/s"})
	for i, id := range []string{"a", "b", "a", ""} {
		a.recordSingle(t, id, now.Add(time.Duration(i)), 400, "1 validation error")
	}
	a.recordSingle(t, "stored", now, 201, "")
	a.recordSingle(t, "yesterday", now.AddDate(0, 0, -1), 409, "conflict")
	want := []string{"line 1", "line 2", "a", "b", "a"}
	for limit := 1; limit <= 6; limit++ {
		ids, pages := a.failedModifications(t, fmt.Sprintf("date=2026-11-26&limit=%d", limit))
		if diff := cmp.Diff(want, ids); diff != "" || pages > 5/limit+1 {
			t.Errorf("by %d: %d pages (-want +got)\n%s", limit, pages, diff)
		}
	}
	if ids, _ := a.failedModifications(t, "date=2026-11-25"); !slices.Equal(ids, []string{"yesterday"}) {
		t.Errorf("the day before has %q, want yesterday", ids)
	}
	a.caller.Tenant = "t2"
	if ids, _ := a.failedModifications(t, "date=2026-11-26"); len(ids) != 0 {
		t.Errorf("another tenant gets %q", ids)
	}
}

// A page ends where it has read enough of the reports, also if it has no IDs.
func TestFailedModificationsAreBounded(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.makesIDs()
	long := fmt.Sprintf(`{"line":1,"modification_external_id":null,"errors":[%q]}`+"\n", strings.Repeat("x", 1<<20))
	a.storage["/work/reports/long"] = strings.Repeat(long, 9) + reportOf("a")
	verdict := batch.Verdict{Total: 8, Invalid: 8, ReportKey: "reports/long", SummaryKey: "reports/s"}
	a.judgedBatch(t, verdict)
	if ids, pages := a.failedModifications(t, "date=2026-11-26"); !slices.Equal(ids, []string{"a"}) || pages != 2 {
		t.Errorf("got %q in %d pages, want a in 2", ids, pages)
	}
	a.storage["/work/reports/few"] = reportOf("b")
	verdict.ReportKey = "reports/few"
	a.now = now.Add(-10 * time.Hour)
	a.caller.Tenant = "t2"
	for range 51 {
		id := errtest.Must(a.newID())(t)
		errtest.Fatal(t, a.batches.Create(t.Context(), batch.Batch{ID: id, Tenant: "t2", CreatedAt: a.now,
			UpdatedAt: a.now, Status: batch.ValidationFailed, Settings: settings, Verdict: &verdict}))
	}
	a.now = now
	if ids, pages := a.failedModifications(t, "date=2026-11-25"); len(ids) != 51 || pages != 2 {
		t.Errorf("got %d IDs of 51 reports in %d pages, want 51 in 2", len(ids), pages)
	}
	a.storage["/work/reports/few"] = "broken"
	if r := a.observeAt(t, failedPath, "date=2026-11-25"); r.StatusCode != 500 {
		t.Errorf("storage that fails: got %d %s, want 500", r.StatusCode, r.Body)
	}
}

func TestFailedModificationsRefusals(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	const day = "date=2026-11-26"
	for query, want := range map[string]string{
		"":                         "date",
		"date=":                    "date",
		"date=2026-11-31":          "date",
		"date=2026-10-26":          "date_range",
		day + "&" + day:            "repeated",
		day + "&ids=x":             "extra_forbidden",
		day + "&limit=0":           "number_range",
		day + "&limit=1001":        "number_range",
		day + "&next=":             "page_token",
		day + "&next=x":            "page_token",
		"date=2026-11-26T00:00:00": "date",
	} {
		if r := a.observeAt(t, failedPath, query); r.StatusCode != 422 || !strings.Contains(r.Body, `"`+want+`"`) {
			t.Errorf("%s: got %d %s, want 422 with %s", query, r.StatusCode, r.Body, want)
		}
	}
	a.caller.Permissions = nil
	if r := a.observeAt(t, failedPath, day); r.StatusCode != 403 {
		t.Errorf("without the permission: got %d %s", r.StatusCode, r.Body)
	}
}
