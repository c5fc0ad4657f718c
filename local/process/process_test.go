package process

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestKillEndsTheWholeGroup(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "sleep 600 & echo $!; wait")
	cmd.Stdout = w
	g, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	line := make([]byte, 32)
	n, err := r.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(line[:n])))
	if err != nil {
		t.Fatal(err)
	}
	g.Kill()
	if g.Err() == nil {
		t.Error("a killed process has no error")
	}
	for deadline := time.Now().Add(5 * time.Second); alive(child); {
		if time.Now().After(deadline) {
			t.Fatal("the child of the child is still alive")
		}
	}
}

// alive tells whether a process runs; one that nobody has waited for yet does not.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, state, _ := bytes.Cut(stat, []byte(") "))
	return !bytes.HasPrefix(state, []byte("Z"))
}

func TestStopAsksBeforeItKills(t *testing.T) {
	polite := exec.Command("sh", "-c", "trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done")
	out, err := polite.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	g, err := Start(polite)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	g.Stop(10 * time.Second)
	var exit *exec.ExitError
	if !errors.As(g.Err(), &exit) || exit.ExitCode() != 7 {
		t.Errorf("ended with %v, want exit code 7", g.Err())
	}

	deaf := exec.Command("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.01; done")
	if out, err = deaf.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if g, err = Start(deaf); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	g.Stop(50 * time.Millisecond)
	if g.Err() == nil {
		t.Error("a killed process has no error")
	}
}

func TestStartOfNothing(t *testing.T) {
	if _, err := Start(exec.Command("/does/not/exist")); err == nil {
		t.Error("no error")
	}
}
