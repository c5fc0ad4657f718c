package dynamotest

import (
	"os/exec"
	"runtime"
	"syscall"
)

// launch starts a process that dies with this one, also when a test panics or runs out of time. The kernel ties the
// child to the thread that started it, so that thread is kept until the child has ended.
func launch(cmd *exec.Cmd) (ended <-chan struct{}, err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started, done := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
			close(done)
		}
	}()
	return done, <-started
}
