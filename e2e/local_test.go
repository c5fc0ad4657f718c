package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What was stored is there after a restart on the same data, for the same tenant and client.
func TestRestart(t *testing.T) {
	data := t.TempDir()
	h, err := startLocal(data)
	if err != nil {
		t.Fatal(err)
	}
	onboard(t, h)
	l := valid()
	s := enter(t, h).process("", file(l))
	if s.Status != "PROCESSED" {
		t.Fatal(describe(s))
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	again, err := startLocal(data)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := again.stop(); err != nil {
			t.Error(err)
		}
	}()
	if again.ClientID != h.ClientID || again.ClientSecret != h.ClientSecret || again.TenantID != h.TenantID {
		t.Error("another tenant or client after the restart")
	}
	d := enter(t, again)
	readBack(t, d, l, s.BatchID, 1)
	if next := d.process("", file(valid())); next.Status != "PROCESSED" {
		t.Error(describe(next))
	}
	info, err := os.Stat(filepath.Join(data, "local.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("local.json, which holds a secret: %v %v", info.Mode(), err)
	}
}

// A start that cannot be says why in one sentence, and with exit code 2.
func TestStartsThatCannotBe(t *testing.T) {
	port := home.S3URL[strings.LastIndex(home.S3URL, ":")+1:]
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "template.yaml"), []byte("Resources: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"data in use":       {"--data", home.Data},
		"port in use":       {"--data", t.TempDir(), "--port-s3", port},
		"no such parameter": {"--data", t.TempDir(), "--set", "Nonsense=1"},
		"a broken template": {"--data", t.TempDir(), "--project", broken},
	} {
		program, err := binary("sluice")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		cmd := exec.CommandContext(ctx, program, append([]string{"local"}, args...)...)
		out, err := cmd.CombinedOutput()
		cancel()
		text := strings.TrimSpace(string(out))
		if err == nil || cmd.ProcessState.ExitCode() != 2 || text == "" || strings.Contains(text, "\n") {
			t.Errorf("%s: exit %d, %q", name, cmd.ProcessState.ExitCode(), text)
		}
	}
}

// Nothing is left running when the local cloud ends, however it ends.
func TestNothingIsLeftRunning(t *testing.T) {
	h, err := startLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	onboard(t, h)
	if s := enter(t, h).process("", file(valid())); s.Status != "PROCESSED" {
		t.Fatal(describe(s))
	}
	if len(children(t, h)) == 0 {
		t.Fatal("no process of the local cloud is found")
	}
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-h.cmd.exited
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); len(children(t, h)) > 0; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("still there after kill -9: %v", children(t, h))
		}
	}
}

// children finds the processes whose command line or environment names a home's data folder.
func children(t *testing.T, h *Home) []string {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, proc := range procs {
		line, err1 := os.ReadFile(filepath.Join(proc, "cmdline"))
		environment, err2 := os.ReadFile(filepath.Join(proc, "environ"))
		if err1 != nil || err2 != nil {
			continue // gone already
		}
		if strings.Contains(string(line)+string(environment), h.Data) {
			found = append(found, proc+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}
