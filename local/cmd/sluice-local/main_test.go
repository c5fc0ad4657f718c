package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/cli"
	"sluice/internal/localcloud"
	"sluice/local/cloud"
)

// program is the path of the executable built for these tests.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sluice-local-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "sluice-local")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func TestStartStopRestart(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	first := start(t, data)
	other := start(t, filepath.Join(t.TempDir(), "other")) // at the same time
	if other.APIURL == first.APIURL || other.ClientID == first.ClientID {
		t.Error("two local clouds share an address or a client")
	}
	if err := other.stop(t, syscall.SIGTERM); err != nil {
		t.Errorf("end by SIGTERM: %v, want nil", err)
	}
	stored, err := os.ReadFile(filepath.Join(data, "local.json"))
	if err != nil {
		t.Fatal(err)
	}
	var descriptor localcloud.Descriptor
	if err := json.Unmarshal(stored, &descriptor); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.Descriptor, descriptor); diff != "" {
		t.Errorf("local.json (-ready file +local.json):\n%s", diff)
	}
	for _, name := range []string{filepath.Join(data, "local.json"), first.ready} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v; want 0600", name, info.Mode(), err)
		}
	}
	if !strings.HasPrefix(first.APIURL, "http://127.0.0.1:") || first.Scope != "tenant/"+first.TenantID ||
		first.Prefix != "sluice" {
		t.Errorf("descriptor %+v, want an address of this machine, the scope of the tenant and the default prefix",
			first.Descriptor)
	}
	for _, want := range []string{first.ClientID, first.ClientSecret, first.TokenURL, "No clamd is set"} {
		if !strings.Contains(first.output.String(), want) {
			t.Errorf("the output does not contain %s", want)
		}
	}
	token := first.token(t)

	processes := childProcesses(t, first.cmd.Process.Pid)
	if len(processes) < 2 {
		t.Errorf("%d child processes, want at least the DynamoDB server and a function", len(processes))
	}
	if err := first.stop(t, os.Interrupt); err != nil {
		t.Errorf("end by SIGINT: %v, want nil\n%s", err, first.output)
	}
	for _, pid := range processes {
		if isRunning(pid) {
			t.Errorf("process %d still runs", pid)
		}
	}
	if _, err := os.Stat(first.ready); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the ready file still exists: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(data, "tmp", "*")); len(left) > 0 {
		t.Errorf("temporary files still exist: %v", left)
	}

	// Another program may take a port between two runs, which is then replaced; it does not each time.
	for before, attempt := first, 1; ; attempt++ {
		after := start(t, data)
		diff := cmp.Diff(before.Descriptor, after.Descriptor)
		status := after.status(t, token, "01900000-0000-7000-8000-000000000000")
		token = after.token(t)
		_ = after.stop(t, os.Interrupt)
		if diff == "" && status == 404 {
			return
		}
		if before = after; attempt == 3 {
			t.Fatalf("status with a token from before the restart: %d, want 404; descriptor (-before +after):\n%s",
				status, diff)
		}
	}
}

// The processes of a local cloud that is killed end with it, and its data folder can be used again.
func TestKill(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	r := start(t, data)
	processes := childProcesses(t, r.cmd.Process.Pid)
	_ = r.stop(t, os.Kill)
	for _, pid := range processes {
		waitUntil(t, "the end of the process", func() bool { return !isRunning(pid) })
	}
	_ = start(t, data).stop(t, os.Interrupt)
}

func (r *localCloud) token(t *testing.T) string {
	t.Helper()
	resp, err := http.PostForm(r.TokenURL, url.Values{"grant_type": {"client_credentials"}, "client_id": {r.ClientID},
		"client_secret": {r.ClientSecret}, "scope": {r.Scope}})
	if err != nil {
		t.Fatal(err)
	}
	var reply struct {
		Token string `json:"access_token"`
	}
	decode(t, resp, &reply)
	return reply.Token
}

