// Command sluice is Sluice's command line: it validates and uploads batches and shows their results, runs the local
// cloud, administers an installation and generates test data. 'sluice help' lists the commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"sluice/internal/cli"
)

// exitRejected is the exit code of a command that ran and found something rejected or failed. All other commands end
// with cli.ExitOK or cli.ExitFailed.
const exitRejected cli.ExitCode = 1

// errInterrupted is the error of a command that Ctrl-C ended.
var errInterrupted = errors.New("interrupted")

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
	return program().Main(ctx, args, stdout, stderr)
}

// program returns the commands, in the order of the help.
func program() *cli.Command {
	return &cli.Command{
		Name:    "sluice",
		Summary: "ingest batches of financial transactions, one JSON object a line",
		Commands: []*cli.Command{
			validateCommand(), uploadCommand(), statusCommand(), resultsCommand(), generateCommand(), localCommand(),
			adminCommand(), demoCommand(), versionCommand(),
		},
		Examples: []string{
			"sluice generate --lines 1000 -o batch.jsonl",
			"sluice validate batch.jsonl",
			"sluice upload batch.jsonl --reject-on-invalid=false",
		},
		Notes: `
The service: --data DIR names the data folder of a running local cloud (SLUICE_DATA; .sluice if it exists).
Otherwise --api-url, --token-url, --client-id, --client-secret-file and --scope describe it (SLUICE_API_URL,
SLUICE_TOKEN_URL, SLUICE_CLIENT_ID, SLUICE_CLIENT_SECRET_FILE or SLUICE_CLIENT_SECRET, SLUICE_SCOPE).

Exit code: 0 everything was accepted, 1 something was rejected or failed, 2 the command could not run.`,
	}
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:     "version",
		Summary:  "print the version",
		Examples: []string{"sluice version"},
		Run: func(_ context.Context, _ []string, stdout io.Writer) error {
			version := "unknown"
			if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
				version = info.Main.Version
			}
			_, err := fmt.Fprintf(stdout, "sluice %s, %s %s/%s\n",
				version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
