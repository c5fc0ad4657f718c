package webhook_test

import (
	"os/exec"
	"syscall"
)

// startGroup makes a command the first of a group of processes: "go run" starts another one.
func startGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends a command and the processes that it has started.
func endGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
