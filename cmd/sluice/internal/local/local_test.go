//go:build unix

package local

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// fakeLocalProgram writes a local cloud that is a shell script. Its arguments are --data DIR --ready-file FILE.
func fakeLocalProgram(t *testing.T, script string) (program, data string) {
	t.Helper()
	// As for the program itself, SIGINT is not ignored, which a shell could not change, if these tests run in the
	// background.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	t.Cleanup(func() { signal.Stop(interrupts) })
	dir := t.TempDir()
	program = filepath.Join(dir, "sluice-local")
	errtest.Fatal(t, os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o700))
	return program, filepath.Join(dir, "data")
}

func TestLocalCloudStartsAndStops(t *testing.T) {
	program, data := fakeLocalProgram(t, `trap 'echo stopped > "$2/stopped"; exit 0' INT
printf '{"api_url":"http://127.0.0.1:1"}' > "$4.tmp"; mv "$4.tmp" "$4"
while :; do sleep 0.01; done
`)
	c := errtest.Must(Start(t.Context(), program, data))(t)
	difftest.Equal(t, "API URL", "http://127.0.0.1:1", c.Descriptor.APIURL)
	errtest.Fatal(t, c.Stop())
	errtest.Is(t, "the local cloud was not asked to stop", errtest.Of(os.Stat(filepath.Join(data, "stopped"))), nil)
	if err := syscall.Kill(c.cmd.Process.Pid, 0); err != syscall.ESRCH {
		t.Errorf("signal to the stopped process: %v, want ESRCH", err)
	}
}

func TestLocalCloudThatCannotStart(t *testing.T) {
	program, data := fakeLocalProgram(t, "echo port 80 is in use >&2; exit 2\n")
	_, err := Start(t.Context(), program, data)
	errtest.Fails(t, "start returned", err, "port 80 is in use")
	errtest.Fails(t, "a program that does not exist",
		errtest.Of(Start(t.Context(), filepath.Join(data, "nothing"), data)))
}

func TestInterruptedStartOfALocalCloud(t *testing.T) {
	program, data := fakeLocalProgram(t, "trap 'exit 0' INT; echo $$ > $2/pid; while :; do sleep 0.01; done\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, program, data); err == nil || err.Error() != "interrupted" {
		t.Errorf("start returned %v, want \"interrupted\"", err)
	}
}
