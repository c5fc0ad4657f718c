package batchhttp_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogtest"
)

func newScreeningAPI(t *testing.T) *api {
	t.Helper()
	a := newAPI(t)
	a.lists.Import(t, catalog.Shared, "un", catalogtest.Person("1", "Anatoly Velkanov"))
	a.lists.Import(t, "t1", "own", catalogtest.Person("1", "Anatoly Velkanov"))
	a.lists.Import(t, "t2", "secret", catalogtest.Person("1", "Anatoly Velkanov"))
	return a
}

func TestScreenUnknown(t *testing.T) {
	t.Parallel()
	a := newScreeningAPI(t)
	all := []string{"own", "un"}
	for _, test := range []struct {
		value string
		want  *batch.Screening
	}{
		{`null`, nil},
		{`{}`, &batch.Screening{Lists: all, Threshold: 80}},
		{`{"lists":null,"threshold":null,"on_hit":null,"other":1}`, &batch.Screening{Lists: all, Threshold: 80}},
		{`{"lists":["un","un"]}`, &batch.Screening{Lists: []string{"un"}, Threshold: 80}},
		{`{"threshold":0,"on_hit":"report"}`, &batch.Screening{Lists: all, Threshold: 0}},
		{`{"threshold":100}`, &batch.Screening{Lists: all, Threshold: 100}},
		{`{"threshold":82.5,"on_hit":"reject"}`, &batch.Screening{Lists: all, Threshold: 82.5, Reject: true}},
	} {
		id := a.generateUploadURL(t, `{"screen_unknown":`+test.value+`}`)["batch_id"].(string)
		b := errtest.Must(a.batches.Get(t.Context(), batch.ID(id)))(t)
		difftest.Equal(t, test.value+": screening", test.want, b.Screening)
	}
}

func TestScreenUnknownIsRefused(t *testing.T) {
	t.Parallel()
	a := newScreeningAPI(t)
	for value, want := range map[string]string{
		`true`:                  "screen_unknown object_type",
		`[]`:                    "screen_unknown object_type",
		`{"lists":"un"}`:        "screen_unknown lists array_type",
		`{"lists":[1]}`:         "screen_unknown lists 0 string_type",
		`{"lists":[]}`:          "screen_unknown lists array_too_short",
		`{"lists":["un","eu"]}`: "screen_unknown lists unknown_list",
		`{"lists":["secret"]}`:  "screen_unknown lists unknown_list",
		`{"lists":[""]}`:        "screen_unknown lists unknown_list",
		`{"threshold":-0.1}`:    "screen_unknown threshold number_range",
		`{"threshold":100.1}`:   "screen_unknown threshold number_range",
		`{"threshold":"80"}`:    "screen_unknown threshold number_type",
		`{"on_hit":"Reject"}`:   "screen_unknown on_hit enum",
		`{"on_hit":""}`:         "screen_unknown on_hit enum",
		`{"on_hit":true}`:       "screen_unknown on_hit string_type",
		`{"lists":["` + strings.Repeat(`un","`, 50) + `un"]}`: "screen_unknown lists array_too_long",
	} {
		status, reply := a.call(t, "POST", "/batch/generate-upload-url", `{"screen_unknown":`+value+`}`)
		details, _ := reply["detail"].([]any)
		if status != 422 || len(details) != 1 {
			t.Errorf("%s: got %d %v, want 422 with one detail", value, status, reply)
			continue
		}
		d := details[0].(map[string]any)
		got := fmt.Sprint(append(d["loc"].([]any)[1:], d["type"])...)
		if strings.Join(strings.Fields(strings.ReplaceAll(got, " ", "")), "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s: got %s, want %s", value, got, want)
		}
		if strings.Contains(value, "eu") && !strings.Contains(d["msg"].(string), `"eu"`) {
			t.Errorf("%s: %q does not name the list", value, d["msg"])
		}
	}
	without := newAPI(t)
	difftest.Reply(t, "without any list", 422)(
		without.call(t, "POST", "/batch/generate-upload-url", `{"screen_unknown":{}}`))
}

// transitions returns the transitions of a batch from its upload to its verdict.
func transitions(v batch.Verdict) []batch.Transition {
	plan := chunk.NewPlan(1000, 100)
	return []batch.Transition{
		{To: batch.Uploaded, ReceivedAt: now, Object: &batch.Object{Key: "k", Size: 1000}},
		{To: batch.ValidationStarted, Plan: &plan},
		{To: batch.PendingIngestion, Verdict: &v},
	}
}

