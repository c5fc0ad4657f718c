package e2e

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/client"
)

// processWith processes a file as the options say, and returns the last status and those that were seen.
func (s *session) processWith(o client.UploadOptions, file []byte) (client.Status, []string) {
	s.t.Helper()
	u := ok(s.client.CreateUploadWith(s.t.Context(), o))(s.t)
	must(s.t, s.client.UploadFile(s.t.Context(), u, bytes.NewReader(file), int64(len(file)), nil))
	return s.follow(u.BatchID)
}

// A batch that is validate_only ends with its validation: it has results and a report, and nothing of it is stored. The
// same file can be ingested after it.
func TestValidateOnly(t *testing.T) {
	api := begin(t)
	lines := validLines(3)
	file := append(jsonLines(lines...), "nonsense\n"...)
	o := client.UploadOptions{ValidateOnly: true, MaxRejected: &client.RejectLimit{Share: "25%"}, Name: "Probe 😀",
		Metadata: map[string]string{"region": "Århus", "run.no-1": ""}}
	last, seen := api.processWith(o, file)
	require(t, last.Status == client.StatusProcessed && last.ErrorMessage == "" && last.ValidateOnly,
		"the batch ended as %+v, want PROCESSED with validate_only", last)
	assert(t, isInOrder(seen, []string{client.StatusValidationStarted, client.StatusProcessed}),
		"seen %v, want no status of ingestion", seen)
	equal(t, "counts", countsOf(4, 3, 1, 0), last.Counts)
	got := client.UploadOptions{ValidateOnly: last.ValidateOnly, MaxRejected: last.MaxRejected, Name: last.Name,
		Metadata: last.Metadata}
	equal(t, "what was asked for", o, got)
	var history []string
	for _, entry := range last.History {
		history = append(history, entry.Status)
	}
	if n := len(history); !slices.Equal(history, []string{client.StatusValidationStarted, client.StatusProcessed}) ||
		!last.History[n-1].At.Equal(last.UpdatedAt) || last.ClientID != environment.ClientID {
		t.Errorf("history %+v of client %s, want that of a validation that ended at %v", last.History, last.ClientID,
			last.UpdatedAt)
	}
	r := api.result(last.BatchID)
	if r.Valid == nil || *r.Valid || !r.ValidateOnly || r.Name != o.Name || !cmp.Equal(r.Metadata, o.Metadata) ||
		r.Message != "Batch validated with errors. Nothing was ingested, because validate_only is true." {
		t.Errorf("results %+v, want an invalid line and that nothing was ingested", r)
	}
	if report := api.report(last.BatchID); len(report) != 1 || report[0].Line != 4 {
		t.Errorf("report %+v, want line 4 alone", report)
	}
	for _, l := range lines {
		api.expectNotStored(l)
	}
	if environment.supports(eventLog, t.Name()) {
		api.expectAnnounced(last)
	}
	o.ValidateOnly = false
	if last, _ = api.processWith(o, file); last.Status != client.StatusProcessed {
		t.Fatalf("the same file without validate_only ended as %+v, want PROCESSED", last)
	}
	api.expectStored(lines[2], last.BatchID, 3)
}

// max_rejected rejects a batch that has more invalid lines, and says how many and what the limit was.
func TestMaxRejected(t *testing.T) {
	api := begin(t)
	lines := validLines(2)
	file := append(jsonLines(lines...), "nonsense\n{}\n"...)
	last, _ := api.processWith(client.UploadOptions{MaxRejected: &client.RejectLimit{Lines: 1}}, file)
	const message = "2 of 4 transactions are invalid and max_rejected is 1, so nothing was ingested; " +
		"the validation report lists their errors."
	assert(t, last.Status == client.StatusValidationFailed && last.ErrorMessage == message && !last.RejectOnInvalid,
		"more than the limit: %+v, want VALIDATION_FAILED (%s)", last, message)
	api.expectNotStored(lines[0])
	last, _ = api.processWith(client.UploadOptions{MaxRejected: &client.RejectLimit{Lines: 2}}, file)
	assert(t, last.Status == client.StatusProcessed, "as many as the limit: %+v, want PROCESSED", last)
	api.expectStored(lines[0], last.BatchID, 1)
	for body, code := range map[string]string{
		`{"max_rejected":1,"reject_on_invalid":true}`: "mutually_exclusive", `{"max_rejected":"0.5"}`: "share",
		`{"metadata":{"a b":"c"}}`: "metadata_key", `{"name":""}`: "string_too_short",
	} {
		api.expect(http.StatusUnprocessableEntity, http.MethodPost, uploadPath, body, `"`+code+`"`)
	}
	var reply client.Upload
	api.expectReply(200, "POST", uploadPath, `{"max_rejects":1,"name":null}`, &reply)
	assert(t, slices.Equal(reply.IgnoredParameters, []string{"max_rejects"}),
		"a misspelt key: got %+v, want it to be named", reply)
}

// The command line asks for what a request can say, and shows it.
func TestCommandLineRequestFields(t *testing.T) {
	t.Parallel()
	onboardEntities(t, environment)
	path := writeFile(t, "batch.jsonl", append(jsonLines(validLines(1)...), "nonsense\n"...))
	stdout, stderr, code := login(t, environment).command("upload", path, "--quiet", "--validate-only",
		"--max-rejected", "50.0%",
		"--name", "part 2", "--metadata", "region=north=1", "--metadata", "run=")
	id := strings.TrimSpace(stdout)
	require(t, code == 1 && len(id) == 36, "exit code %d, stdout %q, stderr %q; want 1 and an ID", code, stdout, stderr)
	for command, want := range map[string][]string{
		"status": {"PROCESSED: the batch is validated; nothing of it is stored, as was asked for\n",
			"2 lines, 1 accepted, 1 invalid, 0 stored\nname part 2\nregion=north=1\nrun=\nreceived ",
			"  VALIDATION_STARTED\n"},
		"results": {"Batch validated with errors. Nothing was ingested, because validate_only is true.\n",
			"name part 2\nregion=north=1\nrun=\n"},
	} {
		stdout, stderr, code := login(t, environment).command(command, id)
		for _, part := range want {
			assert(t, code == 1 && strings.Contains(stdout, part),
				"%s: exit code %d, stderr %q, stdout\n%s\nwant 1 and %q", command, code, stderr, stdout, part)
		}
	}
	for _, flags := range [][]string{
		{"--max-rejected", "1", "--reject-on-invalid"}, {"--metadata", "x"}, {"--metadata", "a=1", "--metadata", "a=2"},
		{"--name", ""}, {"--max-rejected", "a few"},
	} {
		if stdout, stderr, code := login(t, environment).command(append([]string{"upload", path},
			flags...)...); code != 2 ||
			stdout != "" {
			t.Errorf("upload %v: exit code %d, stdout %q, stderr %q; want 2 and nothing", flags, code, stdout, stderr)
		}
	}
}
