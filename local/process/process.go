// Package process starts the child processes of the local cloud so that none outlives it. Each child leads a process
// group of its own, which is killed as a whole. On Linux a child ends with its parent even if the parent is killed.
package process

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Group is a child process, the leader, together with all processes that it started.
type Group struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// startThread is a thread that exists as long as the program. A child receives its death signal when the thread that
// started it ends, and the Go runtime may end any other thread.
type startThread struct {
	once  sync.Once
	tasks chan func()
}

// The threads of Start and of StartRelaxed.
var (
	plainThread   = startThread{tasks: make(chan func())}
	relaxedThread = startThread{tasks: make(chan func())}
)

// run runs f on the thread. The first call starts the thread, which runs prepare before anything else.
func (s *startThread) run(prepare, f func()) {
	s.once.Do(func() {
		go func() {
			runtime.LockOSThread()
			prepare()
			for task := range s.tasks {
				task()
			}
		}()
	})
	finished := make(chan struct{})
	s.tasks <- func() { f(); close(finished) }
	<-finished
}

// Start starts a command in a process group of its own. The caller remains responsible for closing the command's output
// files.
func Start(cmd *exec.Cmd) (*Group, error) {
	return start(cmd, &plainThread, func() {})
}

// StartRelaxed starts a command whose calls of fsync have no effect, so that it does not wait for the disk. What it has
// written survives the end of the process, even by a signal, but possibly not a failure of the machine. On systems that
// do not support this, StartRelaxed is the same as Start.
func StartRelaxed(cmd *exec.Cmd) (*Group, error) {
	return start(cmd, &relaxedThread, skipSyncs)
}

// start starts a command on the given thread.
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

// PID returns the process ID of the leader.
func (g *Group) PID() int { return g.cmd.Process.Pid }

// Done returns a channel that is closed once the leader has ended.
func (g *Group) Done() <-chan struct{} { return g.done }

// Err returns how the leader ended: nil for exit code 0. It is valid once Done is closed.
func (g *Group) Err() error { return g.err }

// Kill ends the whole group at once and waits for the leader to end.
func (g *Group) Kill() {
	// An error means that no process of the group exists.
	_ = syscall.Kill(-g.PID(), syscall.SIGKILL)
	<-g.done
}

// Stop sends the leader SIGTERM, waits up to the grace period for it to end, and kills the group.
func (g *Group) Stop(grace time.Duration) {
	_ = syscall.Kill(g.PID(), syscall.SIGTERM)
	select {
	case <-g.done:
	case <-time.After(grace):
	}
	g.Kill()
}
