// Command sluice is Sluice's command line: it validates and uploads batches and shows their results, runs the local
// cloud, administers an installation and generates test data. 'sluice help' lists the commands.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"sluice/internal/cli"
)

// Exit codes beside those of package cli.
const (
	// exitRejected is that of a command that ran and found something rejected or failed.
	exitRejected cli.ExitCode = 1
	// exitUnfinished is that of a command that was asked about a batch that has not ended.
	exitUnfinished cli.ExitCode = 3
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	code := runProgram(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// runProgram runs the command that args name and returns the exit code.
func runProgram(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && (args[0] == "-v" || args[0] == "--version") {
		args = []string{"version"}
	}
	if len(args) > 0 && args[0] == cli.CompleteCommand {
		program().PrintCompletions(stdout, args[1:])
		return cli.ExitOK
	}
	out := &checkedOutput{w: stdout}
	code := program().Main(ctx, args, out, stderr)
	if err := out.err(); err != nil && code != cli.ExitFailed && code != cli.ExitInterrupted {
		fmt.Fprintf(stderr, "sluice: not everything could be printed: %v\n", err)
		return cli.ExitFailed
	}
	return code
}

// program returns the commands, in the order of the help.
func program() *cli.Command {
	return &cli.Command{
		Name:    "sluice",
		Summary: "ingest batches of financial transactions, one JSON object a line",
		Commands: []*cli.Command{
			validateCommand(), uploadCommand(), sendCommand(), statusCommand(), resultsCommand(), batchesCommand(),
			cancelCommand(), receiptCommand(), verifyCommand(), summaryCommand(), failedCommand(), eventsCommand(),
			transactionCommand(), entityCommand(), documentCommand(), screenCommand(),
			policyCommand(), generateCommand(), costCommand(),
			webhooksCommand(), listenCommand(), adapterCommand(), outboundCommand(), localCommand(), metricsCommand(),
			adminCommand(), consoleCommand(), loginCommand(), profilesCommand(), logoutCommand(), demoCommand(),
			completionCommand(), versionCommand(),
		},
		Examples: []string{
			"sluice generate --lines 1000 -o batch.jsonl",
			"sluice validate batch.jsonl",
			"sluice upload batch.jsonl --reject-on-invalid=false",
		},
		Notes: `
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
  130  interrupted, for example by Ctrl-C`,
	}
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:     "version",
		Summary:  "print the version and the revision of the sources",
		Examples: []string{"sluice version"},
		Run: func(_ context.Context, _ []string, stdout io.Writer) error {
			info, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprintln(stdout, formatVersion(info))
			return err
		},
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
