package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// runLocal becomes the local cloud's own program: signals and the exit code are its.
func runLocal(_ context.Context, args []string, _, stderr io.Writer) int {
	program, err := localProgram()
	if err == nil {
		err = become(program, args)
	}
	return cannot(stderr, err)
}

// localProgram finds the local cloud, which is a program of its own so that this one can be installed alone.
func localProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return "", err
	}
	program := filepath.Join(filepath.Dir(self), "sluice-local")
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the local cloud is not installed: %s is missing; 'make build' in a clone of Sluice makes it", program)
	} else if err != nil {
		return "", err
	}
	return program, nil
}
