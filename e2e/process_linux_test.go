package e2e

import (
	"os/exec"
	"syscall"
)

// dieWithSuite makes the kernel kill a program when this process ends, however that happens.
func dieWithSuite(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
