package batchhttp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/openapi/wire"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/batch/batchhttp"
	"sluice/shared/ingest/lineindex/lineindextest"
	"sluice/shared/ingest/observation/lines"
	"sluice/shared/ingest/observation/linestest"
)

const eventsPath = "/transactions/events"

// validated is a store of batches with the work files of a validation and the index of their lines.
type validated struct {
	*batchdb.Store
	index   *linestest.Index
	batches map[batch.ID]batch.Batch
	chunks  map[batch.ID][]batch.Chunk
}

func (v *validated) Get(_ context.Context, id batch.ID) (batch.Batch, error) {
	return v.batches[id], nil
}

func (v *validated) Chunks(_ context.Context, id batch.ID) ([]batch.Chunk, error) {
	return v.chunks[id], nil
}

// add adds a batch with lines that was received some time before now.
func (v *validated) add(t *testing.T, b batch.Batch, age time.Duration, lines ...string) batch.ID {
	t.Helper()
	b.ID = batch.ID(fmt.Sprintf("00000000-0000-7000-8000-%012d", 999-len(v.batches)))
	if b.Tenant == "" {
		b.Tenant = "t1"
	}
	b.ReceivedAt, b.CreatedAt, b.Verdict = now.Add(-age), now.Add(-age), &batch.Verdict{}
	v.chunks[b.ID] = v.index.Validate(t, &b, []byte(strings.Join(lines, "\n")), 2000)
	v.batches[b.ID] = b
	return b.ID
}

// newEventsAPI returns the interface over batches that a test adds.
func newEventsAPI(t *testing.T) (*api, *validated) {
	t.Helper()
	a := newAPI(t)
	clock := func() time.Time { return a.now }
	v := &validated{Store: a.batches, index: linestest.NewIndex(a.db, clock), batches: map[batch.ID]batch.Batch{},
		chunks: map[batch.ID][]batch.Chunk{}}
	a.Routes = (&batchhttp.Batches{Store: v, Singles: a.singles, Paging: paging(t), Now: clock, Lines: &lines.Finder{
		Batches: v, Index: v.index, Keys: v.index, Work: v.index, IsGone: lineindextest.IsGone, Now: clock}}).Routes()
	return a, v
}

// events reads all pages of events and returns "modification transaction code" of each.
func (a *api) events(t *testing.T, query string) (all []string, pages int) {
	t.Helper()
	for next := ""; ; {
		r := a.observeAt(t, eventsPath, query+next)
		var out wire.TransactionEvents
		if err := json.Unmarshal([]byte(r.Body), &out); err != nil || r.StatusCode != 200 || pages > 1000 {
			t.Fatalf("%s: got %d %s", query, r.StatusCode, r.Body)
		}
		if out.Metadata.Count != int64(len(out.Data)) {
			t.Errorf("count is %d of %d events", out.Metadata.Count, len(out.Data))
		}
		for _, e := range out.Data {
			all = append(all, fmt.Sprint(e.ModificationExternalID, " ", e.TransactionExternalID, " ", e.StatusCode))
			want := batchhttp.EventFailed
			if e.StatusCode == 201 {
				want = batchhttp.EventSucceeded
			}
			if e.Status != want || e.StatusMessage == "" || e.CreatedAt.IsZero() {
				t.Errorf("got %+v, want it to be complete", e)
			}
		}
		pages++
		if out.Metadata.Next == nil {
			return all, pages
		}
		next = "&next=" + url.QueryEscape(*out.Metadata.Next)
	}
}

