// Package process starts the child processes of the local cloud so that none outlives it: each leads a process group of
// its own, which is killed as a whole, and where the system can do it a child dies with its parent even when that is
// killed.
package process

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Group is a running child and everything it started.
type Group struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// startThread is a thread that lives as long as the program: the death signal of a child is bound to the thread that
// started it, and the Go runtime may end any other thread.
type startThread struct {
	once  sync.Once
	tasks chan func()
}

var (
	plainThread   = startThread{tasks: make(chan func())}
	relaxedThread = startThread{tasks: make(chan func())}
)

// run runs f on the thread, which has run prepare before anything else.
func (s *startThread) run(prepare, f func()) {
	s.once.Do(func() {
		go func() {
			runtime.LockOSThread()
			prepare()
			for order := range s.tasks {
				order()
			}
		}()
	})
	finished := make(chan struct{})
	s.tasks <- func() { f(); close(finished) }
	<-finished
}

// Start starts the command in a process group of its own. The command's output files are the caller's.
func Start(cmd *exec.Cmd) (*Group, error) {
	return start(cmd, &plainThread, func() {})
}

// StartRelaxed starts a command that does not wait for the disk: its calls of fsync do nothing. What it has written
// survives its own end, however violent, but perhaps not that of the machine. Where the system cannot do this, it is
// Start.
func StartRelaxed(cmd *exec.Cmd) (*Group, error) {
	return start(cmd, &relaxedThread, skipSyncs)
}

func start(cmd *exec.Cmd, on *startThread, prepare func()) (*Group, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	dieWithParent(cmd.SysProcAttr)
	g := &Group{cmd: cmd, done: make(chan struct{})}
	var err error
	on.run(prepare, func() { err = cmd.Start() })
	if err != nil {
		return nil, err
	}
	go func() {
		g.err = cmd.Wait()
		close(g.done)
	}()
	return g, nil
}

// PID is the process id of the leader.
func (g *Group) PID() int { return g.cmd.Process.Pid }

// Done is closed once the leader has ended.
func (g *Group) Done() <-chan struct{} { return g.done }

// Err tells how the leader ended; valid once Done is closed. nil is exit code 0.
func (g *Group) Err() error { return g.err }

// Kill ends the whole group at once and waits for its leader.
func (g *Group) Kill() {
	// An error means that no process of the group is left.
	_ = syscall.Kill(-g.PID(), syscall.SIGKILL)
	<-g.done
}

// Stop asks the leader to end and kills the group when it has not within the grace.
func (g *Group) Stop(grace time.Duration) {
	_ = syscall.Kill(g.PID(), syscall.SIGTERM)
	select {
	case <-g.done:
	case <-time.After(grace):
	}
	g.Kill()
}
