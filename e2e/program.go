package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// program is a process that was started for a home. What it prints is kept.
type program struct {
	*exec.Cmd
	tail   *tail
	exited chan error
}

func launch(cmd *exec.Cmd) (*program, error) {
	p := &program{Cmd: cmd, tail: &tail{}, exited: make(chan error, 1)}
	cmd.Stdout, cmd.Stderr = p.tail, p.tail
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { p.exited <- cmd.Wait() }()
	return p, nil
}

func (p *program) name() string { return filepath.Base(p.Args[0]) + " " + p.Args[1] }

// until waits until something holds. A program that has ended by then, or is too slow, is an error.
func (p *program) until(patience time.Duration, holds func() bool) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); ; {
		select {
		case err := <-p.exited:
			p.exited <- err
			return fmt.Errorf("%s ended (%v):\n%s", p.name(), err, p.tail)
		case <-deadline:
			return errors.Join(fmt.Errorf("%s is not ready:\n%s", p.name(), p.tail), p.Process.Kill())
		case <-tick.C:
			if holds() {
				return nil
			}
		}
	}
}

// end ends the program by a signal, and fails if it is not gone within thirty seconds.
func (p *program) end(by os.Signal) error {
	if err := p.Process.Signal(by); err != nil {
		return err
	}
	select {
	case err := <-p.exited:
		if err != nil {
			return fmt.Errorf("%s ended with %w:\n%s", p.name(), err, p.tail)
		}
		return nil
	case <-time.After(30 * time.Second):
		return errors.Join(fmt.Errorf("%s does not end", p.name()), p.Process.Kill())
	}
}
