package client_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/client"
	"sluice/openapi/wire"
)

const observability = "GET /tm/observability/api/v1/"

var (
	firstDay = time.Date(2026, 11, 25, 23, 30, 0, 0, time.FixedZone("", -3600)) // the 26th in UTC
	lastDay  = time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
)

// The counts of a day that is on several pages are added.
func TestTransactionSummary(t *testing.T) {
	const query = observability + "transactions/summary?end_date=2026-11-27"
	c, _ := answering(t,
		answer{query + "&start_date=2026-11-26", 200, `{"metadata": {"count": 1, "next": "+x"}, "data": {
			"2026-11-26": {"succeeded_request_count": 1, "failed_request_count": 2, "links": {"batches": "/b"}}}}`},
		answer{query + "&next=%2Bx&start_date=2026-11-26", 200, `{"metadata": {"count": 2, "next": null}, "data": {
			"2026-11-26": {"succeeded_request_count": 10, "failed_request_count": 20, "links": {"batches": "/b"}},
			"2026-11-27": {"succeeded_request_count": 5, "failed_request_count": 0, "links": {}}}}`},
	)
	got, err := c.TransactionSummary(t.Context(), firstDay, lastDay)
	want := map[string]client.DaySummary{
		"2026-11-26": {SucceededRequestCount: 11, FailedRequestCount: 22, Links: wire.DayLinks{Batches: "/b"}},
		"2026-11-27": {SucceededRequestCount: 5},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

// Pages of modifications and events are returned with what next is for the page that follows.
func TestObservedTransactions(t *testing.T) {
	c, _ := answering(t,
		answer{observability + "transactions/failed-modifications?date=2026-11-26&next=y", 200,
			`{"metadata": {"count": 1, "next": "z"}, "data": ["m"]}`},
		answer{observability + "transactions/events?modification_external_ids=a%2Cb&modification_external_ids=c", 200,
			`{"metadata": {"count": 1, "next": null}, "data": [{"status": "failed", "modification_external_id": "c",
				"transaction_external_id": "x", "status_code": 400, "status_message": "why",
				"created_at": "2026-11-27T00:00:00Z"}]}`},
	)
	ids, next, err := c.FailedModifications(t.Context(), firstDay, "y")
	if err != nil || next != "z" || !cmp.Equal(ids, []string{"m"}) {
		t.Errorf("got %q, %q, %v; want m, z", ids, next, err)
	}
	events, next, err := c.TransactionEvents(t.Context(), []string{"a,b", "c"}, "")
	want := []client.TransactionEvent{{Status: "failed", ModificationExternalID: "c", TransactionExternalID: "x",
		StatusCode: 400, StatusMessage: "why", CreatedAt: lastDay}}
	if diff := cmp.Diff(want, events); err != nil || next != "" || diff != "" {
		t.Errorf("next %q, error %v (-want +got):\n%s", next, err, diff)
	}
}

func TestObservedBatches(t *testing.T) {
	const one = `{"batch_id": "b", "status": "processed", "counts": {"total": 1, "accepted": 1, "invalid": 0},
		"ingest_start": "2026-11-27T00:00:00Z", "ingest_end": null, "duration_seconds": null, "reject_on_invalid": true,
		"error_message": null, "exports": null}`
	c, _ := answering(t,
		answer{observability + "batch-transactions/batches?ids=a%2Cb", 200, "[" + one + "]"},
		answer{observability + "batch-transactions/batches?end_date=2026-11-27&limit=1&next=n&start_date=2026-11-26",
			200,
			`[{"date": "2026-11-27", "count": 1, "batches": [` + one + `]}]`},
	)
	want := client.ObservedBatch{BatchID: "b", Status: client.ObservedProcessed, IngestStart: &lastDay,
		RejectOnInvalid: true, Counts: &client.ObservedCounts{Total: 1, Accepted: new(int64(1)), Invalid: new(int64)}}
	batches, err := c.ObservedBatches(t.Context(), "a", "b")
	if diff := cmp.Diff([]client.ObservedBatch{want}, batches); err != nil || diff != "" {
		t.Errorf("by IDs: error %v (-want +got):\n%s", err, diff)
	}
	days, next, err := c.BatchesByDay(t.Context(), firstDay, lastDay, 1, "n")
	wantDays := []client.BatchDay{{Date: "2026-11-27", Count: 1, Batches: []client.ObservedBatch{want}}}
	if diff := cmp.Diff(wantDays, days); err != nil || diff != "" || next != "" {
		t.Errorf("by days: next %q, error %v (-want +got):\n%s", next, err, diff)
	}
}
