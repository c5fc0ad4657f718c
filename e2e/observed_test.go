package e2e

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/client"
	"sluice/shared/kit/difftest"
)

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

// observedLately returns the sums, and the failed modifications, of today and of the day before, on which the requests
// may have been.
func (s *session) observedLately() (sum client.DaySummary, failed []string) {
	s.t.Helper()
	today := time.Now().UTC()
	for _, day := range []time.Time{today.AddDate(0, 0, -1), today} {
		summary := ok(s.client.TransactionSummary(s.t.Context(), day, day))(s.t)[day.Format(time.DateOnly)]
		sum.SucceededRequestCount += summary.SucceededRequestCount
		sum.FailedRequestCount += summary.FailedRequestCount
		failed = append(failed, s.failedModifications(day.Format(time.DateOnly))...)
	}
	return sum, failed
}

// A line that is dropped, and one because of which its batch is rejected, are among the failed modifications of the
// day. None of a rejected batch succeeds.
func TestFailedModifications(t *testing.T) {
	api := beginBatchTenant(t) // whose transactions are all that is counted
	good, dropped, rejected := validLine(), validLine().with("payment_type", "none"),
		validLine().with("payment_type", "none")
	api.expectProcessWith("PROCESSED", client.UploadOptions{MaxRejected: &client.RejectLimit{Lines: 1}},
		jsonLines(good, dropped))
	api.expectProcess("VALIDATION_FAILED", jsonLines(validLine(), rejected))
	summary, failed := api.observedLately()
	equal(t, "summary", client.DaySummary{SucceededRequestCount: 1, FailedRequestCount: 3}, summary)
	assert(t, !slices.Contains(failed, good.modificationID()) && slices.Contains(failed, dropped.modificationID()) &&
		slices.Contains(failed, rejected.modificationID()), "the failed ones are %v, want %v and %v, not %v", failed,
		dropped, rejected, good)
	api.expect(422, "GET", "/tm/observability/api/v1/transactions/failed-modifications", "")
}

// A single transaction that is stored is counted, and one that is refused is counted and among the failed
// modifications.
func TestObservedSingles(t *testing.T) {
	t.Parallel()
	api := loginNewTenant(t, "--permission", "TransactionWrite", "--permission", "TransactionRead")
	api.onboardParties()
	stored, refused := validLine(), validLine().withSender("nobody")
	for range 2 {
		api.expect(201, "POST", singlePath, stored.String())
	}
	api.expect(400, "POST", singlePath, refused.String())
	summary, ids := api.observedLately()
	equal(t, "summary", client.DaySummary{SucceededRequestCount: 1, FailedRequestCount: 1}, summary)
	equal(t, "failed modifications", []string{refused.modificationID()}, ids)
}

// A batch is observed by its ID and by the day of its creation, with what it came to.
func TestObservedBatches(t *testing.T) {
	api := begin(t)
	last := api.expectProcessWith("PROCESSED", client.UploadOptions{MaxRejected: &client.RejectLimit{Lines: 1}},
		append(jsonLines(validLines(2)...), "nonsense\n"...))
	byID := ok(api.client.ObservedBatches(t.Context(), last.BatchID))(t)
	require(t, len(byID) == 1 && byID[0].BatchID == last.BatchID && byID[0].Status == "processed_with_failures" &&
		byID[0].IngestStart != nil && byID[0].IngestEnd != nil && byID[0].DurationSeconds != nil &&
		byID[0].ErrorMessage == nil && byID[0].Exports != nil,
		"got %+v, want the batch with its times and its report", byID)
	equal(t, "counts", &client.ObservedCounts{Total: 3, Accepted: new(int64(2)),
		Invalid: new(int64(1))}, byID[0].Counts)
	api.expect(200, "GET", byID[0].Exports.ErrorsFile, "")
	var groups []client.BatchDay
	for next := ""; next != "" || groups == nil; {
		page, after, err := api.client.BatchesByDay(t.Context(), last.CreatedAt, last.CreatedAt, 100, next)
		must(t, err)
		groups, next = append(groups, page...), after
	}
	assert(t, slices.ContainsFunc(groups, func(g client.BatchDay) bool {
		return g.Date == last.CreatedAt.UTC().Format(time.DateOnly) &&
			slices.ContainsFunc(g.Batches, func(b client.ObservedBatch) bool { return cmp.Equal(b, byID[0]) })
	}), "the batches of the day are %+v, want %+v among them", groups, byID[0])
	api.expect(http.StatusBadRequest, http.MethodGet, "/tm/observability/api/v1/batch-transactions/batches", "")
}

