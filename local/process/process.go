// Package process starts the child processes of the local cloud so that none outlives it. Each child leads a process
// group of its own, which is killed as a whole, at the latest when the leader ends. On Linux a child ends with its
// parent even if the parent is killed.
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

	// mu guards ended, which is set before the kernel may give the leader's process ID to another process. From then on
	// the ID is not used any more.
	mu    sync.Mutex
	ended bool
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
	go g.wait()
	return g, nil
}

// wait waits for the leader to end and kills the rest of its group.
func (g *Group) wait() {
	fetchResult := waitForEnd(g.cmd)
	g.signal(-g.PID(), syscall.SIGKILL)
	g.mu.Lock()
	g.ended = true
	g.mu.Unlock()
	g.err = fetchResult()
	close(g.done)
}

// signal sends a signal to the leader or, with its negative ID, to the group. It has no effect once the leader has
// ended.
func (g *Group) signal(pid int, signal syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended {
		_ = syscall.Kill(pid, signal) // an error means that no such process exists
	}
}

// PID returns the process ID of the leader.
func (g *Group) PID() int { return g.cmd.Process.Pid }

// Done returns a channel that is closed once the leader has ended.
func (g *Group) Done() <-chan struct{} { return g.done }

// Err returns how the leader ended: nil for exit code 0. It is valid once Done is closed.
func (g *Group) Err() error { return g.err }

// Kill ends the whole group at once and waits for the leader to end. It has no effect on a group that has ended.
func (g *Group) Kill() {
	g.signal(-g.PID(), syscall.SIGKILL)
	<-g.done
}

// Stop sends the leader SIGTERM, waits up to the grace period for it to end, and kills the group.
func (g *Group) Stop(grace time.Duration) {
	g.signal(g.PID(), syscall.SIGTERM)
	select {
	case <-g.done:
	case <-time.After(grace):
	}
	g.Kill()
}
