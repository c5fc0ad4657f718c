//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// become replaces this process by a program. It returns only on failure.
func become(program string, args []string) error {
	return syscall.Exec(program, append([]string{program}, args...), os.Environ())
}

// apart gives a command a process group of its own: Ctrl-C in the terminal then reaches only this process, which ends the
// command in its own time.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func interrupt(p *os.Process) error { return p.Signal(syscall.SIGINT) }

// killGroup ends a command and everything that it started.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
