// Package process starts the child processes of the local cloud so that none outlives it: each leads a process group of its
// own, which is killed as a whole, and where the system can do it a child dies with its parent even when that is killed.
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

var (
	starter     sync.Once
	startOrders = make(chan func())
)

// onStarter runs f on one thread that lives as long as the program: the death signal of a child is bound to the thread that
// started it, and the Go runtime may end any other thread.
func onStarter(f func()) {
	starter.Do(func() {
		go func() {
			runtime.LockOSThread()
			for order := range startOrders {
				order()
			}
		}()
	})
	finished := make(chan struct{})
	startOrders <- func() { f(); close(finished) }
	<-finished
}

// Start starts the command in a process group of its own. The command's output files are the caller's.
func Start(cmd *exec.Cmd) (*Group, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	dieWithParent(cmd.SysProcAttr)
	g := &Group{cmd: cmd, done: make(chan struct{})}
	var err error
	onStarter(func() { err = cmd.Start() })
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
