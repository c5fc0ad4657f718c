package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"sluice/internal/command"
)

// Exit codes beside those of package command.
const (
	// exitRejected is that of a command that ran and found something rejected or failed.
	exitRejected command.ExitCode = 1
	// exitUnfinished is that of a command that was asked about a batch that has not ended.
	exitUnfinished command.ExitCode = 3
)

// runProgram runs the command that args name and returns the exit code.
func runProgram(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && (args[0] == "-v" || args[0] == "--version") {
		args = []string{"version"}
	}
	out := &checkedOutput{w: stdout}
	code := command.Main(ctx, program(), args, out, stderr)
	if err := out.err(); err != nil && code != command.ExitFailed && code != command.ExitInterrupted {
		fmt.Fprintf(stderr, "sluice: not everything could be printed: %v\n", err)
		return command.ExitFailed
	}
	return code
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
		{"Batches", []*cobra.Command{
			validateCommand(), uploadCommand(), sendCommand(), statusCommand(), resultsCommand(), batchesCommand(),
			cancelCommand(), receiptCommand(), verifyCommand(),
		}},
		{"Transactions", []*cobra.Command{
			summaryCommand(), failedCommand(), eventsCommand(), transactionCommand(),
		}},
		{"Entities, screening and policies", []*cobra.Command{
			entityCommand(), documentCommand(), screenCommand(), policyCommand(),
		}},
		{"Events and adapters", []*cobra.Command{
			webhooksCommand(), listenCommand(), adapterCommand(), outboundCommand(),
		}},
		{"The service", []*cobra.Command{
			loginCommand(), profilesCommand(), logoutCommand(), consoleCommand(), adminCommand(), localCommand(),
			metricsCommand(), costCommand(),
		}},
		{"Trying it", []*cobra.Command{demoCommand(), generateCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: family.title, Title: family.title})
		for _, c := range family.commands {
			c.GroupID = family.title
		}
		root.AddCommand(family.commands...)
	}
	root.AddCommand(manCommand(), versionCommand())
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
