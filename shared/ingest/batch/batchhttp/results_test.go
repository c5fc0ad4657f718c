package batchhttp_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/difftest"
)

// storage answers requests to S3 for objects, whose contents it has by their paths.
type storage map[string]string

func (s storage) Do(r *http.Request) (*http.Response, error) {
	status, content := http.StatusOK, s[r.URL.Path]
	switch content {
	case "": // the function may not list the bucket
		status, content = http.StatusForbidden, "<Error><Code>AccessDenied</Code></Error>"
	case "broken":
		status, content = http.StatusNotImplemented, "<Error><Code>NotImplemented</Code></Error>"
	}
	var from int
	if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); n == 1 && status == http.StatusOK {
		status, content = http.StatusPartialContent, content[from:]
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(content)),
		Request: r}, nil
}

const storedSummary = `{"counts":{"total":8,"accepted":5,"invalid":3},"codes":{},"report_complete":true,"fields":[` +
	`{"code":"enum","field":"/payment_type","count":1,"lines":1,"first_lines":[2]},` +
	`{"code":"missing","field":"","count":2,"lines":2,"first_lines":[4,7]},` +
	`{"code":"extra_forbidden","field":null,"count":9,"lines":2,"first_lines":[4,7]}]}`

// judgedBatch returns the ID of a batch of 8 lines with a verdict.
func (a *api) judgedBatch(t *testing.T, v batch.Verdict) string {
	t.Helper()
	id := a.createBatch(t)
	plan := chunk.NewPlan(100, 60)
	a.apply(t, id, batch.Transition{To: batch.Uploaded, ReceivedAt: now, Object: &batch.Object{Key: "k", Size: 100}},
		batch.Transition{To: batch.ValidationStarted, Plan: &plan, MaxLineBytes: 10},
		batch.Transition{To: batch.ValidationFailed, Verdict: &v, ErrorMessage: "x"})
	return id
}

func TestSummaryAndFilesOfResults(t *testing.T) {
	entry := func(code string, field any, count, share float64, first ...any) map[string]any {
		return map[string]any{"code": code, "field": field, "count": count, "share": share, "first_lines": first}
	}
	whole := []any{entry("extra_forbidden", nil, 9, 0.25, 4., 7.), entry("missing", "", 2, 0.25, 4., 7.),
		entry("enum", "/payment_type", 1, 0.125, 2.)}
	invalid := batch.Verdict{Total: 8, Accepted: 5, Invalid: 3, ReportKey: "reports/r", SummaryKey: "reports/s",
		CSVKey: "reports/c", RejectedKey: "reports/l", RejectedLeftOut: 1}
	with := func(change func(*batch.Verdict)) batch.Verdict {
		v := invalid
		change(&v)
		return v
	}
	for name, tt := range map[string]struct {
		verdict batch.Verdict
		summary any
		// csv and rejected are the file names of the URLs.
		csv, rejected string
		leftOut       any
	}{
		"invalid lines": {invalid, whole, "errors.csv", "rejected.jsonl", 1.},
		"all of them too long": {with(func(v *batch.Verdict) { v.RejectedKey, v.RejectedLeftOut = "", 3 }), whole,
			"errors.csv", "", 3.},
		"judged by an earlier release": {with(func(v *batch.Verdict) {
			v.RejectedKey, v.CSVKey, v.SummaryKey = "", "",
				"reports/old"
		}), nil, "", "", nil},
		"deleted summary": {with(func(v *batch.Verdict) { v.SummaryKey = "reports/gone" }), nil, "errors.csv",
			"rejected.jsonl", 1.},
		"valid": {batch.Verdict{Total: 8, Accepted: 8, ReportKey: "reports/r", SummaryKey: "reports/s"},
			[]any{}, "", "", 0.},
		"no transaction": {batch.Verdict{ReportKey: "reports/r", SummaryKey: "reports/s"}, []any{}, "", "", 0.},
		"too many":       {batch.Verdict{Outcome: batch.TooManyTransactions, Total: 8, Invalid: 1}, nil, "", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t)
			a.storage["/work/reports/s"] = storedSummary
			a.storage["/work/reports/old"] = `{"counts":{},"codes":{"enum":{"count":1,"examples":[]}}}`
			id := a.judgedBatch(t, tt.verdict)
			_, reply := a.call(t, "GET", "/batch/validation-result/"+id, "")
			difftest.Equal(t, "summary", tt.summary, reply["summary"])
			wantAccepted, wantInvalid := any(float64(tt.verdict.Accepted)), any(float64(tt.verdict.Invalid))
			if tt.verdict.Outcome == batch.TooManyTransactions { // its lines are not judged to the end
				wantAccepted, wantInvalid = nil, nil
			}
			counts := reply["counts"].(map[string]any)
			if counts["accepted"] != wantAccepted || counts["invalid"] != wantInvalid || counts["total"] == nil {
				t.Errorf("counts are %v, want %v accepted and %v invalid ones", counts, wantAccepted, wantInvalid)
			}
			if got, ok := reply["rejected_left_out"]; !ok || got != tt.leftOut {
				t.Errorf("rejected_left_out is %v, want %v", got, tt.leftOut)
			}
			for member, file := range map[string]string{"errors_csv_url": tt.csv, "rejected_file_url": tt.rejected,
				"receipt_url": "/batch/receipt/", "parquet_url": ""} {
				got, ok := reply[member]
				url, _ := got.(string)
				if !ok || (file == "") != (got == nil) || !strings.Contains(url, file) {
					t.Errorf("%s is %v, want a URL with %q, or null if that is empty", member, got, file)
				}
			}
		})
	}
	t.Run("storage that does not answer", func(t *testing.T) {
		a := newAPI(t)
		a.storage["/work/reports/s"] = "broken"
		difftest.Reply(t, "reply", 500)(a.call(t, "GET", "/batch/validation-result/"+a.judgedBatch(t, invalid), ""))
	})
}

// Each call signs all URLs anew, also within one second.
func TestResultsAreSignedAnew(t *testing.T) {
	a := newAPI(t)
	id := a.judgedBatch(t, batch.Verdict{Total: 1, Invalid: 1, ReportKey: "reports/r", SummaryKey: "reports/s",
		CSVKey: "reports/c", RejectedKey: "reports/l"})
	_, first := a.call(t, "GET", "/batch/validation-result/"+id, "")
	_, second := a.call(t, "GET", "/batch/validation-result/"+id, "")
	for _, member := range []string{"errors_file_url", "errors_csv_url", "rejected_file_url"} {
		if first[member] == nil || first[member] == second[member] {
			t.Errorf("%s is %v and then %v, want two URLs", member, first[member], second[member])
		}
	}
}
