package dynamotest

import (
	"os/exec"
	"runtime"
	"syscall"
)

// launch starts a process that dies with this one, also when a test panics or runs out of time. The kernel ties the child
// to the thread that started it, so that thread is kept until the child has ended.
func launch(cmd *exec.Cmd, exited chan<- error) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			exited <- cmd.Wait()
		}
	}()
	return <-started
}
