//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fakeCloud is a local cloud that is a shell script. It gets --data DIR --ready-file FILE.
func fakeCloud(t *testing.T, script string) (program, data string) {
	t.Helper()
	dir := t.TempDir()
	program = filepath.Join(dir, "sluice-local")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return program, filepath.Join(dir, "data")
}

func TestACloudStartsAndStops(t *testing.T) {
	program, data := fakeCloud(t, `trap 'echo stopped > "$2/stopped"; exit 0' INT
printf '{"api_url":"http://127.0.0.1:1"}' > "$4.tmp"; mv "$4.tmp" "$4"
while :; do sleep 0.01; done
`)
	c, err := startCloud(t.Context(), program, data)
	if err != nil {
		t.Fatal(err)
	}
	if c.at.APIURL != "http://127.0.0.1:1" {
		t.Errorf("%+v", c.at)
	}
	if err := c.stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(data, "stopped")); err != nil {
		t.Error("it was not asked to stop:", err)
	}
	if err := syscall.Kill(c.cmd.Process.Pid, 0); err != syscall.ESRCH {
		t.Errorf("it is still there: %v", err)
	}
}

func TestACloudThatCannotStart(t *testing.T) {
	program, data := fakeCloud(t, "echo port 80 is in use >&2; exit 2\n")
	if _, err := startCloud(t.Context(), program, data); err == nil || !strings.Contains(err.Error(), "port 80 is in use") {
		t.Error(err)
	}
	if _, err := startCloud(t.Context(), filepath.Join(data, "nothing"), data); err == nil {
		t.Error("no program, no error")
	}
}

func TestAnInterruptedStart(t *testing.T) {
	program, data := fakeCloud(t, "trap 'exit 0' INT; echo $$ > $2/pid; while :; do sleep 0.01; done\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := startCloud(ctx, program, data); err == nil || err.Error() != "interrupted" {
		t.Error(err)
	}
}
