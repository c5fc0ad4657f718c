package main

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

	"sluice/internal/command"
	"sluice/internal/localcloud"

	"github.com/spf13/cobra"
)

const (
	// startTimeout is how long a local cloud may take until everything answers.
	startTimeout = 2 * time.Minute
	// stopTimeout is how long it may take to stop before it is killed.
	stopTimeout = 30 * time.Second
)

// localCommand hands over to the local cloud's own program, with its flags, signals and exit code.
func localCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "local",
		Short:              "run the local cloud: the whole service on this machine",
		DisableFlagParsing: true,
		RunE: command.Run(func(_ context.Context, args []string, _ io.Writer) error {
			program, err := findLocalProgram()
			if err != nil {
				return err
			}
			return execReplace(program, args)
		}),
	}
}

// findLocalProgram finds the local cloud's program beside this one. It is a program of its own so that this one can be
// installed alone.
func findLocalProgram() (string, error) {
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

// findLocalCloud reads the descriptor of the local cloud that runs on a data folder. If data is "" it looks in the
// default folder; if no local cloud runs there, that is not an error and the descriptor is nil.
func findLocalCloud(data string) (*localcloud.Descriptor, error) {
	dir := data
	if dir == "" {
		dir = localcloud.DefaultDataDir
	}
	d, err := localcloud.Read(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && data == "":
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no local cloud runs on %s: start one with 'sluice local --data %s'", data, data)
	case err != nil:
		return nil, err
	}
	return &d, nil
}

// localCloud is a local cloud that this process has started.
type localCloud struct {
	descriptor localcloud.Descriptor
	cmd        *exec.Cmd
	logPath    string
	// exited gets the outcome of the process when it ends.
	exited chan error
}

// startLocalCloud starts a local cloud on a new data folder and waits until everything answers. The caller stops it.
func startLocalCloud(ctx context.Context, program, data string) (*localCloud, error) {
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
	newProcessGroup(c.cmd)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { c.exited <- c.cmd.Wait() }()
	if err := c.waitReady(ctx, readyFile); err != nil {
		return nil, errors.Join(err, c.stop())
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
			return fmt.Errorf("the local cloud could not start: %s", c.lastOutput())
		case <-deadline:
			return fmt.Errorf("the local cloud is not ready after %v: %s", startTimeout, c.lastOutput())
		case <-tick.C:
		}
		d, err := localcloud.ReadFile(readyFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		c.descriptor = d
		return err
	}
}

// stop stops the local cloud as Ctrl-C does, and kills it if that does not help.
func (c *localCloud) stop() error {
	select {
	case <-c.exited:
		return nil
	default:
	}
	err := interrupt(c.cmd.Process)
	select {
	case <-c.exited:
		return nil
	case <-time.After(stopTimeout):
		err = errors.Join(err, errors.New("the local cloud did not stop and was killed"), killGroup(c.cmd.Process))
		<-c.exited
		return err
	}
}

// lastOutput returns the last lines that the local cloud printed.
func (c *localCloud) lastOutput() string {
	text, err := os.ReadFile(c.logPath)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(len(lines)-10, 0):], "\n")
}
