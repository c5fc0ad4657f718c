package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sluice/client"
	"sluice/internal/localcloud"
)

// cloud is a running local cloud.
type cloud struct {
	localcloud.Descriptor
	data    string
	command *exec.Cmd
	output  bytes.Buffer
	exited  chan error
}

// program is the command line.
const program = "../bin/sluice"

// startCloud starts a local cloud on a new data folder and waits until it answers.
func startCloud(ctx context.Context, data string, parameters, limits []string) (*cloud, error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	c := &cloud{data: data, exited: make(chan error, 1)}
	ready := filepath.Join(data, "ready.json")
	args := []string{"local", "--data", data, "--ready-file", ready}
	for _, p := range parameters {
		args = append(args, "--set", p)
	}
	for _, l := range limits {
		args = append(args, "--limit", l)
	}
	c.command = exec.Command(program, args...)
	c.command.Stdout, c.command.Stderr = &c.output, &c.output
	c.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt of this program must not reach it first
	if err := c.command.Start(); err != nil {
		return nil, err
	}
	go func() { c.exited <- c.command.Wait() }()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), c.stop())
		case err := <-c.exited:
			return nil, fmt.Errorf("the local cloud has ended: %w: %s", err, c.output.String())
		case <-tick.C:
		}
		var err error
		if c.Descriptor, err = localcloud.ReadFile(ready); err == nil {
			return c, nil
		} else if !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(err, c.stop())
		}
	}
}

// stop ends the local cloud.
func (c *cloud) stop() error {
	if err := c.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-c.exited:
		return err
	case <-time.After(2 * time.Minute):
		return errors.Join(errors.New("the local cloud does not end"), c.command.Process.Kill())
	}
}

// sluice runs a command and decodes what it prints into out, if that is not nil.
func (c *cloud) sluice(ctx context.Context, out any, args ...string) error {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("sluice %v: %w: %s", args, err, stderr.String())
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(stdout.Bytes(), out)
}

// admin runs an admin command.
func (c *cloud) admin(ctx context.Context, out any, args ...string) error {
	return c.sluice(ctx, out, append([]string{"admin", "--data", c.data}, args...)...)
}

// newTenant makes a tenant without limits that has a client and the entities of a file.
func (c *cloud) newTenant(ctx context.Context, file string, batches int, calls *calls) (*tenant, error) {
	var made struct {
		ID string `json:"tenant_id"`
	}
	var credentials struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	var ignored any
	err := c.admin(ctx, &made, "tenant", "create", "--set", "limits=none")
	if err == nil {
		err = c.admin(ctx, &ignored, "tenant", "enable-batch", made.ID)
	}
	if err == nil {
		err = c.admin(ctx, &ignored, "entities", "import", file+".entities", "--tenant", made.ID)
	}
	if err == nil {
		err = c.admin(ctx, &credentials, "client", "create", "--tenant", made.ID, "--permission", "all")
	}
	if err != nil {
		return nil, err
	}
	t := &tenant{}
	for range batches {
		t.batches = append(t.batches, &benchBatch{})
	}
	t.client, err = client.New(client.Config{APIURL: c.APIURL, TokenURL: c.TokenURL, ClientID: credentials.ID,
		ClientSecret: credentials.Secret, Scope: "tenant/" + made.ID, HTTP: &http.Client{Transport: calls}})
	return t, err
}

// throttledTasks counts the tasks of state machines that Lambda had no room for.
func (c *cloud) throttledTasks() (n int) {
	_ = filepath.WalkDir(c.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".history.jsonl") {
			return err
		}
		text, err := os.ReadFile(path)
		n += bytes.Count(text, []byte(`"error":"Lambda.TooManyRequestsException"`))
		return err
	})
	return n
}
