// Package testcloud runs the local clouds of benches and of the tests of the console's pages.
package testcloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"sluice/internal/localcloud"
)

// Cloud is a running local cloud.
type Cloud struct {
	localcloud.Descriptor
	// Data is its data folder, and Bin is the folder of the programs.
	Data, Bin string
	command   *exec.Cmd
	output    bytes.Buffer
	exited    chan error
}

// Start starts a local cloud of the project above the working directory, on a new data folder, with parameters of the
// template and limits, each NAME=VALUE, and waits until it answers.
func Start(ctx context.Context, data string, parameters, limits []string) (*Cloud, error) {
	bin, err := findPrograms()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	c := &Cloud{Data: data, Bin: bin, exited: make(chan error, 1)}
	ready := filepath.Join(data, "ready.json")
	args := []string{"local", "--data", data, "--ready-file", ready}
	for _, p := range parameters {
		args = append(args, "--set", p)
	}
	for _, l := range limits {
		args = append(args, "--limit", l)
	}
	c.command = exec.Command(c.program(), args...)
	c.command.Stdout, c.command.Stderr = &c.output, &c.output
	if err := StartProgram(c.command); err != nil {
		return nil, err
	}
	go func() { c.exited <- c.command.Wait() }()
	if err := c.waitUntilReady(ctx, ready); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// findPrograms returns the folder of the built programs of the project in which the working directory is.
func findPrograms() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "template.yaml")); err != nil {
			continue
		}
		bin := filepath.Join(dir, "bin")
		if _, err := os.Stat(filepath.Join(bin, "sluice")); err != nil {
			return "", fmt.Errorf("%s has no program sluice: run make build first", bin)
		}
		return bin, nil
	}
	return "", errors.New("the working directory is not in the project")
}

// program returns the path of the command line.
func (c *Cloud) program() string { return filepath.Join(c.Bin, "sluice") }

func (c *Cloud) waitUntilReady(ctx context.Context, ready string) (err error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-c.exited:
			c.exited <- err
			return fmt.Errorf("the local cloud has ended: %w: %s", err, c.output.String())
		case <-tick.C:
		}
		if c.Descriptor, err = localcloud.ReadFile(ready); err == nil {
			return nil
		} else if !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
}

// Stop ends the local cloud. It does nothing if the cloud has ended.
func (c *Cloud) Stop() error {
	select {
	case err := <-c.exited:
		c.exited <- err
		return nil
	default:
	}
	if err := c.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-c.exited:
		c.exited <- err
		return err
	case <-time.After(2 * time.Minute):
		return errors.Join(errors.New("the local cloud does not end"), c.command.Process.Kill())
	}
}

// Run runs a command of the command line and decodes what it prints into out, if that is not nil.
func (c *Cloud) Run(ctx context.Context, out any, args ...string) error {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, c.program(), args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("sluice %v: %w: %s", args, err, stderr.String())
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(stdout.Bytes(), out)
}

// Admin is Run for a command of admin.
func (c *Cloud) Admin(ctx context.Context, out any, args ...string) error {
	return c.Run(ctx, out, append([]string{"admin", "--data", c.Data}, args...)...)
}

// starts runs functions on a thread that exists as long as this program: what it starts gets its death signal when the
// thread that started it ends.
var starts = sync.OnceValue(func() chan<- func() {
	tasks := make(chan func())
	go func() {
		runtime.LockOSThread()
		for task := range tasks {
			task()
		}
	}()
	return tasks
})

// StartProgram starts a program in a process group of its own, so that an interrupt of this program does not reach it
// first. On Linux it is killed when this program ends, however that happens.
func StartProgram(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithStarter(cmd.SysProcAttr)
	started := make(chan error)
	starts() <- func() { started <- cmd.Start() }
	return <-started
}
