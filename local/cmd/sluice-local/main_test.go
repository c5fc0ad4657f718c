package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/command"
	"sluice/internal/environ"
	"sluice/internal/localcloud"
	"sluice/local/cloud"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// runsProgram is the variable that makes the executable of the tests the program itself.
const runsProgram = "SLUICE_LOCAL_RUNS"

// TestMain runs the tests, or the program if a test has started it: the program is linked once, with the tests.
func TestMain(m *testing.M) {
	if os.Getenv(runsProgram) != "" {
		main()
		return
	}
	environ.Unset("SLUICE_", "AWS_")
	os.Exit(m.Run())
}

// newProgram returns a command that runs the program. It ends with the context.
func newProgram(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	executable := errtest.Must(os.Executable())(t)
	cmd := exec.CommandContext(ctx, executable, args...)
	cmd.Env = append(os.Environ(), runsProgram+"=1")
	return cmd
}

func TestStartStopRestart(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	first := start(t, data)
	other := start(t, filepath.Join(t.TempDir(), "other")) // at the same time
	if other.APIURL == first.APIURL || other.ClientID == first.ClientID {
		t.Error("two local clouds share an address or a client")
	}
	errtest.Is(t, "end by SIGTERM", other.stop(t, syscall.SIGTERM), nil)
	checkDescriptor(t, first, filepath.Join(data, "local.json"))
	token := first.token(t)

	processes := first.children(t)
	if err := first.stop(t, os.Interrupt); err != nil {
		t.Errorf("end by SIGINT: %v, want nil\n%s", err, first.output)
	}
	for _, pid := range processes {
		if isRunning(pid) {
			t.Errorf("process %d still runs", pid)
		}
	}
	errtest.Is(t, "the ready file still exists", errtest.Of(os.Stat(first.ready)), os.ErrNotExist)
	if left, _ := filepath.Glob(filepath.Join(data, "tmp", "*")); len(left) > 0 {
		t.Errorf("temporary files still exist: %v", left)
	}
	checkRestart(t, data, first, token)
}

// checkDescriptor checks what a new local cloud says about itself: in its descriptor, which is in two files that only
// their owner reads, and in its output.
func checkDescriptor(t *testing.T, r *localCloud, file string) {
	t.Helper()
	text := errtest.Must(os.ReadFile(file))(t)
	var stored localcloud.Descriptor
	errtest.Fatal(t, json.Unmarshal(text, &stored))
	if diff := cmp.Diff(r.Descriptor, stored); diff != "" {
		t.Errorf("local.json (-ready file +local.json):\n%s", diff)
	}
	for _, name := range []string{file, r.ready} {
		info := errtest.Must(os.Stat(name))(t)
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%s has the mode %v, want 0600", name, got)
		}
	}
	if !strings.HasPrefix(r.APIURL, "http://127.0.0.1:") || r.Scope != "tenant/"+r.TenantID || r.Prefix != "sluice" {
		t.Errorf("descriptor %+v, want an address of this machine, the scope of the tenant and the default prefix",
			r.Descriptor)
	}
	for _, want := range []string{r.ClientID, r.ClientSecret, r.TokenURL, "No clamd is set"} {
		if !strings.Contains(r.output.String(), want) {
			t.Errorf("the output does not contain %s", want)
		}
	}
}

// checkRestart starts a local cloud again, on the data of one that has ended, and checks that it has the same
// descriptor and accepts a token of before.
func checkRestart(t *testing.T, data string, before *localCloud, token string) {
	t.Helper()
	// Another program may take a port between two runs, which is then replaced; it does not each time.
	for attempt := 1; ; attempt++ {
		after := start(t, data)
		diff := cmp.Diff(before.Descriptor, after.Descriptor)
		status := after.status(t, token, "01900000-0000-7000-8000-000000000000")
		token = after.token(t)
		after.end(t)
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
	processes := r.children(t)
	if err := r.stop(t, os.Kill); err == nil {
		t.Error("end by SIGKILL: nil, want an error")
	}
	for _, pid := range processes {
		waitUntil(t, "the end of the process", func() bool { return !isRunning(pid) })
	}
	start(t, data).end(t)
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
	_, given := r.newBatch(t, token)
	difftest.Reply(t, "upload", 200)(r.upload(t, given.URL))
	var batch struct{ Status string }
	waitUntil(t, "the end of the batch", func() bool {
		decode(t, r.do(t, http.MethodGet, r.APIURL+batches+"status/"+given.ID, token, nil), &batch)
		return batch.Status == "VALIDATION_FAILED" || batch.Status == "ERROR"
	})
	difftest.Equal(t, "the batch ended with", "VALIDATION_FAILED", batch.Status)
	// The status is visible before the step that wrote it has ended.
	for _, want := range []string{"sluice-scan ", "sluice-process ", "platform.report"} {
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
	r.end(t)
}

func TestOptions(t *testing.T) {
	// parse returns the options of a command line and the exit code.
	parse := func(data string, args ...string) (cloud.Options, int) {
		var options cloud.Options
		program := newCommand(func(string) string { return data }, func(_ context.Context, o cloud.Options) error {
			options = o
			return nil
		})
		code := command.Main(t.Context(), program, args, io.Discard, io.Discard)
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
		if _, code := parse("from-env", args...); code != command.ExitFailed {
			t.Errorf("%v: exit code %d, want %d", args, code, command.ExitFailed)
		}
	}
}
