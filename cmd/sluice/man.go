package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"sluice/internal/command"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "write a manual page for each command",
		Long: `
DIR is created if it does not exist; man finds the pages in a folder man1 below one of its paths. The help of each
command says the same.`,
		Example: "sluice man ~/.local/share/man/man1 && man sluice-upload",
		RunE: command.Run(func(_ context.Context, args []string, stdout io.Writer) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return err
			}
			root := program()
			command.Prepare(root)
			command.AppendNotes(root)
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Title: "SLUICE", Section: "1", Source: "Sluice", Manual: "Sluice"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(stdout, "The manual pages are in %s.\n", args[0])
			return err
		}),
	}
}
