package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startDemo runs the demo with a folder of its own for temporary files.
func startDemo(t *testing.T, args ...string) (demo *process, folder string) {
	t.Helper()
	program, err := builtProgram("sluice")
	must(t, err)
	// A folder with a short name: the demo makes sockets in it, whose paths are limited to about a hundred bytes.
	if folder, err = os.MkdirTemp("", "demo-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	cmd := exec.Command(program, append([]string{"demo"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+folder)
	if demo, err = startProcess(cmd); err != nil {
		t.Fatal(err)
	}
	return demo, folder
}

// checkNothingLeft checks that the demo has removed its files and ended its processes.
func checkNothingLeft(t *testing.T, folder string) {
	t.Helper()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("the demo left the files %v (%v), want none", left, err)
	}
	commandLines := ok(filepath.Glob("/proc/[0-9]*/cmdline"))(t)
	for _, path := range commandLines {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), folder) {
			t.Errorf("the demo left a process: %s", strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
}

func TestDemo(t *testing.T) {
	skipWithout(t, processes)
	t.Parallel()
	demo, folder := startDemo(t)
	if err := <-demo.exited; err != nil {
		t.Fatalf("%v:\n%s", err, demo.output)
	}
	for _, want := range []string{
		"2,000 lines, 2,000 accepted, 0 invalid, 2,000 stored", "read back", "VALIDATION_FAILED",
		"invalid lines are dropped",
		"duplicate_modification_id", "main_entity_unknown", "line_too_long",
		"Version 1 of the policy", "Say where the wealth comes from.", "stopped",
	} {
		assert(t, strings.Contains(demo.output.String(), want), "the demo does not print %q:\n%s", want, demo.output)
	}
	checkNothingLeft(t, folder)
}

func TestInterruptedDemo(t *testing.T) {
	skipWithout(t, processes)
	t.Parallel()
	for _, moment := range []string{"a local cloud answers", "A good batch", "VALIDATION_STARTED"} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			demo, folder := startDemo(t, "--lines", "50000")
			isReached := func() bool { return strings.Contains(demo.output.String(), moment) }
			must(t, demo.waitFor(time.Minute, isReached))
			must(t, demo.Process.Signal(syscall.SIGINT))
			err := <-demo.exited
			if code := demo.ProcessState.ExitCode(); code != 130 ||
				!strings.Contains(demo.output.String(), "interrupted") {
				t.Errorf("exit code %d (%v), want 130 and the word interrupted:\n%s", code, err, demo.output)
			}
			checkNothingLeft(t, folder)
		})
	}
}
