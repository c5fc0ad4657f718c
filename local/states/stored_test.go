package states

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// callOf returns a definition that calls a function.
func callOf(function string) string {
	return oneState(task + `"Parameters": {"FunctionName": "` + functionPrefix + function + `", "Payload": {}}`)
}

// interruptedExecution returns a service whose machine is updated from toy:1 to toy:2 while an execution runs. The
// service is closed, and functions answer from its next start on.
func interruptedExecution(t *testing.T) (b *testService, arn string) {
	t.Helper()
	release, started := make(chan struct{}), make(chan string, 10)
	b = newTestService(t, callOf("toy:1"), func(ctx context.Context, name string, _ map[string]any) (any, string) {
		started <- name
		select {
		case <-release:
		case <-ctx.Done():
		}
		return name, ""
	})
	e := errtest.Must(b.Start(machineARN, "old", nil))(t)
	if name := <-started; name != "toy:1" {
		t.Errorf("called %s, want toy:1", name)
	}
	b.Close()
	close(release)
	b.cfg.Machines[0].Definition = []byte(callOf("toy:2"))
	return b, e.ARN
}

// An execution that is restarted keeps the definition with which it began, and so the versions that it names; one that
// is started later has the new one.
func TestExecutionsKeepTheirDefinition(t *testing.T) {
	t.Parallel()
	b, arn := interruptedExecution(t)
	b.restart(t)
	if got := b.waitForEnd(t, arn); !strings.Contains(string(got.Output), `"toy:1"`) {
		t.Errorf("the execution ended with %s, want the output of toy:1", got.Output)
	}
	if got := b.run(t, `{}`); !strings.Contains(string(got.Output), `"toy:2"`) {
		t.Errorf("a new execution ended with %s, want the output of toy:2", got.Output)
	}
	countDefinitions := func() int {
		t.Helper()
		files := errtest.Must(filepath.Glob(filepath.Join(b.cfg.Dir, "*", "*"+definitionSuffix)))(t)
		return len(files)
	}
	difftest.Equal(t, "definitions are stored", 2, countDefinitions())
	b.Close()
	b.restart(t)
	difftest.Equal(t, "definitions are stored when no execution needs the old one", 1, countDefinitions())
}

// A definition that is lost is replaced by that of the machine.
func TestLostDefinition(t *testing.T) {
	t.Parallel()
	b, arn := interruptedExecution(t)
	errtest.Fatal(t, os.Remove(b.definitionPath("toy", digestOf([]byte(callOf("toy:1"))))))
	b.restart(t)
	if got := b.waitForEnd(t, arn); !strings.Contains(string(got.Output), `"toy:2"`) {
		t.Errorf("the execution ended with %s, want the output of toy:2", got.Output)
	}
}

// TestStartFailsOnce has a start that fails because the history cannot be created. It must leave nothing behind: the
// same start succeeds as soon as it can.
func TestStartFailsOnce(t *testing.T) {
	t.Parallel()
	b := newTestService(t, oneState(`"Type":"Pass"`), echo)
	obstacle := filepath.Join(b.cfg.Dir, "toy", "x"+historySuffix)
	errtest.Fatal(t, os.Mkdir(obstacle, 0o700))
	if e, err := b.Start(machineARN, "x", nil); err == nil {
		t.Fatalf("started %v without a history", e)
	}
	errtest.Fatal(t, os.Remove(obstacle))
	e := errtest.Must(b.Start(machineARN, "x", nil))(t)
	if e = b.waitForEnd(t, e.ARN); e.Status != Succeeded {
		t.Errorf("the second start ended %s, want %s", e.Status, Succeeded)
	}
}

// fullDisk is a file to which nothing can be written.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestUnwrittenHistoryFailsTheExecution has an execution that would otherwise be RUNNING for ever, without a step.
func TestUnwrittenHistoryFailsTheExecution(t *testing.T) {
	t.Parallel()
	b := newTestService(t, oneState(`"Type":"Pass"`), echo)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	e := &execution{dir: t.TempDir(), Execution: Execution{Name: "x", Status: Running, Input: []byte(`{}`)}}
	ended := b.runToEnd(ctx, b.machines[machineARN], e, &history{file: fullDisk{}, onError: cancel})
	if !ended || e.Status != Failed || !strings.Contains(e.Cause, "no space left") {
		t.Errorf("ended %v, %s because of %q; want true, FAILED and no space left", ended, e.Status, e.Cause)
	}
}
