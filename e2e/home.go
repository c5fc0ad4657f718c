// Package e2e drives Sluice through its front doors only: HTTP, signed URLs, the command line. It knows its home (a local
// cloud, SAM, LocalStack, AWS) by addresses and credentials.
package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Home is where Sluice runs: the content of a ready file.
type Home struct {
	APIURL         string `json:"api_url"`
	TokenURL       string `json:"token_url"`
	S3URL          string `json:"s3_url"`
	AWSEndpointURL string `json:"aws_endpoint_url"`
	DynamoDBURL    string `json:"dynamodb_url"`
	TenantID       string `json:"tenant_id"`
	ClientID       string `json:"client_id"`
	ClientSecret   string `json:"client_secret"`
	Scope          string `json:"scope"`

	Data string `json:"-"` // data folder of a local cloud
	cmd  *exec.Cmd
	tail *tail
}

// binary returns the path of a program that `make build` makes.
func binary(name string) (string, error) {
	root, err := filepath.Abs("..")
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, "bin", name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is missing: run `make build` first", path)
	}
	return path, nil
}

// startLocal starts a local cloud on a data folder, with template parameters as Name=Value, and waits until it answers.
func startLocal(data string, parameters ...string) (*Home, error) {
	program, err := binary("sluice")
	if err != nil {
		return nil, err
	}
	ready := filepath.Join(data, "ready.json")
	if err := os.RemoveAll(ready); err != nil {
		return nil, err
	}
	args := []string{"local", "--data", data, "--ready-file", ready}
	for _, p := range parameters {
		args = append(args, "--set", p)
	}
	h := &Home{Data: data, cmd: exec.Command(program, args...), tail: &tail{}}
	h.cmd.Stdout, h.cmd.Stderr = h.tail, h.tail
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	exited := make(chan error, 1)
	go func() { exited <- h.cmd.Wait() }()
	h.tail.exited = exited
	deadline := time.After(30 * time.Second)
	for tick := time.NewTicker(10 * time.Millisecond); ; {
		select {
		case err := <-exited:
			return nil, fmt.Errorf("the local cloud ended (%v):\n%s", err, h.tail)
		case <-deadline:
			return nil, errors.Join(fmt.Errorf("the local cloud is not ready:\n%s", h.tail), h.cmd.Process.Kill())
		case <-tick.C:
		}
		text, err := os.ReadFile(ready)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(text, h)
		}
		tick.Stop()
		api.watch(h)
		return h, err
	}
}

// stop ends a local cloud as Ctrl-C does, and fails if it is not gone within ten seconds.
func (h *Home) stop() error {
	if err := h.gather(); err != nil {
		return err
	}
	if err := h.cmd.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	select {
	case err := <-h.tail.exited:
		if err != nil {
			return fmt.Errorf("the local cloud ended with %w:\n%s", err, h.tail)
		}
		return nil
	case <-time.After(10 * time.Second):
		return errors.Join(errors.New("the local cloud does not end"), h.cmd.Process.Kill())
	}
}

// sluice runs the command line against the home and returns what it printed and its exit code.
func (h *Home) sluice(args ...string) (stdout, stderr string, code int, err error) {
	program, err := binary("sluice")
	if err != nil {
		return "", "", 0, err
	}
	var out, errs tail
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "SLUICE_DATA="+h.Data)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode(), err
}

// admin runs an admin command and decodes what it prints.
func (h *Home) admin(out any, args ...string) error {
	stdout, stderr, code, err := h.sluice(append([]string{"admin"}, args...)...)
	if err != nil || code != 0 {
		return fmt.Errorf("admin %v: exit %d, %v: %s", args, code, err, stderr)
	}
	return json.Unmarshal([]byte(stdout), out)
}

// importEntities onboards entities, given as JSON Lines.
func (h *Home) importEntities(lines []string) error {
	f, err := os.CreateTemp("", "entities-*.jsonl")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	w := bufio.NewWriter(f)
	for _, l := range lines {
		fmt.Fprintln(w, l)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		return err
	}
	var out any
	return h.admin(&out, "entities", "import", f.Name())
}

var _ io.Writer = (*tail)(nil)
