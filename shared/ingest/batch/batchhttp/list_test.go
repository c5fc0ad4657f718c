package batchhttp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchtest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func paging(t *testing.T) *platform.Paging {
	t.Helper()
	return errtest.Must(platform.NewPaging(make([]byte, 32)))(t)
}

// list asks for a page by the text of a query.
func (a *api) list(t *testing.T, query string) (int, map[string]any) {
	t.Helper()
	r := a.getQuery(t, base+"/batch", query)
	var out map[string]any
	if err := json.Unmarshal([]byte(r.Body), &out); err != nil {
		t.Fatalf("%d %q", r.StatusCode, r.Body)
	}
	return r.StatusCode, out
}

// ids returns the IDs of the batches of a page.
func ids(page map[string]any) []string {
	var found []string
	for _, b := range page["batches"].([]any) {
		found = append(found, b.(map[string]any)["batch_id"].(string))
	}
	return found
}

// expectPages reads all pages of a query, and checks the batches on each.
func (a *api) expectPages(t *testing.T, query string, want ...[]string) {
	t.Helper()
	next := ""
	for i := 0; ; i++ {
		status, page := a.list(t, query+next)
		if status != 200 || i >= len(want) {
			t.Fatalf("%s: page %d is %d %v, want %d pages", query, i, status, page, len(want))
		}
		difftest.Equal(t, fmt.Sprintf("%s: page %d", query, i), want[i], ids(page))
		token, isText := page["next"].(string)
		if !isText {
			if i+1 != len(want) || page["next"] != nil {
				t.Errorf("%s: got %d pages and %v, want %d", query, i+1, page["next"], len(want))
			}
			return
		}
		next = "&next=" + url.QueryEscape(token)
	}
}

// A list has the batches of the tenant, newest first, and those alone that the query selects.
func TestList(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.caller.Client = uuid.NewString()
	a.expectPages(t, "", nil)
	var all []string // newest first
	for n := range 5 {
		id := a.generateUploadURL(t, fmt.Sprintf(`{"name":"n%d","metadata":{"k":"%d","x.y":"a b"}}`, n,
			n%2))["batch_id"].(string)
		all = slices.Insert(all, 0, id)
		if n < 2 {
			a.apply(t, id, batch.Transition{To: batch.Failed, ErrorMessage: "e"})
		}
	}
	a.caller.Tenant = "t2"
	a.createBatch(t)
	a.caller.Tenant = "t1"
	a.expectPages(t, "", all)
	a.expectPages(t, "limit=200", all)
	a.expectPages(t, "limit=2", all[:2], all[2:4], all[4:])
	a.expectPages(t, "limit=5", all)
	a.expectPages(t, "status=ERROR", all[3:])
	a.expectPages(t, "status=ERROR&status=PROCESSED&status=ERROR", all[3:])
	a.expectPages(t, "status=PROCESSED", nil)
	a.expectPages(t, "state=ended", all[3:])
	a.expectPages(t, "state=awaiting_upload", all[:3])
	a.expectPages(t, "state=awaiting_upload&state=open", all[:3])
	a.expectPages(t, "state=open&state=ended&limit=3", all[:3], all[3:])
	a.expectPages(t, "state=open&status=ERROR", nil)
	a.expectPages(t, "client_id="+strings.ToUpper(a.caller.Client), all)
	a.expectPages(t, "client_id="+uuid.NewString(), nil)
	a.expectPages(t, "name=n", all)
	a.expectPages(t, "name=n3", all[1:2])
	a.expectPages(t, "name=3", nil)
	a.expectPages(t, "metadata.k=1", []string{all[1], all[3]})
	a.expectPages(t, "metadata.k=1&metadata.x.y=a+b&status=ERROR", all[3:4])
	a.expectPages(t, "metadata.k=", nil)
	a.expectPages(t, "created_after=9999-01-01T00:00:00Z", nil)
	a.expectPages(t, "created_before=2000-01-01T00:00:00%2B01:00", nil)
	a.caller.Features = nil // existing batches can be read without the batch feature
	a.expectPages(t, "", all)
	a.caller.Tenant = "t3"
	a.expectPages(t, "", nil)
}

