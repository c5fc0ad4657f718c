package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// builtProgram returns the path of a program that `make build` builds.
func builtProgram(name string) (string, error) {
	path, err := filepath.Abs(filepath.Join("..", "bin", name))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is missing: run `make build` first", path)
	}
	return path, nil
}

// newCloud starts a local cloud of its own for a test that needs other settings, given as parameters of the template.
func newCloud(t *testing.T, parameters ...string) *Environment {
	t.Helper()
	requires(t, otherSettings)
	var options []string
	for _, p := range parameters {
		options = append(options, "--set", p)
	}
	e := ok(startLocalCloud(t.TempDir(), options...))(t)
	stopAtEnd(t, e)
	return e
}

func stopAtEnd(t *testing.T, e *Environment) {
	t.Cleanup(func() {
		if err := e.stop(); err != nil {
			t.Error(err)
		}
	})
}

// startLocalCloud starts a local cloud whose replies are checked.
func startLocalCloud(data string, options ...string) (*Environment, error) {
	e, err := startUncheckedCloud(data, options...)
	if err == nil {
		e.Name = "local"
		contract.watch(e)
	}
	return e, err
}

// startUncheckedCloud starts a local cloud on a data folder and waits until it answers.
func startUncheckedCloud(data string, options ...string) (*Environment, error) {
	program, err := builtProgram("sluice")
	if err != nil {
		return nil, err
	}
	ready := filepath.Join(data, "ready.json")
	if err := errors.Join(os.MkdirAll(data, 0o700), os.RemoveAll(ready)); err != nil {
		return nil, err
	}
	args := append([]string{"local", "--data", data, "--ready-file", ready}, options...)
	p, err := startProcess(exec.Command(program, args...))
	if err != nil {
		return nil, err
	}
	var text []byte
	isReady := func() bool {
		text, err = os.ReadFile(ready)
		return !errors.Is(err, os.ErrNotExist)
	}
	if err := p.waitFor(patience, isReady); err != nil {
		return nil, err
	}
	e := &Environment{Data: data, cloud: p}
	if err == nil {
		err = json.Unmarshal(text, e)
	}
	return e, err
}