// The commands count what was stored and what was not, list the latter and say why, whether it was sent singly or in a
// batch.
func TestObservabilityCommands(t *testing.T) {
	c := beginBatchTenant(t)
	single, refused := validLine(), validLine().withSender("nobody")
	inBatch, dropped := validLine(), validLine().with("payment_type", "none")
	began := time.Now().UTC()
	for command, lines := range map[string][]line{"send": {single, refused}, "upload": {inBatch, dropped}} {
		args := []string{command, writeFile(t, "lines.jsonl", jsonLines(lines...))}
		if command == "upload" {
			args = append(args, "--max-rejected", "1")
		}
		c.run(1, args...)
	}

	wanted, outcomes := map[string]string{
		inBatch.modificationID(): client.EventSucceeded, single.modificationID(): client.EventSucceeded,
		refused.modificationID(): client.EventFailed, dropped.modificationID(): client.EventFailed,
	}, map[string]string{}
	ids := slices.Collect(maps.Keys(wanted))
	events, _, err := c.client.TransactionEvents(t.Context(), ids, "")
	must(t, err)
	for _, e := range events {
		outcomes[e.ModificationExternalID] = e.Status
	}
	equal(t, "events", wanted, outcomes)

	var stored, failed int64
	for text := range strings.Lines(c.run(0, "summary", "--days", "3", "--json")) {
		var day client.DaySummary
		must(t, json.Unmarshal([]byte(text), &day))
		stored, failed = stored+day.SucceededRequestCount, failed+day.FailedRequestCount
	}
	assert(t, stored == 2 && failed == 2, "summary: %d stored and %d not, want 2 and 2", stored, failed)
	if text := c.run(0, "summary", "--days", "3"); !strings.HasSuffix(text, "total       2 stored  2 not stored\n") {
		t.Errorf("summary printed %q, want a total of 2 and 2", text)
	}

	ids = nil // of the day of the requests, or of both if midnight was among them
	ended := time.Now().UTC()
	for _, day := range slices.Compact([]string{began.Format(time.DateOnly), ended.Format(time.DateOnly)}) {
		ids = append(ids, strings.Fields(c.run(0, "failed", day))...)
	}
	want := []string{refused.modificationID(), dropped.modificationID()}
	slices.Sort(ids)
	slices.Sort(want)
	equal(t, "failed", want, ids)

	for name, o := range map[string]struct {
		line line
		code int
		want string
	}{
		"sent": {single, 0, "  succeeded  201  "}, "refused": {refused, 1, "  failed  400  "},
		"stored": {inBatch, 0, "  succeeded  201  "}, "dropped": {dropped, 1, "  failed  400  "},
	} {
		id := o.line.modificationID()
		if text := c.run(o.code, "events", id); strings.Count(text, "\n") != 1 ||
			!strings.Contains(text, o.want+id+"  "+o.line.transactionID()+"  ") {
			t.Errorf("events of the transaction that was %s: %q, want one line with %q", name, text, o.want)
		}
	}
	c.runFor(1, []string{"nothing was found"}, "events", "nobody sent this")
	c.run(2, "failed", "2020-01-31")
	other := loginAs(t, environment, newClient(t, environment, c.TenantID, "--permission", "BatchRead"))
	for _, args := range [][]string{{"summary"}, {"failed"}, {"events", "m"}} {
		other.run(2, args...)
	}
}

// The commands list and show entities, and show what a batch and a single request have stored; without the permission
// they do not.
func TestReadingCommands(t *testing.T) {
	c := beginTenant(t)
	importFile(t, []string{"--tenant", c.TenantID}, `{"id":"`+senderID+`","lifecycleStatus":"Compliant",`+
		`"type":"Company","properties":{"legalEntityName":{"type":"Single","value":"Acme"}}}`,
		`{"id":"`+receiverID+`","lifecycleStatus":"Compliant"}`, `{"id":"new one","lifecycleStatus":"Unknown"}`)
	if list := c.run(0, "entity", "list"); strings.Count(list, "\n") != 3 ||
		!strings.Contains(list, senderID+"    Compliant  Company  Acme\n") {
		t.Errorf("entity list: %s", list)
	}
	if list := c.run(0, "entity", "list", "--status", "Unknown", "--json"); strings.Count(list, "\n") != 1 ||
		!strings.Contains(list, `"id":"new one"`) {
		t.Errorf("entity list --status: %s", list)
	}
	difftest.Contains(t, "entity show", c.run(0, "entity", "show", senderID), "\n  legalEntityName  Acme\n")
	if text := c.run(0, "entity", "show", "new one"); !strings.HasPrefix(text, "entity         new one\n") {
		t.Errorf("entity show of one without properties: %s", text)
	}
	c.run(2, "entity", "show", "nobody")
	c.run(2, "entity", "list", "--status", "Unheard")

	sent := validLine()
	path := writeFile(t, "transaction.json", sent.String())
	c.run(0, "send", path)
	difftest.Contains(t, "transaction show", c.run(0, "transaction", "show", sent.transactionID()),
		"\nsent          singly\n", `    "transaction_external_id": "`+sent.transactionID()+`"`)
	difftest.Contains(t, "transaction show --json", c.run(0, "transaction", "show", sent.transactionID(), "--json"),
		`"modification_external_id": "`+sent.modificationID()+`"`)
	c.run(2, "transaction", "show", "nobody-sent-this")

	other := loginAs(t, environment, newClient(t, environment, c.TenantID, "--permission", "BatchRead"))
	for _, args := range [][]string{
		{"entity", "list"}, {"entity", "show", senderID}, {"transaction", "show", sent.transactionID()},
	} {
		other.run(2, args...)
	}
}
