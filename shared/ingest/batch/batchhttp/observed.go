package batchhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/fault"
)

// Limits of the observed batches.
const (
	maxObservedLimit = 1000
	maxObservedIDs   = 100
	maxObservedDays  = 31
)

// nextHeader has the token of the next page of a list whose body is an array.
const nextHeader = "X-Next"

// The states of a batch as the observability interface names them.
const (
	ObservedUploaded              = "uploaded"
	ObservedValidationFailed      = "validation_failed"
	ObservedPendingIngestion      = "pending_ingestion"
	ObservedIngestionInProgress   = "ingestion_in_progress"
	ObservedProcessed             = "processed"
	ObservedProcessedWithFailures = "processed_with_failures"
	ObservedFailed                = "failed"
)

// observedStatusOf returns the observed status of a batch. Transactions fail in a batch that drops them.
func observedStatusOf(b batch.Batch) string {
	switch b.Status {
	case batch.ValidationFailed:
		return ObservedValidationFailed
	case batch.PendingIngestion:
		return ObservedPendingIngestion
	case batch.Initialized, batch.InProgress:
		return ObservedIngestionInProgress
	case batch.Processed:
		if b.Verdict != nil && b.Verdict.Invalid > 0 {
			return ObservedProcessedWithFailures
		}
		return ObservedProcessed
	case batch.Failed:
		return ObservedFailed
	}
	return ObservedUploaded
}

// newBatchDetail returns the detail that the row of a batch has.
func newBatchDetail(b batch.Batch) wire.BatchDetail {
	out := wire.BatchDetail{BatchID: string(b.ID), Status: observedStatusOf(b), RejectOnInvalid: b.RejectOnInvalid}
	for _, entry := range b.History {
		switch entry.Status {
		case batch.Initialized:
			out.IngestStart = &entry.At
		case batch.Processed:
			out.IngestEnd = &entry.At
		}
	}
	if out.IngestStart == nil {
		out.IngestEnd = nil // a batch that was only validated
	} else if out.IngestEnd != nil {
		seconds := int64(out.IngestEnd.Sub(*out.IngestStart) / time.Second)
		out.DurationSeconds = &seconds
	}
	if v := b.Verdict; v != nil {
		out.Counts = &wire.ObservedCounts{Total: v.Total}
		_, out.Counts.Accepted, out.Counts.Invalid = v.Counts()
		if v.ReportKey != "" && v.Invalid > 0 {
			out.Exports = &wire.BatchExports{
				ErrorsFile: "/tm/realtime/api/transactions/batch/validation-result/" + string(b.ID),
			}
		}
	}
	if b.ErrorMessage != "" {
		out.ErrorMessage = &b.ErrorMessage
	}
	return out
}

// observedRoutes returns the routes by which clients inspect the batches that they have sent.
func (s *Batches) observedRoutes() []httpapi.Route {
	const base = "/tm/observability/api/v1"
	route := func(path, permission string, endpoint httpapi.Endpoint, query ...string) httpapi.Route {
		return httpapi.Route{Method: http.MethodGet, Path: base + path, Limit: ratelimit.Observability,
			Permissions: []string{permission}, Query: query, Endpoint: endpoint}
	}
	return []httpapi.Route{
		route("/batch-transactions/batches", permission.BatchRead, s.Observe,
			"ids", "start_date", "end_date", "limit", "next"),
		route("/transactions/summary", permission.TransactionRead, s.Summary, "start_date", "end_date", "next"),
		route("/transactions/failed-modifications", permission.TransactionRead, s.FailedModifications,
			"date", "limit", "next"),
		route("/transactions/events", permission.TransactionRead, s.Events,
			"modification_external_ids...", "limit", "next"),
	}
}

var errObservedMix = fault.New(fault.BadRequest, "query_mix",
	"Give either ids, or start_date and end_date; limit and next belong to the dates.")

// Observe returns the batches of the caller's tenant that the query names by their IDs, or those that were created in a
// range of days. IDs of other tenants' batches, and unknown ones, are left out.
func (s *Batches) Observe(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	values := r.URL.Query()
	switch isRange := values.Has("start_date") && values.Has("end_date"); {
	case values.Has("ids") && len(values) == 1:
		return s.observeIDs(ctx, caller, values)
	case isRange && !values.Has("ids"):
		return s.observeDays(ctx, caller, values)
	}
	return httpapi.Reply{}, errObservedMix
}

