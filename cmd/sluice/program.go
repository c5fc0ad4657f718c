package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"sluice/cmd/sluice/internal/adapterserver"
	"sluice/cmd/sluice/internal/admin"
	"sluice/cmd/sluice/internal/batches"
	"sluice/cmd/sluice/internal/consoleserver"
	"sluice/cmd/sluice/internal/costs"
	"sluice/cmd/sluice/internal/demo"
	"sluice/cmd/sluice/internal/doctor"
	"sluice/cmd/sluice/internal/entities"
	"sluice/cmd/sluice/internal/local"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/policies"
	"sluice/cmd/sluice/internal/profiles"
	"sluice/cmd/sluice/internal/receipts"
	"sluice/cmd/sluice/internal/samples"
	"sluice/cmd/sluice/internal/screening"
	"sluice/cmd/sluice/internal/transactions"
	"sluice/cmd/sluice/internal/validator"
	"sluice/cmd/sluice/internal/webhooks"
	"sluice/internal/command"
)

// runProgram runs the command that args name and returns the exit code.
func runProgram(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && (args[0] == "-v" || args[0] == "--version") {
		args = []string{"version"}
	}
	return command.Main(ctx, program(), args, stdout, stderr)
}

// program returns the commands, in the order of the help.
func program() *cobra.Command {
	root := &cobra.Command{
		Use:   "sluice",
		Short: "ingest batches of financial transactions, one JSON object a line",
		Example: `
sluice generate --lines 1000 -o batch.jsonl
sluice validate batch.jsonl
sluice upload batch.jsonl --reject-on-invalid=false`,
		Annotations: command.Notes(`
The service: --data DIR names the data folder of a running local cloud (SLUICE_DATA; .sluice if it exists).
Otherwise --api-url, --token-url, --client-id, --client-secret-file and --scope describe it (SLUICE_API_URL,
SLUICE_TOKEN_URL, SLUICE_CLIENT_ID, SLUICE_CLIENT_SECRET_FILE or SLUICE_CLIENT_SECRET, SLUICE_SCOPE), or --profile NAME
which 'sluice login' has stored (SLUICE_PROFILE). Flags precede the environment, which precedes the profile.

Files: - is standard input where a file is read, and standard output where one is written.

Exit codes:
  0    everything was accepted; the command did what it was asked for
  1    something was rejected or failed
  2    the command could not run: a wrong command line, a missing file, a refusal by the service, ...
  3    'status' and 'results': the batch, or its validation, has not ended
  130  interrupted, for example by Ctrl-C`),
	}
	for _, family := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Batches", slices.Concat([]*cobra.Command{validator.Command()}, batches.Commands(), receipts.Commands())},
		{"Transactions", transactions.Commands()},
		{"Entities, screening and policies",
			append(entities.Commands(), screening.Command(), policies.Command(), adapterserver.Command())},
		{"Events", webhooks.Commands()},
		{"The service",
			slices.Concat(profiles.Commands(), []*cobra.Command{doctor.Command(), consoleserver.Command(),
				admin.Command(), costs.Command()})},
		{"Local clouds and test data", append(local.Commands(), demo.Command(runProgram), samples.Command())},
	} {
		root.AddGroup(&cobra.Group{ID: family.title, Title: family.title})
		for _, c := range family.commands {
			c.GroupID = family.title
		}
		root.AddCommand(family.commands...)
	}
	root.AddCommand(manCommand(), versionCommand())
	output.AddFormats(root)
	return root
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version and the revision of the sources",
		Example: "sluice version",
		RunE: command.Run(func(_ context.Context, _ []string, stdout io.Writer) error {
			info, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprintln(stdout, formatVersion(info))
			return err
		}),
	}
}

// formatVersion writes the version of the module, the revision of the sources and what the program was built with and
// for. Info may be nil.
func formatVersion(info *debug.BuildInfo) string {
	version, details := "of unknown version", []string{}
	if info != nil {
		if info.Main.Version != "" {
			version = info.Main.Version
		}
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if revision := settings["vcs.revision"]; revision != "" {
			text := "revision " + revision
			if at := settings["vcs.time"]; at != "" {
				text += " of " + at
			}
			if settings["vcs.modified"] == "true" {
				text += " with changes"
			}
			details = append(details, text)
		}
	}
	details = append(details, runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH)
	return "sluice " + version + ", " + strings.Join(details, ", ")
}

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