// Single transactions and lines of batches are found by their modification IDs, in pages of any size.
func TestEvents(t *testing.T) {
	t.Parallel()
	a, v := newEventsAPI(t)
	line := linestest.Line
	v.add(t, batch.Batch{Status: batch.Processed}, time.Hour, line("x", "a", true), line("x", "b", false),
		line("x", "other", true), line("x", "c,d", true), line("y", "twice", true), line("y", "twice", true),
		line("y", "e", true))
	v.add(t, batch.Batch{Status: batch.Processed, Tenant: "t2"}, time.Hour, line("foreign", "a", true))
	v.add(t, batch.Batch{Status: batch.InProgress}, time.Hour, line("running", "a", true))
	v.add(t, batch.Batch{Status: batch.Processed, ValidateOnly: true}, time.Hour, line("dry", "a", true))
	v.add(t, batch.Batch{Status: batch.ValidationFailed, ErrorMessage: "e"}, 2*time.Hour, line("z", "a", true),
		line("z", "b", false))
	deleted := v.add(t, batch.Batch{Status: batch.Processed}, 2*time.Hour, line("deleted", "a", true))
	delete(v.chunks, deleted)
	v.add(t, batch.Batch{Status: batch.Failed, ErrorMessage: "e"}, 7*24*time.Hour-1, line("w", "a", true))
	v.add(t, batch.Batch{Status: batch.Processed}, 7*24*time.Hour, line("old", "a", true))
	a.recordSingle(t, "a", now, 400, "1 validation error")
	a.recordSingle(t, "a", now.Add(-time.Hour), 201, "")
	a.recordSingle(t, "b", now, 409, "conflict")
	a.caller.Tenant = "t2"
	a.recordSingle(t, "b", now, 201, "")
	a.caller.Tenant = "t1"
	for query, want := range map[string][]string{
		"a": {"a x 201", "a x 400", "a x 201", "a z 400", "a w 500"},
		"b,a,b": {"b x 409", "a x 201", "a x 400", "a x 201", "b x 400", "a z 400",
			"b z 400", "a w 500"},
		"c,d":                               {"c,d x 201"},
		"twice":                             {"twice y 400", "twice y 400"},
		"twice&modification_external_ids=e": {"twice y 400", "twice y 400", "e y 201"},
		"nobody":                            nil,
	} {
		for _, limit := range []int{1, 2, 3, 1000} {
			got, pages := a.events(t, fmt.Sprintf("modification_external_ids=%s&limit=%d", query, limit))
			if diff := cmp.Diff(want, got); diff != "" || pages < len(want)/limit {
				t.Errorf("%s by %d: %d pages (-want +got):\n%s", query, limit, pages, diff)
			}
		}
	}
}

// A page has the events of a bounded number of batches.
func TestEventsAreBounded(t *testing.T) {
	t.Parallel()
	a, v := newEventsAPI(t)
	for range 201 {
		v.add(t, batch.Batch{Status: batch.Processed}, time.Hour, linestest.Line("x", "a", true))
	}
	if got, pages := a.events(t, "modification_external_ids=a"); len(got) != 201 || pages != 3 {
		t.Errorf("got %d events on %d pages, want 201 on 3", len(got), pages)
	}
}

func TestEventsRefusals(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	const ids = "modification_external_ids=a"
	for query, want := range map[string]string{
		"":                               "missing",
		"modification_external_ids=":     "missing",
		"modification_external_ids=a,,b": "missing",
		ids + strings.Repeat(",a", 100):  "too_long",
		strings.Repeat(ids+"&", 101):     "too_long",
		ids + "&date=2026-11-26":         "extra_forbidden",
		ids + "&limit=0":                 "number_range",
		ids + "&limit=5&limit=5":         "repeated",
		ids + "&next=":                   "page_token",
		ids + "&next=x":                  "page_token",
	} {
		if r := a.observeAt(t, eventsPath, query); r.StatusCode != 422 || !strings.Contains(r.Body, `"`+want+`"`) {
			t.Errorf("%s: got %d %s, want 422 with %s", query, r.StatusCode, r.Body, want)
		}
	}
	a.recordSingle(t, "a", now, 201, "")
	a.recordSingle(t, "a", now.Add(1), 201, "")
	r := a.observeAt(t, eventsPath, ids+"&limit=1")
	var page wire.TransactionEvents
	if err := json.Unmarshal([]byte(r.Body), &page); err != nil || page.Metadata.Next == nil {
		t.Fatalf("got %d %s, want a page and more", r.StatusCode, r.Body)
	}
	next := "&next=" + url.QueryEscape(*page.Metadata.Next)
	if r := a.observeAt(t, eventsPath, "modification_external_ids=b"+next); r.StatusCode != 422 {
		t.Errorf("the page of other IDs: got %d %s", r.StatusCode, r.Body)
	}
	a.caller.Permissions = nil
	if r := a.observeAt(t, eventsPath, ids); r.StatusCode != 403 {
		t.Errorf("without the permission: got %d %s", r.StatusCode, r.Body)
	}
}
