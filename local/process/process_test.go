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

	"sluice/shared/kit/errtest"
)

func TestKillEndsWholeGroup(t *testing.T) {
	g, child := startWithChild(t, "sleep 600 & echo $!; wait")
	g.Kill()
	errtest.Fails(t, "Err of a killed process is nil", g.Err())
	waitForEndOf(t, child)
}

// waitForEndOf fails the test unless a child whose leader has ended ends within a minute.
func waitForEndOf(t *testing.T, child int) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); isRunning(child); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("the child still runs a minute after its leader has ended")
		}
	}
}

// The processes that a leader has started end with it.
func TestGroupEndsWithItsLeader(t *testing.T) {
	g, child := startWithChild(t, "sleep 600 & echo $!")
	<-g.Done()
	waitForEndOf(t, child)
}

// The kernel may give the process ID of a leader that has ended to another process, which must not get its signals.
func TestNoSignalReachesAnotherProcess(t *testing.T) {
	g := errtest.Must(Start(exec.Command("true")))(t)
	<-g.Done()
	other := errtest.Must(Start(exec.Command("sleep", "600")))(t)
	defer other.Kill()
	g.cmd.Process.Pid = other.PID()
	g.Kill()
	g.Stop(time.Second)
	if !isRunning(other.PID()) {
		t.Error("a signal for a process that has ended killed another process with the same ID")
	}
}

// startWithChild runs a shell command that starts another process and prints its ID, and returns the group and that ID.
func startWithChild(t *testing.T, command string) (g *Group, child int) {
	t.Helper()
	r, w, err := os.Pipe()
	errtest.Fatal(t, err)
	cmd := exec.Command("sh", "-c", command)
	cmd.Stdout = w
	g = errtest.Must(Start(cmd))(t)
	w.Close()
	line := make([]byte, 32)
	n := errtest.Must(r.Read(line))(t)
	child = errtest.Must(strconv.Atoi(strings.TrimSpace(string(line[:n]))))(t)
	return g, child
}

// isRunning reports whether a process runs. One that has ended but has not been waited for does not count.
func isRunning(pid int) bool {
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

func TestStopSendsSIGTERMBeforeKilling(t *testing.T) {
	responsive := exec.Command("sh", "-c", "trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done")
	out := errtest.Must(responsive.StdoutPipe())(t)
	g := errtest.Must(Start(responsive))(t)
	errtest.Fatal(t, errtest.Of(out.Read(make([]byte, 8))))
	g.Stop(time.Minute)
	var exit *exec.ExitError
	if !errors.As(g.Err(), &exit) || exit.ExitCode() != 7 {
		t.Errorf("ended with %v, want exit code 7", g.Err())
	}

	unresponsive := exec.Command("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.01; done")
	out = errtest.Must(unresponsive.StdoutPipe())(t)
	g = errtest.Must(Start(unresponsive))(t)
	errtest.Fatal(t, errtest.Of(out.Read(make([]byte, 8))))
	g.Stop(50 * time.Millisecond)
	errtest.Fails(t, "Err of a killed process is nil", g.Err())
}

func TestStartMissingProgram(t *testing.T) {
	errtest.Fails(t, "Start of a missing program", errtest.Of(Start(exec.Command("/does/not/exist"))))
}
