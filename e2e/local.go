package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

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
	h, err := startCloud(data, set(parameters)...)
	if err == nil {
		h.Name = "local"
		api.watch(h)
	}
	return h, err
}

func set(parameters []string) (args []string) {
	for _, p := range parameters {
		args = append(args, "--set", p)
	}
	return args
}

// startCloud starts a local cloud with more options.
func startCloud(data string, options ...string) (*Home, error) {
	path, err := binary("sluice")
	if err != nil {
		return nil, err
	}
	ready := filepath.Join(data, "ready.json")
	if err := os.RemoveAll(ready); err != nil {
		return nil, err
	}
	p, err := launch(exec.Command(path, append([]string{"local", "--data", data, "--ready-file", ready}, options...)...))
	if err != nil {
		return nil, err
	}
	h := &Home{Data: data, cmd: p}
	var text []byte
	if err := p.until(30*time.Second, func() bool { text, err = os.ReadFile(ready); return !errors.Is(err, os.ErrNotExist) }); err != nil {
		return nil, err
	}
	if err == nil {
		err = json.Unmarshal(text, h)
	}
	return h, err
}
