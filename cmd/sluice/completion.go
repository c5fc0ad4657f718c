package main

import (
	"context"
	"io"

	"sluice/internal/cli"
)

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:    "completion",
		Args:    "SHELL",
		Summary: "print what has bash, zsh or fish complete command lines",
		Description: `
SHELL is bash, zsh or fish. The printed script goes to where the shell reads it at its start; it asks this program for
the words, so that it need not be renewed.`,
		Examples: []string{
			"source <(sluice completion bash)",
			"sluice completion zsh > ~/.zsh/completions/_sluice",
			"sluice completion fish > ~/.config/fish/completions/sluice.fish",
		},
		Run: func(_ context.Context, args []string, stdout io.Writer) error {
			script, err := program().CompletionScript(args[0])
			if err != nil {
				return err
			}
			_, err = io.WriteString(stdout, script)
			return err
		},
	}
}
