package main

import (
	"bytes"
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
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/localcloud"
)

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

// running is a local cloud in a process of its own.
type running struct {
	localcloud.Descriptor
	cmd    *exec.Cmd
	ready  string
	output *output
	exited chan error
}

type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func project(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "bin", "functions", "token")); err != nil {
		t.Fatalf("%v: run `make build` first", err)
	}
	return root
}

func start(t *testing.T, data string, args ...string) *running {
	t.Helper()
	r := &running{ready: filepath.Join(t.TempDir(), "ready.json"), output: &output{}, exited: make(chan error, 1)}
	r.cmd = exec.Command(program, append([]string{"--project", project(t), "--data", data, "--ready-file", r.ready}, args...)...)
	r.cmd.Stdout, r.cmd.Stderr = r.output, r.output
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.exited <- r.cmd.Wait() }()
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	var text []byte
	until(t, "it is ready", func() bool {
		select {
		case err := <-r.exited:
			t.Fatalf("it ended with %v:\n%s", err, r.output)
		default:
		}
		var err error
		text, err = os.ReadFile(r.ready)
		return err == nil
	})
	if err := json.Unmarshal(text, &r.Descriptor); err != nil {
		t.Fatal(err) // never half a file
	}
	return r
}

func (r *running) stop(t *testing.T, how os.Signal) error {
	t.Helper()
	if err := r.cmd.Process.Signal(how); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-r.exited:
		return err
	case <-time.After(10 * time.Second):
		t.Fatalf("it does not end:\n%s", r.output)
		return nil
	}
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); !holds(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within twenty seconds", what)
		}
	}
}

// children are the ids of the processes that a process has started, dead ones left out.
func children(t *testing.T, parent int) []int {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has just ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) && fields[0] != "Z" {
			found = append(found, pid)
		}
	}
	return found
}

func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	return err == nil && !strings.HasPrefix(rest, "Z")
}

