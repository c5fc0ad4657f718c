package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sluice/internal/testcloud"
	"sync"
	"time"
)

// process is a program that was started for an environment or by a test. It ends with the suite.
type process struct {
	*exec.Cmd
	// output is what the program has printed. If the command says where standard output goes, it is that of standard
	// error only.
	output *outputBuffer
	// exited receives the error of Wait once.
	exited chan error
}

func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{Cmd: cmd, output: &outputBuffer{}, exited: make(chan error, 1)}
	cmd.Stderr = p.output
	if cmd.Stdout == nil {
		cmd.Stdout = p.output
	}
	if err := startWithSuite(cmd); err != nil {
		return nil, err
	}
	go func() { p.exited <- cmd.Wait() }()
	return p, nil
}

// programs are those that startWithSuite has started.
var programs struct {
	mu      sync.Mutex
	started []*exec.Cmd
}

// startWithSuite starts a program that ends with the suite, on Linux also if that is killed.
func startWithSuite(cmd *exec.Cmd) error {
	err := testcloud.StartProgram(cmd)
	if err == nil {
		programs.mu.Lock()
		defer programs.mu.Unlock()
		programs.started = append(programs.started, cmd)
	}
	return err
}

// killPrograms kills what startWithSuite has started and what has not ended.
func killPrograms() {
	programs.mu.Lock()
	defer programs.mu.Unlock()
	for _, cmd := range programs.started {
		_ = cmd.Process.Kill() // an error means that it has ended
	}
}

func (p *process) name() string { return filepath.Base(p.Args[0]) + " " + p.Args[1] }

// waitFor waits until a condition holds. It is an error if the process exits, or the timeout passes, before that.
func (p *process) waitFor(timeout time.Duration, holds func() bool) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(timeout); ; {
		select {
		case err := <-p.exited:
			p.exited <- err
			return fmt.Errorf("%s ended (%v):\n%s", p.name(), err, p.output)
		case <-deadline:
			return errors.Join(fmt.Errorf("%s is not ready after %v:\n%s", p.name(), timeout, p.output),
				p.Process.Kill())
		case <-tick.C:
			if holds() {
				return nil
			}
		}
	}
}

// stopPatience is how long a process may take to exit, on a machine that is busy with other things.
const stopPatience = 2 * time.Minute

// stop sends a signal. It is an error if the process fails, or does not exit in time.
func (p *process) stop(signal os.Signal) error {
	if err := p.Process.Signal(signal); err != nil {
		return err
	}
	select {
	case err := <-p.exited:
		if err != nil {
			return fmt.Errorf("%s ended with %w:\n%s", p.name(), err, p.output)
		}
		return nil
	case <-time.After(stopPatience):
		return errors.Join(fmt.Errorf("%s does not end after %v:\n%s", p.name(), signal, p.output), p.Process.Kill())
	}
}

// outputBuffer keeps what a program prints. It may be read while the program runs.
type outputBuffer struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (b *outputBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	return len(p), nil
}

func (b *outputBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}
