//go:build !unix

package main

import (
	"errors"
	"os"
	"os/exec"
)

var errNoLocal = errors.New("the local cloud runs on Linux and other Unix systems only")

func become(string, []string) error { return errNoLocal }

func apart(*exec.Cmd) {}

func interrupt(p *os.Process) error { return p.Kill() }

func killGroup(p *os.Process) error { return p.Kill() }