func TestScreeningResult(t *testing.T) {
	t.Parallel()
	a := newScreeningAPI(t)
	if status, reply := a.call(t, "GET", "/batch/screening-result/"+a.createBatch(t), ""); status != 404 ||
		reply["message"] != "The names of this batch are not screened." {
		t.Errorf("a batch that is not screened: got %d %v, want 404", status, reply)
	}
	id := a.generateUploadURL(t, `{"screen_unknown":{"lists":["un"]}}`)["batch_id"].(string)
	check := func(want int, message string, names, hits any) map[string]any {
		t.Helper()
		status, reply := a.call(t, "GET", "/batch/screening-result/"+id, "")
		if status != want || reply["message"] != message || reply["names_screened"] != names || reply["hits"] != hits {
			t.Errorf("got %d %v, want %d %q", status, reply, want, message)
		}
		return reply
	}
	version := batch.ListVersion{Owner: catalog.Shared, List: "un", Version: "v", SourceDate: now.AddDate(0, 0, -1)}
	changes := transitions(batch.Verdict{Total: 2, Accepted: 2, ReportKey: "report",
		Screening: &batch.ScreeningVerdict{Names: 7, Hits: 3, AlertsKey: "reports/alerts", AlertsShortened: true}})
	changes[1].ListVersions = []batch.ListVersion{version}
	check(202, "Batch not yet uploaded completely.", nil, nil)
	a.apply(t, id, changes[0])
	check(202, "Batch not yet validated.", nil, nil)
	a.apply(t, id, changes[1])
	check(202, "Batch not yet validated.", nil, nil)
	if _, status := a.call(t, "GET", "/batch/status/"+id, ""); status["names_screened"] != nil ||
		status["hits"] != nil {
		t.Errorf("status before the verdict: %v", status)
	}
	a.apply(t, id, changes[2])
	reply := check(200, "Batch screened with hits.", 7.0, 3.0)
	if url, _ := reply["alerts_file_url"].(string); !strings.Contains(url, "reports/alerts") ||
		reply["alerts_complete"] != false {
		t.Errorf("got %v, want the URL of the alerts", reply)
	}
	wantLists := []any{map[string]any{"list": "un", "version": "v",
		"source_date": version.SourceDate.Format(time.RFC3339)}}
	difftest.Equal(t, "lists", wantLists, reply["lists"])
	if _, status := a.call(t, "GET", "/batch/status/"+id, ""); status["names_screened"] != 7.0 ||
		status["hits"] != 3.0 {
		t.Errorf("status after the verdict: %v", status)
	}
	a.now = now.AddDate(0, 0, 31)
	if reply := check(200, "Batch screened with hits. The file of them was kept for 30 days and has been deleted.", 7.0,
		3.0); reply["alerts_file_url"] != nil {
		t.Errorf("got %v, want no URL", reply)
	}
	a.caller.Tenant = "t2"
	difftest.Reply(t, "of another tenant", 404)(a.call(t, "GET", "/batch/screening-result/"+id, ""))
}

func TestScreeningResultWithoutHits(t *testing.T) {
	t.Parallel()
	a := newScreeningAPI(t)
	for _, test := range []struct {
		name, message string
		last          batch.Transition
		names         any
	}{
		{"no hits", "Batch screened without hits.", batch.Transition{To: batch.PendingIngestion,
			Verdict: &batch.Verdict{Total: 1, Accepted: 1, ReportKey: "r",
				Screening: &batch.ScreeningVerdict{Names: 2}}}, 2.0},
		{"too many transactions", "too many", batch.Transition{To: batch.ValidationFailed, ErrorMessage: "too many",
			Verdict: &batch.Verdict{Outcome: batch.TooManyTransactions, Total: 9}}, nil},
		{"failed", "failed", batch.Transition{To: batch.Failed, ErrorMessage: "failed"}, nil},
	} {
		id := a.generateUploadURL(t, `{"screen_unknown":{},"name":"n","metadata":{"k":"v"}}`)["batch_id"].(string)
		a.apply(t, id, transitions(batch.Verdict{})[:2]...)
		a.apply(t, id, test.last)
		status, reply := a.call(t, "GET", "/batch/screening-result/"+id, "")
		_, hasURL := reply["alerts_file_url"]
		if status != 200 || reply["message"] != test.message || reply["names_screened"] != test.names || hasURL ||
			reply["name"] != "n" || !cmp.Equal(reply["metadata"], any(map[string]any{"k": "v"})) {
			t.Errorf("%s: got %d %v", test.name, status, reply)
		}
	}
}
