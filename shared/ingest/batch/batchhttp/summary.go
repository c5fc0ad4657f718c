package batchhttp

import (
	"context"
	"net/http"
	"time"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/batch"
)

// The work for one page of the summary: how many times batches are listed, and how many at a time.
const (
	summaryLists    = 5
	summaryListSize = 1000
)

// Summary returns how many transactions of the caller's tenant succeeded and failed: single ones that were received on
// a range of days, which the first page has, and those of the batches that were created on it.
func (s *Batches) Summary(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	values := r.URL.Query()
	first, last, err := readDays(values)
	if err != nil {
		return httpapi.Reply{}, err
	}
	query := "summary " + values.Get("start_date") + " " + values.Get("end_date")
	position, err := s.Paging.OpenQuery(caller.Tenant, query, values)
	if err != nil {
		return httpapi.Reply{}, err
	}
	days := map[string]wire.DaySummary{}
	after := batch.ID(position)
	if position == "" {
		counts, err := s.Singles.Count(ctx, caller.Tenant, values.Get("start_date"), values.Get("end_date"))
		if err != nil {
			return httpapi.Reply{}, err
		}
		for date, n := range counts {
			addToDay(days, date, n.Stored, n.Refused)
		}
	}
	for range summaryLists {
		var found []batch.Batch
		found, after, err = s.Store.List(ctx, caller.Tenant, onDays(first, last), after, summaryListSize)
		if err != nil {
			return httpapi.Reply{}, err
		}
		for _, b := range found {
			if succeeded, failed := outcomeOf(b); succeeded+failed > 0 {
				addToDay(days, b.CreatedAt.UTC().Format(time.DateOnly), succeeded, failed)
			}
		}
		if after == "" {
			break
		}
	}
	metadata := newListMetadata(len(days), s.Paging.Seal(caller.Tenant, query, string(after)))
	return httpapi.Reply{Body: wire.TransactionSummary{Metadata: metadata, Data: days}}, nil
}

// outcomeOf returns how many transactions of a batch are stored and how many failed: those that were invalid, and all
// of a batch that has ended otherwise. Nothing of a batch is stored for clients before all of it is. Of a batch that
// was only to be validated and of one that its client cancelled none failed, and of one that failed before its verdict
// it is not known how many it has.
func outcomeOf(b batch.Batch) (succeeded, failed int64) {
	if b.Verdict == nil || b.ValidateOnly || b.IsCancelled() {
		return 0, 0
	}
	switch b.Status {
	case batch.Processed:
		return b.Verdict.Accepted, b.Verdict.Invalid
	case batch.ValidationFailed, batch.Failed:
		return 0, b.Verdict.Total
	}
	return 0, 0
}

// addToDay adds counts to the counts of a day.
func addToDay(days map[string]wire.DaySummary, date string, succeeded, failed int64) {
	const base = "/tm/observability/api/v1"
	day := days[date]
	day.Links = wire.DayLinks{
		Batches:             base + "/batch-transactions/batches?start_date=" + date + "&end_date=" + date,
		FailedModifications: base + "/transactions/failed-modifications?date=" + date,
	}
	day.SucceededRequestCount += succeeded
	day.FailedRequestCount += failed
	days[date] = day
}
