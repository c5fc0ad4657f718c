package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"sluice/client"
	"sluice/internal/localcloud"
)

// cloud is a running local cloud.
type cloud struct {
	localcloud.Descriptor
	client *client.Client
	// data is its data folder, and functions is the folder of the programs of functions.
	data, functions string
	command         *exec.Cmd
	output          bytes.Buffer
	exited          chan error
}

// startCloud starts a local cloud on a new data folder and waits until it answers.
func startCloud(ctx context.Context, data string, parameters []string) (*cloud, error) {
	bin, err := filepath.Abs("../bin")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	c := &cloud{data: data, functions: filepath.Join(bin, "functions"), exited: make(chan error, 1)}
	ready := filepath.Join(data, "ready.json")
	args := []string{"local", "--data", data, "--ready-file", ready}
	for _, p := range parameters {
		args = append(args, "--set", p)
	}
	c.command = exec.Command(filepath.Join(bin, "sluice"), args...)
	c.command.Stdout, c.command.Stderr = &c.output, &c.output
	c.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt of this program must not reach it first
	if err := c.command.Start(); err != nil {
		return nil, err
	}
	go func() { c.exited <- c.command.Wait() }()
	if err := c.waitUntilReady(ctx, ready); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	c.client, err = client.New(client.Config{APIURL: c.APIURL, TokenURL: c.TokenURL, ClientID: c.ClientID,
		ClientSecret: c.ClientSecret, Scope: c.Scope})
	if err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

func (c *cloud) waitUntilReady(ctx context.Context, ready string) (err error) {
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

// stop ends the local cloud.
func (c *cloud) stop() error {
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

// admin runs an admin command.
func (c *cloud) admin(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(c.functions), "sluice"),
		append([]string{"admin", "--data", c.data}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("sluice admin %v: %w: %s", args, err, out)
	}
	return nil
}

// functionOf returns the name of the function that a program is, also if it is a published version of it; "" if it is
// none.
func (c *cloud) functionOf(program string) string {
	dir := filepath.Dir(program)
	switch {
	case dir == c.functions:
		return filepath.Base(program)
	case filepath.Dir(dir) == filepath.Join(c.data, "versions"):
		return strings.TrimPrefix(filepath.Base(dir), c.Prefix+"-")
	}
	return ""
}

// aws returns the settings of clients that may do anything in the local cloud.
func (c *cloud) aws() aws.Config {
	return aws.Config{Region: c.Region, BaseEndpoint: aws.String(c.AWSEndpointURL),
		Credentials: credentials.NewStaticCredentialsProvider(c.AccessKeyID, c.SecretAccessKey, "")}
}