func TestLife(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	first := start(t, data)
	other := start(t, filepath.Join(t.TempDir(), "other")) // beside it
	if other.APIURL == first.APIURL || other.ClientID == first.ClientID {
		t.Error("two local clouds share something")
	}
	if err := other.stop(t, syscall.SIGTERM); err != nil {
		t.Errorf("SIGTERM: %v", err)
	}
	kept, err := os.ReadFile(filepath.Join(data, "local.json"))
	if err != nil {
		t.Fatal(err)
	}
	var self localcloud.Descriptor
	if err := json.Unmarshal(kept, &self); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.Descriptor, self); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{filepath.Join(data, "local.json"), first.ready} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if !strings.HasPrefix(first.APIURL, "http://127.0.0.1:") || first.Scope != "tenant/"+first.TenantID || first.Prefix != "sluice" {
		t.Errorf("%+v", first.Descriptor)
	}
	for _, want := range []string{first.ClientID, first.ClientSecret, first.TokenURL, "No clamd is set"} {
		if !strings.Contains(first.output.String(), want) {
			t.Errorf("it does not print %s", want)
		}
	}
	token := first.token(t)

	processes := children(t, first.cmd.Process.Pid)
	if len(processes) < 2 {
		t.Errorf("only %d processes: want the DynamoDB server and a function", len(processes))
	}
	if err := first.stop(t, os.Interrupt); err != nil {
		t.Errorf("SIGINT: %v\n%s", err, first.output)
	}
	for _, pid := range processes {
		if alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
	if _, err := os.Stat(first.ready); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the ready file is left: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(data, "tmp", "*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}

	second := start(t, data)
	if diff := cmp.Diff(first.Descriptor, second.Descriptor); diff != "" {
		t.Errorf("after a restart: %s", diff)
	}
	if status := second.status(t, token, "01900000-0000-7000-8000-000000000000"); status != 404 {
		t.Errorf("with the token of before: %d", status)
	}
	_ = second.stop(t, os.Interrupt)
}

// A local cloud that is killed takes its processes with it, and the next one finds the folder free.
func TestKill(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	r := start(t, data)
	processes := children(t, r.cmd.Process.Pid)
	_ = r.stop(t, os.Kill)
	for _, pid := range processes {
		until(t, "the process ends", func() bool { return !alive(pid) })
	}
	_ = start(t, data).stop(t, os.Interrupt)
}

func (r *running) token(t *testing.T) string {
	t.Helper()
	resp, err := http.PostForm(r.TokenURL, url.Values{"grant_type": {"client_credentials"}, "client_id": {r.ClientID},
		"client_secret": {r.ClientSecret}, "scope": {r.Scope}})
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Token string `json:"access_token"`
	}
	decode(t, resp, &answer)
	return answer.Token
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

func (r *running) do(t *testing.T, method, url, token string, body io.Reader) *http.Response {
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

func (r *running) status(t *testing.T, token, id string) int {
	t.Helper()
	resp := r.do(t, http.MethodGet, r.APIURL+batches+"status/"+id, token, nil)
	resp.Body.Close()
	return resp.StatusCode
}

// The whole way, once: an upload wakes the scanner, which starts the state machine, which ends the batch.
func TestUploadIsProcessed(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	r := start(t, data)
	if status := r.status(t, "", "any"); status != 401 {
		t.Errorf("without a token: %d", status)
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
		t.Fatalf("upload: %s", resp.Status)
	}
	var batch struct{ Status string }
	until(t, "the batch ends", func() bool {
		decode(t, r.do(t, http.MethodGet, r.APIURL+batches+"status/"+given.ID, token, nil), &batch)
		return batch.Status == "VALIDATION_FAILED" || batch.Status == "ERROR"
	})
	if batch.Status != "VALIDATION_FAILED" {
		t.Errorf("the batch ends as %s", batch.Status)
	}
	// The state can be seen a moment before the step that wrote it has ended.
	for _, want := range []string{"sluice-scan ", "sluice-verdict ", "platform.report"} {
		until(t, "the log has "+want, func() bool {
			log, err := os.ReadFile(filepath.Join(data, "logs", "functions.log"))
			return err == nil && strings.Contains(string(log), want)
		})
	}
	_ = r.stop(t, os.Interrupt)
}

// declared is the text of the template.
func declared(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(project(t), "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// elsewhere is a project with another template and, perhaps, our binaries.
func elsewhere(t *testing.T, template string, binaries bool) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "template.yaml"), []byte(template), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"statemachine", "bin"} {
		if name == "bin" && !binaries {
			continue
		}
		if err := os.Symlink(filepath.Join(project(t), name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What keeps a local cloud from starting is said in one line, and the exit code is 2.
func TestSentences(t *testing.T) {
	root, template := project(t), declared(t)
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
		{"S3 port", []string{"--port-s3", port}, "port " + port + " is in use"},
		{"AWS port", []string{"--port-aws", port}, "port " + port + " is in use"},
		{"DynamoDB port", []string{"--port-dynamodb", port}, "port " + port + " is in use"},
		{"foreign address", []string{"--listen", "192.0.2.1"}, "192.0.2.1"},
		{"unknown parameter", []string{"--set", "Nothing=1"}, "Nothing"},
		{"wrong parameter", []string{"--set", "ChunkBytes=many"}, "ChunkBytes"},
		{"no template", []string{"--project", t.TempDir()}, "template.yaml"},
		{"broken template", []string{"--project", elsewhere(t, strings.Replace(template, "!Ref BatchesTable", "!Ref NoTable", 1), true)},
			"NoTable"},
		{"missing tools", []string{"--project", elsewhere(t, template, false)}, "dynoxide is missing: run `make build`"},
		{"argument", []string{"now"}, `"now"`},
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
				t.Errorf("ended with %v", err)
			}
			if got := stderr.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, test.want) {
				t.Errorf("it says %q, want one line with %q", got, test.want)
			}
		})
	}
	_ = first.stop(t, os.Interrupt)
}

func TestOptions(t *testing.T) {
	env := func(string) string { return "from-env" }
	o, err := parse([]string{"--set", "A=1", "--set", "B=x=y", "--port-api", "8080"}, env, io.Discard)
	if err != nil || o.Data != "from-env" || o.Set["A"] != "1" || o.Set["B"] != "x=y" || o.Ports.API != 8080 || o.Host != "127.0.0.1" {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err = parse([]string{"--data", "d"}, func(string) string { return "" }, io.Discard); err != nil || o.Data != "d" || o.Project == "" {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range [][]string{{"--set", "A"}, {"--set", "=1"}, {"--nothing"}, {"--port-api", "x"}, {"more"}} {
		if _, err := parse(args, env, io.Discard); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
