//go:build !unix

package main

import (
	"errors"
	"os"
	"os/exec"
)

var errNoLocalCloud = errors.New("the local cloud runs only on Linux and other Unix systems")

func execReplace(string, []string) error { return errNoLocalCloud }

func newProcessGroup(*exec.Cmd) {}

func newSession(*exec.Cmd) {}

func interrupt(p *os.Process) error { return p.Kill() }

func killGroup(p *os.Process) error { return p.Kill() }
