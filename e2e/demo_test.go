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
func startDemo(t *testing.T, args ...string) (cmd *exec.Cmd, out *tail, folder string) {
	t.Helper()
	program, err := binary("sluice")
	if err != nil {
		t.Fatal(err)
	}
	folder, out = t.TempDir(), &tail{}
	cmd = exec.Command(program, append([]string{"demo"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+folder)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out, folder
}

func checkNothingLeft(t *testing.T, folder string) {
	t.Helper()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline") // none where there is no /proc
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands {
		if text, err := os.ReadFile(c); err == nil && strings.Contains(string(text), folder) {
			t.Errorf("left running: %s", strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
}

func TestDemo(t *testing.T) {
	cmd, out, folder := startDemo(t)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	for _, want := range []string{
		"2,000 lines, 2,000 accepted, 0 invalid, 2,000 stored", "read back", "VALIDATION_FAILED", "invalid lines are dropped",
		"duplicate_modification_id", "main_entity_unknown", "line_too_long", "stopped",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the demo does not show %q:\n%s", want, out)
		}
	}
	checkNothingLeft(t, folder)
}

func TestInterruptedDemo(t *testing.T) {
	for _, during := range []string{"a local cloud answers", "A good batch", "VALIDATION_STARTED"} {
		cmd, out, folder := startDemo(t, "--lines", "50000")
		tick, deadline := time.NewTicker(5*time.Millisecond), time.After(30*time.Second)
		for !strings.Contains(out.String(), during) {
			select {
			case <-tick.C:
			case <-deadline:
				t.Fatalf("%q does not come:\n%s", during, out)
			}
		}
		tick.Stop()
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 2 || !strings.Contains(out.String(), "interrupted") {
			t.Errorf("%q: %v:\n%s", during, err, out)
		}
		checkNothingLeft(t, folder)
	}
}
