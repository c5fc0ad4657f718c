package clienttest

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"sluice/client"
	"sluice/openapi/wire"
)

// observabilityPath begins the paths of what became of transactions.
const observabilityPath = "/tm/observability/api/v1/transactions/"

// isJudged reports whether a batch has ended with a verdict on its lines, and was not only to be validated.
func (b *batch) isJudged() bool {
	return (b.status == client.StatusProcessed || b.status == client.StatusValidationFailed) && !b.ValidateOnly
}

// events returns what became of the lines of a batch that have a modification ID, in their order, and whether each of
// them is invalid itself; none of a batch that is not judged.
func (b *batch) events() (events []client.TransactionEvent, invalid []bool) {
	if !b.isJudged() {
		return nil, nil
	}
	reasons := map[int64]string{}
	for lines := json.NewDecoder(bytes.NewReader(b.report)); ; {
		var line client.ReportLine
		if lines.Decode(&line) != nil {
			break
		}
		reasons[line.Line] = line.Errors[0].Msg
	}
	number := int64(0)
	for line := range bytes.Lines(b.content) {
		number++
		var ids lineIDs
		if json.Unmarshal(line, &ids) != nil || ids.Modification.ExternalID == "" {
			continue
		}
		reason, isInvalid := reasons[number]
		event := client.TransactionEvent{Status: client.EventSucceeded, StatusCode: http.StatusCreated,
			StatusMessage: "The transaction is stored.", ModificationExternalID: ids.Modification.ExternalID,
			TransactionExternalID: ids.TransactionExternalID, CreatedAt: b.receivedAt}
		switch {
		case isInvalid:
			event.Status, event.StatusCode, event.StatusMessage = client.EventFailed, http.StatusBadRequest, reason
		case b.status == client.StatusValidationFailed:
			event.Status, event.StatusCode, event.StatusMessage = client.EventFailed, http.StatusBadRequest,
				b.errorMessage
		}
		events, invalid = append(events, event), append(invalid, isInvalid)
	}
	return events, invalid
}

// newestBatches returns the batches, the newest first.
func (s *Server) newestBatches() (batches []*batch) {
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(s.batches))) {
		batches = append(batches, s.batches[id])
	}
	return batches
}

// replyItem answers with the item of a list that the query's next names, so that a client that does not read on sees
// too little. Empty is the answer if there is none.
func replyItem[T any](w http.ResponseWriter, r *http.Request, items []T, empty any) {
	at, _ := strconv.Atoi(r.URL.Query().Get("next"))
	metadata := map[string]any{"count": 0, "next": nil}
	if at+1 < len(items) {
		metadata["next"] = strconv.Itoa(at + 1)
	}
	if at < 0 || at >= len(items) {
		reply(w, http.StatusOK, map[string]any{"metadata": metadata, "data": empty})
		return
	}
	metadata["count"] = 1
	var data any = items[at]
	if _, isList := empty.([]T); isList {
		data = items[at : at+1]
	}
	reply(w, http.StatusOK, map[string]any{"metadata": metadata, "data": data})
}

// readDay reads a day of the query. If it is none it answers the request and returns false.
func readDay(w http.ResponseWriter, r *http.Request, name string) (time.Time, bool) {
	day, err := time.Parse(time.DateOnly, r.URL.Query().Get(name))
	if err != nil {
		replyInvalid(w, client.Detail{Loc: []any{"query", name}, Msg: "The value must be a day.", Type: "date"})
	}
	return day, err == nil
}

// summarize returns the counts of one batch a page.
func (s *Server) summarize(w http.ResponseWriter, r *http.Request) {
	first, firstOK := readDay(w, r, "start_date")
	if !firstOK {
		return
	}
	last, lastOK := readDay(w, r, "end_date")
	if !lastOK {
		return
	}
	pages := []map[string]client.DaySummary{}
	for _, b := range s.newestBatches() {
		day := b.receivedAt.UTC().Truncate(24 * time.Hour)
		if !b.isJudged() || day.Before(first) || day.After(last) {
			continue
		}
		sum := client.DaySummary{FailedRequestCount: b.total,
			Links: wire.DayLinks{Batches: "/batches", FailedModifications: "/failed"}}
		if b.status == client.StatusProcessed {
			sum.SucceededRequestCount, sum.FailedRequestCount = b.total-b.invalid, b.invalid
		}
		pages = append(pages, map[string]client.DaySummary{day.Format(time.DateOnly): sum})
	}
	replyItem(w, r, pages, map[string]client.DaySummary{})
}

// listFailed returns one of the modifications of a day that were not stored because of their own line.
func (s *Server) listFailed(w http.ResponseWriter, r *http.Request) {
	day, ok := readDay(w, r, "date")
	if !ok {
		return
	}
	ids := []string{}
	for _, b := range s.newestBatches() {
		events, invalid := b.events()
		for i, e := range events {
			if invalid[i] && day.Equal(b.receivedAt.UTC().Truncate(24*time.Hour)) {
				ids = append(ids, e.ModificationExternalID)
			}
		}
	}
	replyItem(w, r, ids, []string{})
}

// listEvents returns one of the events of some modifications.
func (s *Server) listEvents(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()["modification_external_ids"]
	if len(asked) == 0 || len(asked) > 100 {
		replyInvalid(w, client.Detail{Loc: []any{"query", "modification_external_ids"},
			Msg: "The value must have 1 to 100 IDs.", Type: "too_long"})
		return
	}
	found := []client.TransactionEvent{}
	for _, b := range s.newestBatches() {
		events, _ := b.events()
		for _, e := range events {
			if slices.Contains(asked, e.ModificationExternalID) {
				found = append(found, e)
			}
		}
	}
	replyItem(w, r, found, []client.TransactionEvent{})
}
