package batchhttp_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"sluice/openapi/wire"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchhttp"
	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// observe asks for batches by the text of a query.
func (a *api) observe(t *testing.T, query string) events.APIGatewayProxyResponse {
	t.Helper()
	return a.observeAt(t, "/batch-transactions/batches", query)
}

// observeAt asks under a path of the observability interface.
func (a *api) observeAt(t *testing.T, path, query string) events.APIGatewayProxyResponse {
	t.Helper()
	return a.getQuery(t, "/tm/observability/api/v1"+path, query)
}

// observed decodes the answer to a query.
func observed[T any](t *testing.T, a *api, query string) (out []T, next string) {
	t.Helper()
	r := a.observe(t, query)
	if r.StatusCode != 200 {
		t.Fatalf("%s: got %d %s", query, r.StatusCode, r.Body)
	}
	errtest.Fatal(t, json.Unmarshal([]byte(r.Body), &out))
	if token := r.MultiValueHeaders["X-Next"]; len(token) == 1 {
		next = token[0]
	}
	return out, next
}

// idAt returns an ID that was made at a time.
func idAt(at time.Time) batch.ID {
	ms := at.UnixMilli()
	return batch.ID(fmt.Sprintf("%08x-%04x-7000-8000-000000000000", ms>>16, ms&0xffff))
}

// The state of a batch, its counts and its times agree with its history.
func TestObservedBatch(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.createBatch(t)
	detail := func() wire.BatchDetail {
		t.Helper()
		found, _ := observed[wire.BatchDetail](t, a, "ids="+id)
		if len(found) != 1 {
			t.Fatalf("got %+v, want one batch", found)
		}
		return found[0]
	}
	want := wire.BatchDetail{BatchID: id, Status: batchhttp.ObservedUploaded, RejectOnInvalid: true}
	expect := func() {
		t.Helper()
		difftest.Equal(t, "the result", want, detail())
	}
	expect()
	plan := chunk.NewPlan(100, 60)
	a.apply(t, id,
		batch.Transition{To: batch.Uploaded, ReceivedAt: now, Object: &batch.Object{Key: "k", ETag: `"e"`, Size: 100}},
		batch.Transition{To: batch.ValidationStarted, Plan: &plan, MaxLineBytes: 4096})
	expect()
	a.apply(t, id, batch.Transition{To: batch.PendingIngestion,
		Verdict: &batch.Verdict{Total: 3, Accepted: 2, Invalid: 1, ReportKey: "reports/r", SummaryKey: "reports/s"}})
	want.Status, want.Counts = batchhttp.ObservedPendingIngestion, &wire.ObservedCounts{Total: 3,
		Accepted: new(int64(2)), Invalid: new(int64(1))}
	want.Exports = &wire.BatchExports{ErrorsFile: "/tm/realtime/api/transactions/batch/validation-result/" + id}
	expect()
	a.apply(t, id, batch.Transition{To: batch.Initialized}, batch.Transition{To: batch.InProgress})
	begin := now
	want.Status, want.IngestStart = batchhttp.ObservedIngestionInProgress, &begin
	expect()
	errtest.Fatal(t, errtest.Of(a.batches.Apply(t.Context(), batch.ID(id), batch.Transition{To: batch.Processed,
		At: now.Add(90500 * time.Millisecond)})))
	end, seconds := now.Add(90500*time.Millisecond), int64(90)
	want.Status, want.IngestEnd, want.DurationSeconds = batchhttp.ObservedProcessedWithFailures, &end, &seconds
	expect()

	failed := a.createBatch(t)
	a.apply(t, failed, batch.Transition{To: batch.Failed, ErrorMessage: "e"})
	message := "e"
	found, _ := observed[wire.BatchDetail](t, a, "ids="+failed+","+id)
	wantBoth := []wire.BatchDetail{{BatchID: failed, Status: batchhttp.ObservedFailed,
		RejectOnInvalid: true, ErrorMessage: &message}, want}
	difftest.Equal(t, "two batches", wantBoth, found)
	a.caller.Tenant = "t2"
	if found, _ := observed[wire.BatchDetail](t, a, "ids="+id); len(found) != 0 {
		t.Errorf("another tenant gets %+v", found)
	}
}

