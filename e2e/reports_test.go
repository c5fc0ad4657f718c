package e2e

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/client"
	"sluice/openapi/wire"
	"sluice/shared/kit/difftest"
)

// What was rejected is a file: mended and sent again, it is a valid batch, and with the lines that were accepted it is
// all that was sent.
func TestRejectedLinesMendedAndSentAgain(t *testing.T) {
	api := begin(t)
	good := validLines(4)
	twin := validLine()
	lines := []string{
		good[0].String(),
		validLine().with("payment_type", "=payout").String(),
		"",
		good[1].String() + "\r",
		validLine().withModification("external_id", "-1+1").withModification("currency", "eur").String() + "\r",
		twin.String(),
		strings.Repeat(" ", 1<<18+1), // a line that is too long has nothing that could be mended
		validLine().withSender("nobody").String(),
		good[2].String(),
		twin.String(),
		good[3].String(),
		strings.TrimSuffix(validLine().String(), "}"),
	}
	file := []byte("\xEF\xBB\xBF" + strings.Join(lines, "\n"))
	last := api.process(false, file)
	if diff := cmp.Diff(countsOf(11, 4, 7, 4), last.Counts); last.Status != "PROCESSED" || diff != "" {
		t.Fatalf("the batch ended with %s (%q), counts (-want +got):\n%s", last.Status, last.ErrorMessage, diff)
	}
	r := api.result(last.BatchID)
	var want strings.Builder
	for _, i := range []int{1, 4, 5, 7, 9, 11} {
		want.WriteString(lines[i] + "\n")
	}
	_, header, rejected := download(t, wire.OrZero(r.RejectedFileURL))
	if diff := cmp.Diff(want.String(), rejected); diff != "" || *r.RejectedLeftOut != 1 {
		t.Errorf("%d lines left out, want 1; rejected lines (-want +got):\n%s", *r.RejectedLeftOut, diff)
	}
	got := header.Get("Content-Type")
	assert(t, got == "application/x-ndjson", "the rejected lines are %q, want application/x-ndjson", got)
	report := api.report(last.BatchID)
	expectCSV(t, r, report)
	expectSummary(t, r, report)
	expectFilesOfCommands(t, last.BatchID, file, r)

	mended := strings.NewReplacer("=payout", "payout", `"eur"`, `"EUR"`, "nobody", senderID).Replace(rejected)
	mended = strings.Replace(mended, twin.modificationID(), validLine().modificationID(), 1)
	mended = strings.TrimSuffix(mended, "\n") + "}"
	again := api.expectProcess("PROCESSED", []byte(mended))
	equal(t, "counts of the mended batch", countsOf(6, 6, 0, 6), again.Counts)
	if r := api.result(again.BatchID); r.ErrorsCSVURL != nil || r.RejectedFileURL != nil || r.Summary == nil ||
		len(r.Summary) > 0 || r.RejectedLeftOut == nil || *r.RejectedLeftOut != 0 {
		t.Errorf("results of a valid batch are %+v, want no files and an empty summary", r)
	}
	status, _, _ := download(t, strings.Replace(*r.RejectedFileURL, "X-Amz-Signature=", "X-Amz-Signature=f", 1))
	assert(t, status == 403, "a URL with another signature: %d, want 403", status)
}

// expectFilesOfCommands requires that the command line stores the files of the results, and makes the same without the
// service.
func expectFilesOfCommands(t *testing.T, batchID string, file []byte, r client.ValidationResult) {
	t.Helper()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	entities := fmt.Sprintf("{\"id\":%q,\"status\":\"Compliant\"}\n{\"id\":%q,\"status\":\"Compliant\"}\n", senderID,
		receiverID)
	for name, content := range map[string][]byte{"batch.jsonl": file, "entities": []byte(entities)} {
		must(t, os.WriteFile(path(name), content, 0o600))
	}
	_, _, wantCSV := download(t, wire.OrZero(r.ErrorsCSVURL))
	_, _, wantRejected := download(t, wire.OrZero(r.RejectedFileURL))
	files := []string{"--csv", path("errors.csv"), "--rejected", path("mend.jsonl")}
	for name, run := range map[string]func() (stdout, stderr string, code int, err error){
		"results": func() (string, string, int, error) {
			stdout, stderr, code := login(t, environment).command(append([]string{"results", batchID}, files...)...)
			return stdout, stderr, code, nil
		},
		"validate": func() (string, string, int, error) {
			return environment.runSluice(append([]string{"validate", path("batch.jsonl"), "--entities",
				path("entities")}, files...)...)
		},
	} {
		stdout, stderr, code, err := run()
		assert(t, err == nil && code == 1 && strings.Contains(stdout, "1 rejected line is left out"),
			"%s ended with %d, %v, want 1 and what was left out:\n%s%s", name, code, err, stdout, stderr)
		for file, want := range map[string]string{"errors.csv": wantCSV, "mend.jsonl": wantRejected} {
			if got, err := os.ReadFile(path(file)); err != nil || string(got) != want {
				t.Errorf("%s made another %s than the service, %v (-want +got):\n%s", name, file, err,
					cmp.Diff(want, string(got)))
			}
		}
	}
}

