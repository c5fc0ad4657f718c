package testcloud

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// starts runs functions on a thread that exists as long as this program: what it starts gets its death signal when the
// thread that started it ends.
var starts = sync.OnceValue(func() chan<- func() {
	tasks := make(chan func())
	go func() {
		runtime.LockOSThread()
		for task := range tasks {
			task()
		}
	}()
	return tasks
})

// StartProgram starts a program in a process group of its own, so that an interrupt of this program does not reach it
// first. On Linux it is killed when this program ends, however that happens.
func StartProgram(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithStarter(cmd.SysProcAttr)
	started := make(chan error)
	starts() <- func() { started <- cmd.Start() }
	return <-started
}
