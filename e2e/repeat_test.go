package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/client"
	"sluice/openapi/wire"
)

// repeat sends a request with an idempotency key and returns the answer. It comes again when the service says so, as
// clients do: on a busy machine an earlier attempt may not have ended in time.
func (s *session) repeat(path, key, body string) (status int, header http.Header, text []byte) {
	s.t.Helper()
	eventually(s.t, "the end of an earlier attempt", func() bool {
		req := s.newRequest(http.MethodPost, path, body)
		req.Header.Set("Idempotency-Key", key)
		status, header, text = send(s.t, req)
		return status != http.StatusConflict || header.Get("Retry-After") == ""
	})
	return status, header, text
}

// replay repeats a request until the service replays a stored answer, or answers with an error. On a busy machine an
// answer is not always stored in time; the request is then carried out again under the same key.
func (s *session) replay(path, key, body string) (status int, header http.Header, text []byte) {
	s.t.Helper()
	eventually(s.t, "an answer that was kept", func() bool {
		status, header, text = s.repeat(path, key, body)
		return status/100 != 2 || header.Get("Idempotency-Replayed") == "true"
	})
	return status, header, text
}

// expectUpload repeats a request for an upload URL, whose answer must be replayed or not, and returns the answer.
func (s *session) expectUpload(key, body string, wantReplayed bool) (u client.Upload) {
	s.t.Helper()
	request := s.repeat
	if wantReplayed {
		request = s.replay
	}
	status, header, text := request(uploadPath, key, body)
	err := json.Unmarshal(text, &u)
	require(s.t, err == nil && status == 200 && (header.Get("Idempotency-Replayed") == "true") == wantReplayed,
		"got %d %s with %v, %v; want an upload, replayed: %t", status, text, header, err, wantReplayed)
	return u
}

// A request for an upload URL that is repeated with its key is about one batch, to its end and after it.
func TestUploadRepeated(t *testing.T) {
	s := begin(t)
	const body = `{"reject_on_invalid":false}`
	k := uuid.NewString()
	first := s.expectUpload(k, body, false)
	again := s.expectUpload(k, body, true)
	require(t, again.BatchID == first.BatchID && again.URL != "", "again: got %+v, want a URL for batch %s", again,
		first.BatchID)
	expectPut(t, 200, again, []byte(validLine().String()))
	if last, _ := s.follow(first.BatchID); last.Status != client.StatusProcessed || last.RejectOnInvalid {
		t.Errorf("the batch ended as %+v, want PROCESSED", last)
	}
	ended := s.expectUpload(k, body, true)
	if ended.BatchID != first.BatchID || ended.URL != "" ||
		ended.Message != "The batch awaits no upload: it is PROCESSED." {
		t.Errorf("after the end of the batch: got %+v, want the batch without a URL", ended)
	}
	status, _, text := s.repeat(uploadPath, k, "{}")
	assert(t, status == 422 && strings.Contains(string(text), `"type":"idempotency_key_reused"`),
		"another body: got %d %s, want 422 with idempotency_key_reused", status, text)
}

// A single transaction that is repeated with its key is stored once, and is not sent again over a later content.
func TestSingleTransactionRepeated(t *testing.T) {
	s := begin(t)
	l := validLine()
	text := l.String()
	key := l.modificationID()
	status, _, first := s.repeat(singlePath, key, text)
	require(t, status == 201, "got %d %s, want 201", status, first)
	l.withModification("amount", 99.5)
	if status, header, body := s.repeat(singlePath, key, l.String()); status != 422 {
		t.Errorf("another content with the same key: got %d %s %v, want 422", status, body, header)
	}
	if status, _, body := s.repeat(singlePath, key+" 2", l.String()); status != 201 {
		t.Errorf("another content with another key: got %d %s, want 201", status, body)
	}
	status, header, again := s.replay(singlePath, key, text)
	assert(t, status == 201 && string(again) == string(first) && header.Get("Idempotency-Replayed") == "true",
		"again: got %d %s %v, want 201 %s, replayed", status, again, header, first)
	s.expectStored(l, "", 0)
	if status, header, body := s.repeat(uploadPath, key, "{}"); status != 200 ||
		header.Get("Idempotency-Replayed") != "" {
		t.Errorf("the same key on the other path: got %d %s %v, want a batch of its own", status, body, header)
	}
}

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
	got := client.UploadOptions{ValidateOnly: last.ValidateOnly, MaxRejected: last.MaxRejected,
		Name: wire.OrZero(last.Name), Metadata: last.Metadata}
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
	if r.Valid == nil || *r.Valid || !r.ValidateOnly || wire.OrZero(r.Name) != o.Name ||
		!cmp.Equal(r.Metadata, o.Metadata) ||
		r.Message != "Batch validated with errors. Nothing was ingested, because validate_only is true." {
		t.Errorf("results %+v, want an invalid line and that nothing was ingested", r)
	}
	report := api.report(last.BatchID)
	assert(t, len(report) == 1 && report[0].Line == 4, "report %+v, want line 4 alone", report)
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
}

// The command line asks for what a request can say, and shows it.
func TestCommandLineRequestFields(t *testing.T) {
	api := begin(t)
	path := writeFile(t, "batch.jsonl", append(jsonLines(validLines(1)...), "nonsense\n"...))
	stdout, stderr, code := api.command("upload", path, "--quiet", "--validate-only",
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
		stdout, stderr, code := api.command(command, id)
		for _, part := range want {
			assert(t, code == 1 && strings.Contains(stdout, part),
				"%s: exit code %d, stderr %q, stdout\n%s\nwant 1 and %q", command, code, stderr, stdout, part)
		}
	}
}
