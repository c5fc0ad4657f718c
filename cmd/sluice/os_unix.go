//go:build unix

package main

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

// execReplace replaces this process by a program. It returns only on failure.
func execReplace(program string, args []string) error {
	return syscall.Exec(program, append([]string{program}, args...), os.Environ())
}

// newProcessGroup starts a command in a process group of its own. Ctrl-C in the terminal then reaches only this
// process, which stops the command when it is ready to. On Linux the command is killed if this process is.
func newProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

// newSession starts a command that has nothing to do with the terminal and outlives this process.
func newSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// interrupt asks a process to stop, as Ctrl-C does.
func interrupt(p *os.Process) error { return p.Signal(syscall.SIGINT) }

// killGroup kills a process that newProcessGroup started, and everything that it started.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
