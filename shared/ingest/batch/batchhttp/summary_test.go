package batchhttp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/openapi/wire"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/batch/batchhttp"
	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/observation/observationdb"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

const summaryPath = "/transactions/summary"

// The summary counts the stored transactions, and the failed ones of batches that have ended, by the day of the batch,
// and single transactions by the day of their receipt.
func TestSummaryOfDays(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.makesIDs()
	mixed := &batch.Verdict{Total: 9, Accepted: 7, Invalid: 2, ReportKey: "reports/r", SummaryKey: "reports/s"}
	for _, b := range []batch.Batch{
		{Status: batch.Processed, Verdict: mixed},
		{Status: batch.Processed, Verdict: mixed, ValidateOnly: true},
		{Status: batch.ValidationFailed, Verdict: mixed},
		{Status: batch.Failed, Verdict: mixed, ErrorMessage: batch.Cancelled},
		{Status: batch.Failed, ErrorMessage: "e"},
		{Status: batch.InProgress, Verdict: mixed},
		{Status: batch.Failed, Verdict: mixed, ErrorMessage: "e", CreatedAt: now.AddDate(0, 0, -30)},
		{Status: batch.ValidationFailed, Verdict: mixed, Tenant: "t2"},
	} {
		if b.Tenant == "" {
			b.Tenant = "t1"
		}
		a.now = now
		if !b.CreatedAt.IsZero() {
			a.now = b.CreatedAt
		}
		b.CreatedAt, b.UpdatedAt, b.Settings = a.now, a.now, settings
		b.ID = errtest.Must(a.newID())(t)
		errtest.Fatal(t, a.batches.Create(t.Context(), b))
	}
	a.recordSingle(t, "m", now, 201, "")
	a.recordSingle(t, "m", now.Add(time.Second), 400, "1 validation error")
	a.recordSingle(t, "m", now.AddDate(0, 0, -31), 201, "")
	day := func(date string, succeeded, failed int64) wire.DaySummary {
		return wire.DaySummary{SucceededRequestCount: succeeded, FailedRequestCount: failed, Links: wire.DayLinks{
			Batches: "/tm/observability/api/v1/batch-transactions/batches?start_date=" + date +
				"&end_date=" + date,
			FailedModifications: "/tm/observability/api/v1/transactions/failed-modifications?date=" + date,
		}}
	}
	for query, want := range map[string]map[string]wire.DaySummary{
		"start_date=2026-10-27&end_date=2026-11-26": {
			"2026-11-26": day("2026-11-26", 8, 12), "2026-10-27": day("2026-10-27", 0, 9)},
		"start_date=2026-10-28&end_date=2026-11-25": {},
	} {
		r := a.observeAt(t, summaryPath, query)
		var got wire.TransactionSummary
		if err := json.Unmarshal([]byte(r.Body), &got); err != nil || r.StatusCode != 200 {
			t.Fatalf("got %d %s", r.StatusCode, r.Body)
		}
		wanted := wire.TransactionSummary{Metadata: wire.PageMetadata{Count: int64(len(want))}, Data: want}
		difftest.Equal(t, query, wanted, got)
	}
}

// manyBatches is a store with batches of one transaction each, as many as rows.
type manyBatches struct {
	*batchdb.Store
	rows int
}

// List returns the batches that follow one. The ID of a batch is its number.
func (m manyBatches) List(_ context.Context, _ string, _ batch.Filter, after batch.ID, limit int) ([]batch.Batch,
	batch.ID, error) {
	first, _ := strconv.Atoi(string(after))
	found := make([]batch.Batch, min(limit, m.rows-first))
	for i := range found {
		found[i] = batch.Batch{CreatedAt: now, Status: batch.Processed, Verdict: &batch.Verdict{Total: 1, Accepted: 1}}
	}
	if end := first + len(found); end < m.rows {
		return found, batch.ID(strconv.Itoa(end)), nil
	}
	return found, "", nil
}

// noSingles is a source without single transactions.
type noSingles struct{ *observationdb.Store }

func (noSingles) Count(context.Context, string, string, string) (map[string]observation.Counts, error) {
	return nil, nil
}

// A summary of more batches than one request reads has pages, whose counts are to be added.
func TestSummaryHasPages(t *testing.T) {
	t.Parallel()
	for rows, want := range map[int][]int64{4999: {4999}, 5000: {5000}, 5001: {5000, 1}} {
		a := newAPI(t)
		a.Routes = (&batchhttp.Batches{Store: manyBatches{a.batches, rows}, Singles: noSingles{},
			Paging: paging(t)}).Routes()
		var counts []int64
		for next := ""; ; {
			r := a.observeAt(t, summaryPath, "start_date=2026-11-26&end_date=2026-11-26"+next)
			var got wire.TransactionSummary
			if err := json.Unmarshal([]byte(r.Body), &got); err != nil || r.StatusCode != 200 {
				t.Fatalf("got %d %s", r.StatusCode, r.Body)
			}
			counts = append(counts, got.Data["2026-11-26"].SucceededRequestCount)
			if got.Metadata.Next == nil {
				break
			}
			next = "&next=" + *got.Metadata.Next
		}
		difftest.Equal(t, fmt.Sprintf("counts of the pages of %d batches", rows), want, counts)
	}
}

func TestSummaryRefusals(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	const days = "start_date=2026-11-01&end_date=2026-11-26"
	for query, want := range map[string]string{
		"":                      "date",
		"start_date=2026-11-01": "date",
		"end_date=2026-11-01":   "date",
		"start_date=2026-11-02&end_date=2026-11-01": "date_range",
		"start_date=2026-10-26&end_date=2026-11-26": "date_range",
		days + "&limit=1": "extra_forbidden",
		days + "&next=x":  "page_token",
	} {
		if r := a.observeAt(t, summaryPath, query); r.StatusCode != 422 || !strings.Contains(r.Body, `"`+want+`"`) {
			t.Errorf("%s: got %d %s, want 422 with %s", query, r.StatusCode, r.Body, want)
		}
	}
}