// expectCSV compares the report as CSV with the report.
func expectCSV(t *testing.T, r client.ValidationResult, entries []client.ReportLine) {
	t.Helper()
	_, header, text := download(t, wire.OrZero(r.ErrorsCSVURL))
	got := header.Get("Content-Type")
	assert(t, got == "text/csv; charset=utf-8", "the CSV is %q, want text/csv; charset=utf-8", got)
	records := ok(csv.NewReader(strings.NewReader(text)).ReadAll())(t)
	want := [][]string{{"line", "modification_external_id", "transaction_external_id", "code", "field", "message",
		"offset"}}
	// A spreadsheet would compute an ID that begins with a sign.
	id := func(s string) string { return strings.Replace(s, "-1+1", "'-1+1", 1) }
	for _, l := range entries {
		line, modification, transaction := fmt.Sprint(l.Line), id(l.ModificationExternalID), id(l.TransactionExternalID)
		for _, e := range l.Errors {
			want = append(want, []string{line, modification, transaction, e.Type, e.Pointer, e.Msg,
				fmt.Sprint(e.Offset)})
		}
		if len(l.Codes) > 0 {
			want = append(want, []string{line, modification, transaction, strings.Join(l.Codes, " "), "", "", ""})
		}
	}
	equal(t, "CSV", want, records)
}

// expectSummary compares the summary of the results with the report, whose entries are all full.
func expectSummary(t *testing.T, r client.ValidationResult, entries []client.ReportLine) {
	t.Helper()
	type key struct{ code, field string }
	want, got := map[key][]int64{}, map[key][]int64{}
	for _, l := range entries {
		for _, e := range l.Errors {
			want[key{e.Type, e.Pointer}] = append(want[key{e.Type, e.Pointer}], l.Line)
		}
	}
	for i, s := range r.Summary {
		k := key{s.Code, *s.Field}
		got[k] = s.FirstLines
		if n := len(want[k]); s.Count != int64(n) || s.Share != float64(n)/float64(*r.Counts.Total) {
			t.Errorf("%v occurs %d times with the share %v, want %d of %d", k, s.Count, s.Share, n, *r.Counts.Total)
		}
		assert(t, i <= 0 || s.Count <= r.Summary[i-1].Count, "%v comes after a code that is less frequent", k)
	}
	equal(t, "first lines", want, got)
}

// compactJSON removes the white space between the tokens of JSON, and what differs between two replies: signed URLs.
func compactJSON(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	err := json.Compact(&out, []byte(text))
	require(t, err == nil, "%q is not JSON: %v", text, err)
	return regexp.MustCompile(`"([a-z_]*_url[a-z_]*)":"[^"]*"`).ReplaceAllString(out.String(), `"$1":""`)
}

// The command line prints the service's replies as they are, from the batch without a file to its end, and its exit
// codes say where the batch is.
func TestCommandLinePrintsReplies(t *testing.T) {
	api := begin(t)
	compare := func(t *testing.T, batchID string, wantStatus, wantCode int) {
		t.Helper()
		for command, path := range map[string]string{"status": "status/", "results": "validation-result/"} {
			r := api.call(http.MethodGet, transactionsPath+"batch/"+path+batchID, "")
			stdout, stderr, code := api.command(command, batchID, "--json")
			assert(t, r.status == wantStatus && code == wantCode && stderr == "",
				"%s: HTTP %d, exit code %d, stderr %q; want %d, %d and nothing", command, r.status, code, stderr,
				wantStatus, wantCode)
			difftest.Equal(t, command+" --json printed", compactJSON(t, string(r.text)), compactJSON(t, stdout))
		}
	}
	compare(t, api.newUpload(true).BatchID, http.StatusAccepted, 3)
	compare(t, api.process(true, jsonLines(validLines(2)...)).BatchID, http.StatusOK, 0)
	compare(t, api.process(true, []byte("nonsense\n")).BatchID, http.StatusOK, 1)
}
