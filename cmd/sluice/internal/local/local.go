// Package local has the commands that run a local cloud and show its metrics.
package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/cmd/sluice/internal/process"
	"sluice/internal/command"
	"sluice/internal/localcloud"
)

const (
	// startTimeout is how long a local cloud may take until everything answers.
	startTimeout = 2 * time.Minute
	// stopTimeout is how long it may take to stop before it is killed.
	stopTimeout = 30 * time.Second
)

// Commands returns the commands about local clouds.
func Commands() []*cobra.Command {
	return []*cobra.Command{localCommand(), metricsCommand()}
}

// localCommand hands over to the local cloud's own program, with its flags, signals and exit code.
func localCommand() *cobra.Command {
	c := &cobra.Command{
		Use:                "local",
		Short:              "run the local cloud: the whole service on this machine",
		DisableFlagParsing: true,
		RunE: command.Run(func(_ context.Context, args []string, _ io.Writer) error {
			program, err := FindProgram()
			if err != nil {
				return err
			}
			return process.ExecReplace(program, args)
		}),
	}
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		if program, err := FindProgram(); err != nil || process.ExecReplace(program, []string{"--help"}) != nil {
			c.Parent().HelpFunc()(c, args)
		}
	})
	return c
}

// FindProgram finds the local cloud's program beside this one. It is a program of its own so that this one can be
// installed alone.
func FindProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return "", err
	}
	program := filepath.Join(filepath.Dir(self), "sluice-local")
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the local cloud is not installed: %s is missing; "+
			"run 'make build' in a clone of Sluice to build it", program)
	} else if err != nil {
		return "", err
	}
	return program, nil
}

// localCloud is a local cloud that this process has started.
type localCloud struct {
	Descriptor localcloud.Descriptor
	cmd        *exec.Cmd
	logPath    string
	// exited gets the outcome of the process when it ends.
	exited chan error
}

// Start starts a local cloud on a new data folder and waits until everything answers. The caller stops it.
func Start(ctx context.Context, program, data string) (*localCloud, error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	c := &localCloud{logPath: data + ".log", exited: make(chan error, 1)}
	log, err := os.Create(c.logPath)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	readyFile := filepath.Join(data, "ready.json")
	c.cmd = exec.Command(program, "--data", data, "--ready-file", readyFile)
	c.cmd.Stdout, c.cmd.Stderr = log, log
	process.NewProcessGroup(c.cmd)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { c.exited <- c.cmd.Wait() }()
	if err := c.waitReady(ctx, readyFile); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// waitReady waits until the local cloud has written its ready file, and reads it.
func (c *localCloud) waitReady(ctx context.Context, readyFile string) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(startTimeout)
	for {
		select {
		case <-ctx.Done():
			return command.ErrInterrupted
		case err := <-c.exited:
			c.exited <- err // for stop
			return fmt.Errorf("the local cloud could not start: %s", c.LastOutput())
		case <-deadline:
			return fmt.Errorf("the local cloud is not ready after %v: %s", startTimeout, c.LastOutput())
		case <-tick.C:
		}
		d, err := localcloud.ReadFile(readyFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		c.Descriptor = d
		return err
	}
}

// Stop stops the local cloud as Ctrl-C does, and kills it if that does not help.
func (c *localCloud) Stop() error {
	select {
	case <-c.exited:
		return nil
	default:
	}
	err := process.Interrupt(c.cmd.Process)
	select {
	case <-c.exited:
		return nil
	case <-time.After(stopTimeout):
		err = errors.Join(err, errors.New("the local cloud did not stop and was killed"),
			process.KillGroup(c.cmd.Process))
		<-c.exited
		return err
	}
}

// LastOutput returns the last lines that the local cloud printed.
func (c *localCloud) LastOutput() string {
	text, err := os.ReadFile(c.logPath)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(len(lines)-10, 0):], "\n")
}
