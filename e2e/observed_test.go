package e2e

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"sluice/client"
)

// observedBatch is a batch as the observability interface says it.
type observedBatch struct {
	BatchID      string             `json:"batch_id"`
	Status       string             `json:"status"`
	IngestStart  *time.Time         `json:"ingest_start"`
	IngestEnd    *time.Time         `json:"ingest_end"`
	Duration     *int64             `json:"duration_seconds"`
	Counts       map[string]int     `json:"counts"`
	ErrorMessage *string            `json:"error_message"`
	Exports      map[string]*string `json:"exports"`
}

// observe reads from the observability interface.
func (s *session) observe(query string, out any) {
	s.t.Helper()
	s.expectReply(200, "GET", "/tm/observability/api/v1/batch-transactions/batches?"+query, "", out)
}

// failedModifications reads the modification IDs of a day's failures, of which other tests have some, too.
func (s *session) failedModifications(day string) (ids []string) {
	s.t.Helper()
	for next := ""; ; {
		var page struct {
			Metadata struct {
				Count int
				Next  string
			}
			Data []string
		}
		s.expectReply(200, "GET", "/tm/observability/api/v1/transactions/failed-modifications?date="+day+next, "",
			&page)
		require(s.t, page.Metadata.Count == len(page.Data), "failed modifications: %+v, want the count of the data",
			page)
		ids = append(ids, page.Data...)
		if page.Metadata.Next == "" {
			return ids
		}
		next = "&next=" + page.Metadata.Next
	}
}

// daySummary is how many transactions of a day succeeded and failed.
type daySummary struct {
	Succeeded int `json:"succeeded_request_count"`
	Failed    int `json:"failed_request_count"`
}

// summary reads the summary of a day.
func (s *session) summary(day string) daySummary {
	s.t.Helper()
	var reply struct{ Data map[string]daySummary }
	s.expectReply(200, "GET", "/tm/observability/api/v1/transactions/summary?start_date="+day+"&end_date="+day, "",
		&reply)
	return reply.Data[day]
}

// observedLately returns the sums, and the failed modifications, of today and of the day before, on which the requests
// may have been.
func (s *session) observedLately() (sum daySummary, failed []string) {
	s.t.Helper()
	today := time.Now().UTC()
	for _, at := range []time.Time{today.AddDate(0, 0, -1), today} {
		day := at.Format(time.DateOnly)
		summary := s.summary(day)
		sum.Succeeded, sum.Failed = sum.Succeeded+summary.Succeeded, sum.Failed+summary.Failed
		failed = append(failed, s.failedModifications(day)...)
	}
	return sum, failed
}

// A line that is dropped, and one because of which its batch is rejected, are among the failed modifications of the
// day. None of a rejected batch succeeds.
func TestFailedModifications(t *testing.T) {
	// whose transactions are all that is counted
	api := beginBatchTenant(t)
	good, dropped, rejected := validLine(), validLine().with("payment_type", "none"),
		validLine().with("payment_type", "none")
	last, _ := api.processWith(client.UploadOptions{MaxRejected: &client.RejectLimit{Lines: 1}},
		jsonLines(good, dropped))
	second, _ := api.processWith(client.UploadOptions{RejectOnInvalid: true}, jsonLines(validLine(), rejected))
	require(t, last.Status == client.StatusProcessed && second.Status == client.StatusValidationFailed,
		"the batches ended with %s and %s, want PROCESSED and VALIDATION_FAILED", last.Status, second.Status)
	summary, failed := api.observedLately()
	if want := (daySummary{Succeeded: 1, Failed: 3}); summary != want {
		t.Errorf("summary: got %+v, want %+v", summary, want)
	}
	for name, c := range map[string]struct {
		line line
		want bool
	}{"stored": {good, false}, "dropped": {dropped, true}, "rejected": {rejected, true}} {
		id := c.line.modificationID()
		assert(t, slices.Contains(failed, id) == c.want, "the line that was %s: %s is in the list: %t, want %t", name,
			id, !c.want, c.want)
	}
	api.expect(http.StatusUnprocessableEntity, http.MethodGet,
		"/tm/observability/api/v1/transactions/failed-modifications", "")
}

// A single transaction that is stored is counted, and one that is refused is counted and among the failed
// modifications.
func TestObservedSingles(t *testing.T) {
	t.Parallel()
	api := loginNewTenant(t, "--permission", "TransactionWrite", "--permission", "TransactionRead")
	api.onboardParties()
	stored, refused := validLine(), validLine().withSender("nobody")
	for _, c := range []struct {
		line   line
		status int
	}{{stored, http.StatusCreated}, {stored, http.StatusCreated}, {refused, http.StatusBadRequest}} {
		api.expect(c.status, http.MethodPost, singlePath, c.line.String())
	}
	summary, ids := api.observedLately()
	want := daySummary{Succeeded: 1, Failed: 1}
	assert(t, summary == want && slices.Equal(ids, []string{refused.modificationID()}),
		"summary %+v with the failures %q, want %+v with %s", summary, ids, want, refused.modificationID())
}