func decode(t *testing.T, resp *http.Response, into any) {
	t.Helper()
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func (r *localCloud) do(t *testing.T, method, url, token string, body io.Reader) *http.Response {
	t.Helper()
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if method == http.MethodPut {
		req.Header.Set("If-None-Match", "*")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

const batches = "/tm/realtime/api/transactions/batch/"

func (r *localCloud) status(t *testing.T, token, id string) int {
	t.Helper()
	resp := r.do(t, http.MethodGet, r.APIURL+batches+"status/"+id, token, nil)
	resp.Body.Close()
	return resp.StatusCode
}

// An upload starts the scan, the scan starts the state machine, and the state machine ends the batch. The figures for
// Prometheus have it.
func TestUploadIsProcessed(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	r := start(t, data, "--metrics", "127.0.0.1:0")
	if status := r.status(t, "", "any"); status != 401 {
		t.Errorf("status without a token: %d, want 401", status)
	}
	token := r.token(t)
	var given struct {
		ID  string `json:"batch_id"`
		URL string `json:"url"`
	}
	resp := r.do(t, http.MethodPost, r.APIURL+batches+"generate-upload-url", token, nil)
	decode(t, resp, &given)
	resp = r.do(t, http.MethodPut, given.URL, "", strings.NewReader("{}\n"))
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Fatalf("upload: %s, want 200", resp.Status)
	}
	var batch struct{ Status string }
	waitUntil(t, "the end of the batch", func() bool {
		decode(t, r.do(t, http.MethodGet, r.APIURL+batches+"status/"+given.ID, token, nil), &batch)
		return batch.Status == "VALIDATION_FAILED" || batch.Status == "ERROR"
	})
	if batch.Status != "VALIDATION_FAILED" {
		t.Errorf("the batch ended with %s, want VALIDATION_FAILED", batch.Status)
	}
	// The status is visible before the step that wrote it has ended.
	for _, want := range []string{"sluice-scan ", "sluice-verdict ", "platform.report"} {
		waitUntil(t, want+"in the log", func() bool {
			log, err := os.ReadFile(filepath.Join(data, "logs", "functions.log"))
			return err == nil && strings.Contains(string(log), want)
		})
	}
	address := regexp.MustCompile(`http://\S+/metrics`).FindString(r.output.String())
	waitUntil(t, "the verdict in the figures", func() bool {
		resp := r.do(t, http.MethodGet, address, "", nil)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return err == nil && strings.Contains(string(text), "\nsluice_step_findings_total{step=\"verdict\"} 1\n") &&
			strings.Contains(string(text), "\nsluice_ended_batches_total{status=\"VALIDATION_FAILED\"} 1\n")
	})
	_ = r.stop(t, os.Interrupt)
}

// projectTemplate returns the text of the template.
func projectTemplate(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(projectDir(t), "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// newProject creates a project with another template and, optionally, the built programs.
func newProject(t *testing.T, template string, binaries bool) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "template.yaml"), []byte(template), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"statemachine", "bin"} {
		if name == "bin" && !binaries {
			continue
		}
		if err := os.Symlink(filepath.Join(projectDir(t), name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A local cloud that cannot start prints one line and ends with exit code 2.
func TestStartErrors(t *testing.T) {
	root, template := projectDir(t), projectTemplate(t)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	port := fmt.Sprint(busy.Addr().(*net.TCPAddr).Port)
	data := t.TempDir()
	first := start(t, data)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"folder in use", []string{"--data", data}, "another local cloud runs on the data folder " + data},
		{"folder is a file", []string{"--data", file}, "data folder"},
		{"API port", []string{"--port-api", port}, "port " + port + " is in use"},
		{"metrics port", []string{"--metrics", "127.0.0.1:" + port}, "metrics cannot be served"},
		{"S3 port", []string{"--port-s3", port}, "port " + port + " is in use"},
		{"AWS port", []string{"--port-aws", port}, "port " + port + " is in use"},
		{"DynamoDB port", []string{"--port-dynamodb", port}, "port " + port + " is in use"},
		{"foreign address", []string{"--listen", "192.0.2.1"}, "192.0.2.1"},
		{"unknown parameter", []string{"--set", "Nothing=1"}, "Nothing"},
		{"wrong parameter", []string{"--set", "ChunkBytes=many"}, "ChunkBytes"},
		{"no template", []string{"--project", t.TempDir()}, "template.yaml"},
		{
			"broken template",
			[]string{
				"--project",
				newProject(t, strings.Replace(template, "!Ref AnnounceFunction", "!Ref NoFunction", 1), true),
			},
			"NoFunction",
		},
		{
			"missing tools",
			[]string{"--project", newProject(t, template, false)},
			"dynoxide is missing: run `make build`",
		},
		{"argument", []string{"now"}, "takes no arguments"},
		{"unknown limit", []string{"--limit", "speed=1"}, "the limits are concurrency=N, writes=TABLE:UNITS and api"},
		{"limit of no table", []string{"--limit", "writes=batches"}, "such as writes=transactions:100"},
		{"limit of an unknown table", []string{"--limit", "writes=nothing:1"},
			"there is no such table; the tables are "},
		{"limit with a value", []string{"--limit", "api=5"}, "ThrottlingRate and ThrottlingBurst"},
		{"wrong limit", []string{"--limit", "concurrency=0"}, "1 or more, such as concurrency=10"},
		{
			"limit below what is reserved",
			[]string{"--limit", "concurrency=104", "--set", "CloseConcurrency=5"},
			"function sluice-close: its ReservedConcurrentExecutions of 5 would leave 99",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			args := append([]string{"--project", root, "--data", t.TempDir()}, test.args...)
			cmd := exec.Command(program, args...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			err := cmd.Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("ended with %v, want exit code 2", err)
			}
			if got := stderr.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, test.want) {
				t.Errorf("printed %q, want one line with %q", got, test.want)
			}
		})
	}
	_ = first.stop(t, os.Interrupt)
}

func TestOptions(t *testing.T) {
	// parse returns the options of a command line and the exit code.
	parse := func(data string, args ...string) (cloud.Options, int) {
		var options cloud.Options
		command := newCommand(func(string) string { return data }, func(_ context.Context, o cloud.Options) error {
			options = o
			return nil
		})
		code := command.Main(t.Context(), args, io.Discard, io.Discard)
		return options, code
	}
	o, code := parse("from-env", "--set", "A=1", "--set", "B=x=y", "--port-api", "8080", "--limit", "concurrency=10",
		"--limit", "writes=batches:2", "--limit", "writes=*:3", "--limit", "api")
	if code != 0 || o.Limits.Concurrency != 10 || o.Limits.Writes["batches"] != 2 || o.Limits.Writes["*"] != 3 ||
		!o.Limits.API || o.Data != "from-env" || o.Set["A"] != "1" || o.Set["B"] != "x=y" || o.Ports.API != 8080 ||
		o.Host != "127.0.0.1" {
		t.Errorf("exit code %d, options %+v; want 0 with data from-env, A=1, B=x=y, port 8080 and host 127.0.0.1", code,
			o)
	}
	if o, code = parse("", "--data", "d"); code != 0 || o.Data != "d" || o.Project == "" {
		t.Errorf("exit code %d, options %+v; want 0 with data d and a project", code, o)
	}
	for _, args := range [][]string{{"--set", "A"}, {"--set", "=1"}, {"--nothing"}, {"--port-api", "x"}, {"more"}} {
		if _, code := parse("from-env", args...); code != cli.ExitFailed {
			t.Errorf("%v: exit code %d, want %d", args, code, cli.ExitFailed)
		}
	}
}
