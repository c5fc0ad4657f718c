package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// compactJSON removes the white space between the tokens of JSON, and what differs between two replies: signed URLs.
func compactJSON(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(text)); err != nil {
		t.Fatalf("%q is not JSON: %v", text, err)
	}
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
			stdout, stderr, code := login(t, environment).command(command, batchID, "--json")
			assert(t, r.status == wantStatus && code == wantCode && stderr == "",
				"%s: HTTP %d, exit code %d, stderr %q; want %d, %d and nothing", command, r.status, code, stderr,
				wantStatus, wantCode)
			if got, want := compactJSON(t, stdout), compactJSON(t, string(r.text)); got != want {
				t.Errorf("%s --json printed %s, want %s", command, got, want)
			}
		}
	}
	compare(t, api.newUpload(true).BatchID, http.StatusAccepted, 3)
	compare(t, api.process(true, jsonLines(validLines(2)...)).BatchID, http.StatusOK, 0)
	compare(t, api.process(true, []byte("nonsense\n")).BatchID, http.StatusOK, 1)
}

// upload prints one JSON value, stores the report, and names a file that is not JSON Lines instead of sending it.
func TestCommandLineUploads(t *testing.T) {
	t.Parallel()
	onboardEntities(t, environment)
	dir := t.TempDir()
	good := writeFile(t, "good.jsonl", jsonLines(validLines(2)...))
	stdout, stderr, code := login(t, environment).command("upload", good, "--json")
	var last struct {
		ID     string `json:"batch_id"`
		Status string `json:"status"`
	}
	if err := json.Unmarshal([]byte(stdout), &last); err != nil || code != 0 || last.Status != "PROCESSED" {
		t.Errorf("a good batch: exit code %d, stdout %q, stderr %q; want 0 and PROCESSED", code, stdout, stderr)
	}
	bad := writeFile(t, "bad.jsonl", append(jsonLines(validLines(1)...), "nonsense\n"...))
	report := filepath.Join(dir, "report.jsonl")
	stdout, stderr, code = login(t, environment).command("upload", bad, "--quiet", "--report", report)
	text, err := os.ReadFile(report)
	assert(t, err == nil && code == 1 && len(strings.TrimSpace(stdout)) == 36 && bytes.Count(text, []byte("\n")) == 1,
		"a bad batch: exit code %d, stdout %q, stderr %q, report %q (%v); want 1, an ID and a report "+"of a line",
		code, stdout, stderr, text, err)
	array := writeFile(t, "array.json", []byte("[\n{\"a\":1},\n{\"a\":2}\n]\n"))
	stdout, stderr, code = login(t, environment).command("upload", array)
	assert(t, code == 2 && stdout == "" && strings.Contains(stderr, "is one JSON array"),
		"an array: exit code %d, stdout %q, stderr %q; want 2 and that it is an array", code, stdout, stderr)
}

// A client logs in, uploads several files by one command, follows their batches, and logs out.
func TestCommandLineForScripts(t *testing.T) {
	t.Parallel()
	e := environment
	onboardEntities(t, e)
	program := ok(builtProgram("sluice"))(t)
	dir := t.TempDir()
	run := func(wantCode int, args ...string) string { // with the profile
		t.Helper()
		cmd := exec.Command(program, append([]string{args[0], "--profile", "e2e"}, args[1:]...)...)
		cmd.Env = append(os.Environ(), "SLUICE_DATA=", "XDG_CONFIG_HOME="+dir, "HOME="+dir) // where profiles are
		var stdout, stderr outputBuffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		must(t, startWithSuite(cmd))
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != wantCode {
			t.Fatalf("sluice %v: exit code %d, stdout %q, stderr %q; want %d", args, code, stdout.String(),
				stderr.String(), wantCode)
		}
		return stdout.String()
	}
	secret := writeFile(t, "secret", []byte(e.ClientSecret+"\n"))
	stdout := run(0, "login", "--api-url", e.APIURL, "--token-url", e.TokenURL, "--client-id", e.ClientID, "--tenant",
		e.TenantID, "--client-secret-file", secret)
	assert(t, !strings.Contains(stdout, e.ClientSecret), "login prints the secret: %q", stdout)
	first, second := writeFile(t, "first.jsonl", jsonLines(validLines(2)...)),
		writeFile(t, "second.jsonl", jsonLines(validLines(1)...))
	bad := writeFile(t, "bad.jsonl", append(jsonLines(validLines(1)...), "nonsense\n"...))
	ids := strings.Fields(run(0, "upload", first, second, "--detach", "--quiet"))
	require(t, len(ids) == 2, "upload --quiet printed %q, want two IDs", ids)
	if table := run(0, "status", "--follow", ids[0], ids[1]); strings.Count(table, "PROCESSED") != 2 {
		t.Errorf("status --follow printed %q, want two batches PROCESSED", table)
	}
	codes := map[string]int{}
	for line := range strings.Lines(run(1, "upload", first, bad, "--json", "--validate-only")) {
		var o struct {
			File string `json:"file"`
			Code int    `json:"exit_code"`
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Errorf("the line %q: %v", line, err)
		}
		codes[o.File] = o.Code
	}
	assert(t, len(codes) == 2 && codes[first] == 0 && codes[bad] == 1,
		"the outcomes are %v, want 0 of the good file and 1 of the bad one", codes)
	run(0, "logout")
	run(2, "status", ids[0])
}