// What became of transactions is found by their modification IDs, whether they came singly or in a batch, plain or
// packed.
func TestTransactionEvents(t *testing.T) {
	// whose batches are all that is searched
	api := beginBatchTenant(t)
	single, refused := validLine(), validLine().withSender("nobody")
	for l, want := range map[*line]int{&single: http.StatusCreated, &refused: http.StatusBadRequest} {
		api.expect(want, http.MethodPost, singlePath, l.String())
	}
	lines := validLines(60) // several chunks of 8 KiB
	dropped, duplicate := validLine().with("payment_type", "none"), lines[50]
	lines = append(lines, dropped, duplicate)
	last, _ := api.processWith(client.UploadOptions{MaxRejected: &client.RejectLimit{Lines: 3}}, jsonLines(lines...))
	packed := validLine()
	second := api.process(true, packGzip(t, jsonLines(packed)))
	require(t, last.Status == client.StatusProcessed && second.Status == client.StatusProcessed,
		"the batches ended with %s and %s, want PROCESSED", last.Status, second.Status)
	want := []client.TransactionEvent{
		{Status: "succeeded", StatusCode: 201}, {Status: "failed", StatusCode: 400},
		{Status: "succeeded", StatusCode: 201},
		{Status: "succeeded", StatusCode: 201}, {Status: "failed", StatusCode: 400},
		{Status: "failed", StatusCode: 400},
		{Status: "failed", StatusCode: 400},
	}
	var ids []string
	for i, l := range []line{single, refused, packed, lines[20], duplicate, dropped, duplicate} {
		want[i].ModificationExternalID, want[i].TransactionExternalID = l.modificationID(), l.transactionID()
		ids = append(ids, l.modificationID())
	}
	var got []client.TransactionEvent
	for next := ""; ; {
		page, after, err := api.client.TransactionEvents(t.Context(), append(ids[:6:6], uuid.NewString()), next)
		must(t, err)
		got = append(got, page...)
		if next = after; next == "" {
			break
		}
	}
	ignore := cmpopts.IgnoreFields(client.TransactionEvent{}, "StatusMessage", "CreatedAt")
	equal(t, "", want, got, ignore)
	for _, e := range got {
		assert(t, e.StatusMessage != "" && time.Since(e.CreatedAt) <= time.Hour,
			"got %+v, want a message and the time of the receipt", e)
	}
	api.expect(http.StatusUnprocessableEntity, http.MethodGet, "/tm/observability/api/v1/transactions/events", "")
}

// A batch is observed by its ID and by the day of its creation, with what it came to.
func TestObservedBatches(t *testing.T) {
	api := begin(t)
	last, _ := api.processWith(client.UploadOptions{MaxRejected: &client.RejectLimit{Lines: 1}},
		append(jsonLines(validLines(2)...), "nonsense\n"...))
	var byID []observedBatch
	api.observe("ids="+last.BatchID, &byID)
	require(t, len(byID) == 1 && byID[0].BatchID == last.BatchID && byID[0].Status == "processed_with_failures" &&
		byID[0].IngestStart != nil && byID[0].IngestEnd != nil && byID[0].Duration != nil &&
		byID[0].ErrorMessage == nil && byID[0].Exports["errors_file"] != nil,
		"got %+v, want the batch with its times and its report", byID)
	equal(t, "counts", map[string]int{"total": 3, "accepted": 2, "invalid": 1}, byID[0].Counts)
	api.expect(http.StatusOK, http.MethodGet, *byID[0].Exports["errors_file"], "")
	day := last.CreatedAt.UTC().Format(time.DateOnly)
	var groups []struct {
		Date    string          `json:"date"`
		Batches []observedBatch `json:"batches"`
	}
	api.observe("start_date="+day+"&end_date="+day, &groups)
	isFound := false
	for _, g := range groups {
		for _, b := range g.Batches {
			isFound = isFound || g.Date == day && cmp.Equal(b, byID[0])
		}
	}
	if !isFound {
		t.Errorf("the batches of %s are %+v, want %+v among them", day, groups, byID[0])
	}
	api.expect(http.StatusBadRequest, http.MethodGet, "/tm/observability/api/v1/batch-transactions/batches", "")
}
