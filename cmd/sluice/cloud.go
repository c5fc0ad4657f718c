package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"sluice/internal/localcloud"
)

const (
	startTimeout = 30 * time.Second
	stopTimeout  = 10 * time.Second
)

// cloud is a local cloud that this program has started.
type cloud struct {
	at     localcloud.Descriptor
	cmd    *exec.Cmd
	log    string
	exited chan error
}

// startCloud starts a local cloud on a new data folder and waits until everything answers.
func startCloud(ctx context.Context, program, data string) (*cloud, error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	c := &cloud{log: data + ".log", exited: make(chan error, 1)}
	log, err := os.Create(c.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	ready := filepath.Join(data, "ready.json")
	c.cmd = exec.Command(program, "--data", data, "--ready-file", ready)
	c.cmd.Stdout, c.cmd.Stderr = log, log
	apart(c.cmd)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { c.exited <- c.cmd.Wait() }()
	if err := c.wait(ctx, ready); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

func (c *cloud) wait(ctx context.Context, ready string) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(startTimeout)
	for {
		select {
		case <-ctx.Done():
			return errors.New("interrupted")
		case err := <-c.exited:
			c.exited <- err
			return fmt.Errorf("the local cloud could not start: %s", c.output())
		case <-deadline:
			return fmt.Errorf("the local cloud is not ready after %v: %s", startTimeout, c.output())
		case <-tick.C:
		}
		text, err := os.ReadFile(ready)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &c.at)
	}
}

// stop ends the cloud as Ctrl-C does, and by force if that does not help.
func (c *cloud) stop() error {
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

// output is the end of what the cloud has printed.
func (c *cloud) output() string {
	text, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(len(lines)-10, 0):], "\n")
}
