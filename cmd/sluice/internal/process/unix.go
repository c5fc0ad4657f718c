//go:build unix

package process

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// Whoever starts this program may have it killed at its own end, as Linux offers. The program that replaces this one is
// killed in its place only if the first thread replaces it, which then runs main, locked to it here.
func init() {
	if len(os.Args) > 1 && os.Args[1] == "local" {
		runtime.LockOSThread()
	}
}

// ExecReplace replaces this process by a program. It returns only on failure.
func ExecReplace(program string, args []string) error {
	return syscall.Exec(program, append([]string{program}, args...), os.Environ())
}

// NewProcessGroup starts a command in a process group of its own. Ctrl-C in the terminal then reaches only this
// process, which stops the command when it is ready to. On Linux the command is killed if this process is.
func NewProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

// NewSession starts a command that has nothing to do with the terminal and outlives this process.
func NewSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// Interrupt asks a process to stop, as Ctrl-C does.
func Interrupt(p *os.Process) error { return p.Signal(syscall.SIGINT) }

// KillGroup kills a process that NewProcessGroup started, and everything that it started.
func KillGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