// Each item is the status record of the batch, as far as its row has it.
func TestListedRecords(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	steps := append(transitions(batch.Verdict{Total: 3, Accepted: 2, Invalid: 1, ReportKey: "r"}),
		batch.Transition{To: batch.Initialized}, batch.Transition{To: batch.InProgress},
		batch.Transition{To: batch.Processed})
	steps[0].ReceivedAt = now
	for n := range len(steps) + 1 {
		id := a.generateUploadURL(t, `{"name":"records"}`)["batch_id"].(string)
		a.apply(t, id, steps[:n]...)
		_, page := a.list(t, "limit=1")
		got := page["batches"].([]any)[0].(map[string]any)
		httpStatus, want := a.call(t, http.MethodGet, "/batch/status/"+id, "")
		if httpStatus == 202 {
			if got["status"] != nil || got["message"] != want["message"] || got["batch_id"] != id ||
				got["expires_at"] != want["expires_at"] || got["upload_by"] != want["upload_by"] ||
				(n == 0) != (got["upload_by"] == "2026-11-27T08:30:00Z") || got["name"] != "records" ||
				got["content_encoding"] != nil || got["error_message"] != "" ||
				got["bytes_done"] != nil || n == 0 && (got["received_at"] != nil || got["bytes_total"] != nil) ||
				n == 1 && got["bytes_total"] != 1000.0 {
				t.Errorf("a batch without a status is listed as %v; its status is answered with %v", got, want)
			}
			continue
		}
		want["expires_at"], want["upload_by"] = nil, nil
		counts := want["counts"].(map[string]any)
		switch want["status"] {
		case "VALIDATION_STARTED":
			want["bytes_done"] = nil
		case "PENDING_INGESTION":
			want["bytes_done"] = 1000.0 // nothing is validated in this test
		case "INITIALIZED", "IN_PROGRESS":
			want["bytes_done"], counts["ingested"] = nil, nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: want the status record (-), got (+):\n%s", want["status"], diff)
		}
	}
	id := a.createBatch(t)
	a.call(t, http.MethodPost, "/batch/cancel/"+id, "")
	_, page := a.list(t, "limit=1")
	got := page["batches"].([]any)[0].(map[string]any)
	if got["status"] != "ERROR" || got["error_message"] != batch.Cancelled || got["received_at"] != nil ||
		got["bytes_total"] != nil || got["bytes_done"] != 0.0 {
		t.Errorf("a batch that was cancelled before its upload is listed as %v", got)
	}
}

func TestListIsRefused(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for range 3 {
		a.createBatch(t)
	}
	_, page := a.list(t, "limit=1")
	next := page["next"].(string)
	for query, want := range map[string]string{
		"other=1":                           "other extra_forbidden",
		"Status=ERROR":                      "Status extra_forbidden",
		"metadata=1":                        "metadata extra_forbidden",
		"metadata.=1":                       "metadata. extra_forbidden",
		"metadata.a%20b=1":                  "metadata.a b extra_forbidden",
		"status=":                           "status enum",
		"status=UPLOADED":                   "status enum",
		"status=ERROR&status=error":         "status enum",
		"state=":                            "state enum",
		"state=open&state=OPEN":             "state enum",
		"state=ended&next=" + next:          "next page_token",
		"created_after=2026-01-01":          "created_after datetime",
		"created_before=":                   "created_before datetime",
		"created_before=1&created_before=2": "created_before repeated",
		"client_id=":                        "client_id uuid",
		"client_id=abc":                     "client_id uuid",
		"name=":                             "name string_too_short",
		"name=" + strings.Repeat("é", 129):  "name string_too_long",
		"name=%FF":                          "name string_type",
		"metadata.k=%FF":                    "metadata.k string_type",
		"metadata.k=1&metadata.k=1":         "metadata.k repeated",
		"limit=0":                           "limit number_range",
		"limit=201":                         "limit number_range",
		"limit=ten":                         "limit number_range",
		"limit=":                            "limit number_range",
		"next=":                             "next page_token",
		"next=nonsense":                     "next page_token",
		"status=ERROR&next=" + next:         "next page_token",
		"next=" + next[:len(next)-1]:        "next page_token",
	} {
		status, reply := a.list(t, query)
		details, _ := reply["detail"].([]any)
		if status != 422 || len(details) != 1 {
			t.Errorf("%s: got %d %v, want 422 with one detail", query, status, reply)
			continue
		}
		d := details[0].(map[string]any)
		if got := fmt.Sprint(d["loc"].([]any)[1], " ", d["type"]); got != want || d["loc"].([]any)[0] != "query" {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	if status, reply := a.list(t, "limit=0&other=1"); status != 422 || len(reply["detail"].([]any)) != 2 {
		t.Errorf("two faults: got %d %v, want both", status, reply)
	}
	for _, query := range []string{"next=" + next, "limit=7&next=" + next} { // the limit may change
		if status, reply := a.list(t, query); status != 200 || len(reply["batches"].([]any)) == 0 {
			t.Errorf("%s: got %d %v, want batches", query, status, reply)
		}
	}
	a.caller.Tenant = "t2"
	difftest.Reply(t, "the token of another tenant", 422)(a.list(t, "next="+next))
	a.caller.Permissions = []string{permission.BatchUpload}
	difftest.Reply(t, "without BatchRead", 403)(a.list(t, ""))
}

// A page of large records ends before the reply is too large, and the next one goes on after it.
func TestListOfLargeRecords(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	metadata := map[string]string{}
	for i := range 16 {
		metadata[fmt.Sprint("key-", i)] = strings.Repeat("\x01", 512) // six bytes each in JSON
	}
	const batches = 130
	for range batches {
		b := batchtest.NewBatch(t, "t1")
		b.Metadata = metadata
		b.CreatedAt = now.Add(-time.Minute)
		errtest.Fatal(t, a.batches.Create(t.Context(), b))
	}
	seen, pages := map[string]bool{}, 0
	for next := ""; ; pages++ {
		status, page := a.list(t, "limit=200"+next)
		if status != 200 {
			t.Fatalf("got %d %v, want 200", status, page)
		}
		for _, id := range ids(page) {
			if _, err := uuid.Parse(id); err != nil || seen[id] {
				t.Errorf("the batch %s is listed twice", id)
			}
			seen[id] = true
		}
		token, isText := page["next"].(string)
		if !isText {
			break
		}
		next = "&next=" + url.QueryEscape(token)
	}
	if len(seen) != batches || pages == 0 {
		t.Errorf("%d batches on %d pages, want %d on several", len(seen), pages+1, batches)
	}
}
