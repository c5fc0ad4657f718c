package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"sluice/internal/command"
)

// runSecretCommand returns what a command of the user prints, without the white space around it. The command may ask
// its questions on the terminal.
func runSecretCommand(ctx context.Context, text string) (string, error) {
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c"}
	}
	c := exec.CommandContext(ctx, shell[0], shell[1], text)
	c.Stdin, c.Stderr = os.Stdin, os.Stderr
	printed, err := c.Output()
	secret := strings.TrimSpace(string(printed))
	switch {
	case ctx.Err() != nil:
		return "", command.ErrInterrupted
	case err != nil:
		return "", fmt.Errorf("the command for the secret failed: %w", err)
	case secret == "":
		return "", errors.New("the command for the secret printed nothing")
	}
	return secret, nil
}
