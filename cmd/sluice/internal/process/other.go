//go:build !unix

package process

import (
	"errors"
	"os"
	"os/exec"
)

var errNoLocalCloud = errors.New("the local cloud runs only on Linux and other Unix systems")

func ExecReplace(string, []string) error { return errNoLocalCloud }

func NewProcessGroup(*exec.Cmd) {}

func NewSession(*exec.Cmd) {}

func Interrupt(p *os.Process) error { return p.Kill() }

func KillGroup(p *os.Process) error { return p.Kill() }
