package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/localcloud"
	"sluice/shared/kit/errtest"
)

// localCloud is a local cloud that runs in a process of its own.
type localCloud struct {
	localcloud.Descriptor
	cmd    *exec.Cmd
	ready  string
	output *output
	exited chan error
}

// output collects what a process prints. It is safe for concurrent use.
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

// projectDir returns the folder of the project, whose functions must have been built.
func projectDir(t *testing.T) string {
	t.Helper()
	root := errtest.Must(filepath.Abs("../../.."))(t)
	if _, err := os.Stat(filepath.Join(root, "bin", "functions", "token")); err != nil {
		t.Fatalf("%v: run `make build` first", err)
	}
	return root
}

// start starts a local cloud on a data folder and waits until it is ready.
func start(t *testing.T, data string, args ...string) *localCloud {
	t.Helper()
	r := &localCloud{ready: filepath.Join(t.TempDir(), "ready.json"), output: &output{}, exited: make(chan error, 1)}
	// The process ends with stop, or after the test: the context of the test ends before its cleanup.
	r.cmd = newProgram(context.Background(), t,
		append([]string{"--project", projectDir(t), "--data", data, "--ready-file", r.ready}, args...)...)
	r.cmd.Stdout, r.cmd.Stderr = r.output, r.output
	errtest.Fatal(t, r.cmd.Start())
	go func() { r.exited <- r.cmd.Wait() }()
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	var text []byte
	waitUntil(t, "the ready file", func() bool {
		select {
		case err := <-r.exited:
			t.Fatalf("the local cloud ended while starting: %v\n%s", err, r.output)
		default:
		}
		var err error
		text, err = os.ReadFile(r.ready)
		return err == nil
	})
	if err := json.Unmarshal(text, &r.Descriptor); err != nil {
		t.Fatal(err) // the file must be complete as soon as it exists
	}
	return r
}

// stop sends a signal and waits for the process to end.
func (r *localCloud) stop(t *testing.T, signal os.Signal) error {
	t.Helper()
	errtest.Fatal(t, r.cmd.Process.Signal(signal))
	select {
	case err := <-r.exited:
		return err
	case <-time.After(time.Minute):
		t.Fatalf("the local cloud did not end within a minute:\n%s", r.output)
		return nil
	}
}

// end stops a local cloud, which must end without an error.
func (r *localCloud) end(t *testing.T) {
	t.Helper()
	if err := r.stop(t, os.Interrupt); err != nil {
		t.Errorf("the local cloud ended with %v:\n%s", err, r.output)
	}
}

// waitUntil fails the test unless the condition holds within a minute.
func waitUntil(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); !condition(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}

// children returns the IDs of the running processes that a local cloud has started: at least the DynamoDB server and a
// function.
func (r *localCloud) children(t *testing.T) []int {
	t.Helper()
	all := errtest.Must(filepath.Glob("/proc/[0-9]*/stat"))(t)
	var found []int
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has just ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
		if len(fields) > 1 && fields[1] == strconv.Itoa(r.cmd.Process.Pid) && fields[0] != "Z" {
			found = append(found, pid)
		}
	}
	if len(found) < 2 {
		t.Errorf("%d child processes, want at least the DynamoDB server and a function", len(found))
	}
	return found
}

// isRunning reports whether a process runs and is not a zombie.
func isRunning(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	return err == nil && !strings.HasPrefix(rest, "Z")
}
