package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sluice/openapi/wire"
)

// observabilityPath begins the paths by which clients look at what became of what they have sent.
const observabilityPath = "/tm/observability/api/v1/"

// Values of ObservedBatch.Status.
const (
	// ObservedUploaded means that validation has not finished, or that the file is not uploaded yet.
	ObservedUploaded            = "uploaded"
	ObservedValidationFailed    = "validation_failed"
	ObservedPendingIngestion    = "pending_ingestion"
	ObservedIngestionInProgress = "ingestion_in_progress"
	ObservedProcessed           = "processed"
	// ObservedProcessedWithFailures means that invalid lines were dropped.
	ObservedProcessedWithFailures = "processed_with_failures"
	ObservedFailed                = "failed"
)

// ObservedBatch is what the observability interface says of a batch.
type ObservedBatch = wire.BatchDetail

// ObservedCounts are numbers of transactions of a batch.
type ObservedCounts = wire.ObservedCounts

// BatchDay is the batches of a page that were created on one day in UTC, the newest first.
type BatchDay = wire.BatchDay

// batchDays are a page of days and what next is for the page that follows.
type batchDays struct {
	days []BatchDay
	next string
}

// UnmarshalJSON reads the array that the reply is.
func (b *batchDays) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &b.days) }

func (b *batchDays) keepHeader(h http.Header) { b.next = h.Get("X-Next") }

// DaySummary is how many transactions of a day succeeded, which are stored, and failed.
type DaySummary = wire.DaySummary

// Values of TransactionEvent.Status.
const (
	// EventSucceeded means that the transaction is stored.
	EventSucceeded = "succeeded"
	// EventFailed means that it was refused, or rejected with its line or its batch.
	EventFailed = "failed"
)

// TransactionEvent is what became of a transaction that was sent singly or in a batch.
type TransactionEvent = wire.TransactionEvent

// observe reads from the observability interface.
func (c *Client) observe(ctx context.Context, path string, query url.Values, next string, out any) error {
	if next != "" {
		query.Set("next", next)
	}
	return c.call(ctx, http.MethodGet, observabilityPath+path+"?"+query.Encode(), nil, out)
}

// days returns the parameters of a range of days in UTC.
func days(first, last time.Time) url.Values {
	return url.Values{"start_date": {first.UTC().Format(time.DateOnly)}, "end_date": {last.UTC().Format(time.DateOnly)}}
}

// ObservedBatches returns batches in the order of their IDs, of which there are at most 100. Batches that the tenant
// does not have are left out.
func (c *Client) ObservedBatches(ctx context.Context, ids ...string) (batches []ObservedBatch, err error) {
	err = c.observe(ctx, "batch-transactions/batches", url.Values{"ids": {strings.Join(ids, ",")}}, "", &batches)
	return batches, err
}

// BatchesByDay returns a page of at most limit batches, or of 1,000 if it is 0, that were created on a range of at most
// 31 days in UTC, by day, newest first; and what next is for the page that follows, which is "" for the first page and
// at the end. A day whose batches are on two pages is on both.
func (c *Client) BatchesByDay(ctx context.Context, first, last time.Time, limit int, next string) (page []BatchDay,
	nextPage string, err error) {
	query := days(first, last)
	if limit != 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	var out batchDays
	err = c.observe(ctx, "batch-transactions/batches", query, next, &out)
	return out.days, out.next, err
}

// TransactionSummary returns how many transactions of each day, YYYY-MM-DD, of a range of at most 31 days in UTC
// succeeded and failed. It reads all pages, each of which has up to 5,000 batches. A day without transactions is
// missing.
func (c *Client) TransactionSummary(ctx context.Context, first, last time.Time) (map[string]DaySummary, error) {
	sum := map[string]DaySummary{}
	for next := ""; ; {
		var page wire.TransactionSummary
		if err := c.observe(ctx, "transactions/summary", days(first, last), next, &page); err != nil {
			return nil, err
		}
		for date, day := range page.Data {
			day.SucceededRequestCount += sum[date].SucceededRequestCount
			day.FailedRequestCount += sum[date].FailedRequestCount
			sum[date] = day
		}
		if next = wire.OrZero(page.Metadata.Next); next == "" {
			return sum, nil
		}
	}
}

// FailedModifications returns a page of the modification IDs of the transactions of a day in UTC, at most 30 days ago,
// that were not taken, and what next is for the page that follows; it is "" for the first page, and at the end. A page
// can be empty although next is not "".
func (c *Client) FailedModifications(ctx context.Context, day time.Time, next string) (ids []string, nextPage string,
	err error) {
	var page wire.FailedModifications
	err = c.observe(ctx, "transactions/failed-modifications", url.Values{"date": {day.UTC().Format(time.DateOnly)}},
		next, &page)
	return page.Data, wire.OrZero(page.Metadata.Next), err
}

// TransactionEvents returns a page of what became of the transactions with some modification IDs, at most 100: of
// single ones in the last 30 days, and of the lines of batches that were received in the last 7 days. next is as in
// FailedModifications. An ID for which nothing is found has no event.
func (c *Client) TransactionEvents(ctx context.Context, modificationIDs []string,
	next string) (events []TransactionEvent, nextPage string, err error) {
	var page wire.TransactionEvents
	err = c.observe(ctx, "transactions/events", url.Values{"modification_external_ids": modificationIDs}, next, &page)
	return page.Data, wire.OrZero(page.Metadata.Next), err
}