// observeIDs answers with an array of batches in the order of their IDs in the query.
func (s *Batches) observeIDs(ctx context.Context, caller httpapi.Caller, values url.Values) (httpapi.Reply, error) {
	texts := strings.Split(values.Get("ids"), ",")
	if len(texts) > maxObservedIDs {
		return httpapi.Reply{}, httpapi.InvalidQuery(values, "ids",
			fmt.Sprintf("The value must have at most %d IDs.", maxObservedIDs), "too_long")
	}
	out := []wire.BatchDetail{}
	for _, text := range texts {
		id, err := batch.ParseID(text)
		if err != nil {
			return httpapi.Reply{}, httpapi.InvalidQuery(values, "ids",
				"The value must be UUIDs, separated by commas.", "uuid")
		}
		b, err := s.Store.Get(ctx, id)
		switch {
		case errors.Is(err, batch.ErrNotFound) || err == nil && b.Tenant != caller.Tenant:
		case err != nil:
			return httpapi.Reply{}, err
		default:
			out = append(out, newBatchDetail(b))
		}
	}
	return httpapi.Reply{Body: out}, nil
}

// observeDays answers with a page of the batches of a range of days, newest first, by day.
func (s *Batches) observeDays(ctx context.Context, caller httpapi.Caller, values url.Values) (httpapi.Reply, error) {
	first, last, err := readDays(values)
	if err != nil {
		return httpapi.Reply{}, err
	}
	limit, err := httpapi.QueryLimit(values, maxObservedLimit, maxObservedLimit)
	if err != nil {
		return httpapi.Reply{}, err
	}
	query := "observed " + values.Get("start_date") + " " + values.Get("end_date")
	position, err := s.Paging.OpenQuery(caller.Tenant, query, values)
	if err != nil {
		return httpapi.Reply{}, err
	}
	found, next, err := s.Store.List(ctx, caller.Tenant, onDays(first, last), batch.ID(position), limit)
	if err != nil {
		return httpapi.Reply{}, err
	}
	reply := httpapi.Reply{Body: groupByDay(found)}
	if token := s.Paging.Seal(caller.Tenant, query, string(next)); token != "" {
		reply.Header = http.Header{nextHeader: {token}}
	}
	return reply, nil
}

// onDays selects the batches that were created from the beginning of one day to the end of another.
func onDays(first, last time.Time) batch.Filter {
	// The filter leaves out its bounds, and the store keeps microseconds.
	return batch.Filter{CreatedAfter: first.Add(-time.Nanosecond), CreatedBefore: last.AddDate(0, 0, 1)}
}

// readDays reads a range of days in UTC.
func readDays(values url.Values) (first, last time.Time, err error) {
	if first, err = readDay(values, "start_date"); err != nil {
		return first, last, err
	}
	last, err = readDay(values, "end_date")
	switch {
	case err != nil:
		return first, last, err
	case last.Before(first):
		return first, last, httpapi.InvalidQuery(values, "end_date",
			"The day must not be before start_date.", "date_range")
	case last.Sub(first) >= maxObservedDays*24*time.Hour:
		return first, last, httpapi.InvalidQuery(values, "end_date",
			fmt.Sprintf("The range must have at most %d days.", maxObservedDays), "date_range")
	}
	return first, last, nil
}

// readDay reads a day in UTC.
func readDay(values url.Values, name string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, values.Get(name))
	if err != nil {
		return day, httpapi.InvalidQuery(values, name, "The value must be a day such as 2026-01-31.", "date")
	}
	return day, nil
}

// groupByDay groups batches that are ordered by the time of their creation.
func groupByDay(batches []batch.Batch) []wire.BatchDay {
	groups := []wire.BatchDay{}
	for _, b := range batches {
		date := b.CreatedAt.UTC().Format(time.DateOnly)
		if n := len(groups); n == 0 || groups[n-1].Date != date {
			groups = append(groups, wire.BatchDay{Date: date})
		}
		group := &groups[len(groups)-1]
		group.Count++
		group.Batches = append(group.Batches, newBatchDetail(b))
	}
	return groups
}