// A range of days has the batches from the beginning of the first to the end of the last, a page after the other.
func TestObservedDays(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	const day = 24 * time.Hour
	midnight := now.Truncate(day)
	var want []string // the newest first
	for _, at := range []time.Time{midnight.Add(-time.Microsecond), midnight, midnight.Add(day - time.Microsecond),
		midnight.Add(day)} {
		a.now = at
		a.newID = func() (batch.ID, error) { return idAt(at), nil }
		id := a.createBatch(t)
		want = slices.Insert(want, 0, at.Format(time.DateOnly)+" "+id)
	}
	read := func(query string) (got []string, pages int) {
		t.Helper()
		for next := ""; ; pages++ {
			groups, token := observed[wire.BatchDay](t, a, query+next)
			for _, g := range groups {
				if g.Count != int64(len(g.Batches)) || g.Count == 0 {
					t.Errorf("a group says that it has %d batches: it has %d", g.Count, len(g.Batches))
				}
				for _, b := range g.Batches {
					got = append(got, g.Date+" "+string(b.BatchID))
				}
			}
			if token == "" {
				return got, pages + 1
			}
			next = "&next=" + url.QueryEscape(token)
		}
	}
	for query, wanted := range map[string][]string{
		"start_date=2026-11-26&end_date=2026-11-26": want[1:3],
		"start_date=2026-11-25&end_date=2026-11-27": want,
		"start_date=2026-11-25&end_date=2026-12-25": want,
		"start_date=2026-11-27&end_date=2026-11-27": want[:1],
		"start_date=2026-11-28&end_date=2026-11-28": nil,
	} {
		for limit, pages := range map[int]int{1: max(len(wanted), 1), 1000: 1} {
			got, n := read(fmt.Sprintf("%s&limit=%d", query, limit))
			// Batches that were created shortly before or after the days can make pages that are empty.
			if diff := cmp.Diff(wanted, got); diff != "" || n < pages || n > pages+2 {
				t.Errorf("%s by %d: %d pages, want %d (-want +got)\n%s", query, limit, n, pages, diff)
			}
		}
	}
}

func TestObservedRefusals(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.createBatch(t)
	const days = "start_date=2026-11-01&end_date=2026-11-26"
	for query, want := range map[string]string{
		"":                       "400 Give either ids",
		"start_date=2026-11-01":  "400 Give either ids",
		"end_date=2026-11-01":    "400 Give either ids",
		"limit=1":                "400 Give either ids",
		"ids=" + id + "&" + days: "400 Give either ids",
		"ids=" + id + "&limit=1": "400 Give either ids",
		"ids=":                   "422 uuid",
		"ids=" + id + ",":        "422 uuid",
		"ids=" + strings.Repeat(id+",", 100) + id:   "422 too_long",
		"ids=" + id + "&ids=" + id:                  "422 repeated",
		"ids=" + id + "&status=ERROR":               "422 extra_forbidden",
		"start_date=2026-11-31&end_date=2026-12-01": "422 date",
		"start_date=2026-11-01&end_date=tomorrow":   "422 date",
		"start_date=2026-11-02&end_date=2026-11-01": "422 date_range",
		"start_date=2026-10-01&end_date=2026-11-01": "422 date_range",
		days + "&limit=0":                           "422 number_range",
		days + "&limit=1001":                        "422 number_range",
		days + "&next=":                             "422 page_token",
		days + "&next=x":                            "422 page_token",
	} {
		r := a.observe(t, query)
		status, text, _ := strings.Cut(want, " ")
		if fmt.Sprint(r.StatusCode) != status || !strings.Contains(r.Body, text) {
			t.Errorf("%s: got %d %s, want %s", query, r.StatusCode, r.Body, want)
		}
	}
	if r := a.observe(t, "ids="+strings.TrimSuffix(strings.Repeat(id+",", 100), ",")); r.StatusCode != 200 {
		t.Errorf("100 IDs: got %d %s", r.StatusCode, r.Body)
	}
}
