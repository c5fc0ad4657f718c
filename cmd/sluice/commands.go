package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// Exit codes. What a command could not do at all is told in one sentence.
const (
	exitOK       = 0 // all lines taken
	exitRejected = 1 // something rejected or failed
	exitCannot   = 2 // could not run
)

type command struct {
	name    string
	args    string
	summary string
	run     func(ctx context.Context, args []string, stdout, stderr io.Writer) int
}

// commands in the order of the help.
func commands() []command {
	return []command{
		{"validate", "FILE", "find every error of every line, before anything is uploaded", runValidate},
		{"upload", "FILE", "upload a batch, follow it to its end, show what is wrong with it", runUpload},
		{"status", "BATCH", "where a batch stands", runStatus},
		{"results", "BATCH", "what validation found; fetches the report", runResults},
		{"generate", "-o FILE", "make a batch to try things with, and the truth about its bad lines", runGenerate},
		{"local", "", "run the local cloud: the whole service on this machine", runLocal},
		{"admin", "...", "tenants, clients, entities, signing keys", runAdmin},
		{"demo", "", "see everything work, in some seconds", runDemo},
		{"version", "", "print the version", runVersion},
	}
}

const intro = `sluice takes batches of financial transactions in, one JSON object a line.

  sluice COMMAND [options]        sluice COMMAND --help tells more

`

const outro = `
Where the service is: --data DIR of a running local cloud (SLUICE_DATA, else .sluice if it is there), or
--api-url --token-url --client-id --client-secret-file --scope (SLUICE_API_URL, SLUICE_TOKEN_URL, SLUICE_CLIENT_ID,
SLUICE_CLIENT_SECRET, SLUICE_SCOPE).

Exit code: 0 all lines taken, 1 something rejected or failed, 2 could not run.
`

func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		help(stderr)
		return exitCannot
	}
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "--help":
		if len(rest) == 0 {
			help(stdout)
			return exitOK
		}
		name, rest = rest[0], []string{"--help"}
	case "-v", "--version":
		name = "version"
	}
	for _, c := range commands() {
		if c.name == name {
			return c.run(ctx, rest, stdout, stderr)
		}
	}
	return cannot(stderr, fmt.Errorf("there is no command %q; 'sluice help' lists them", name))
}

func help(w io.Writer) {
	fmt.Fprint(w, intro)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-18s %s\n", c.name+" "+c.args, c.summary)
	}
	fmt.Fprint(w, outro)
}

// cannot says in one sentence why a command could not run.
func cannot(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "sluice: %v\n", err)
	return exitCannot
}

func runVersion(_ context.Context, _ []string, stdout, _ io.Writer) int {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	fmt.Fprintf(stdout, "sluice %s, %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return exitOK
}

// flags are the flags of a command and the first lines of its help.
type flags struct {
	*flag.FlagSet
	usage string
}

func newFlags(name, usage string) flags {
	f := flags{flag.NewFlagSet(name, flag.ContinueOnError), usage}
	f.SetOutput(io.Discard)
	return f
}

// parse reads flags before, between and behind the arguments, of which there must be want.
func (f flags) parse(args []string, want int, stdout io.Writer) ([]string, error) {
	var rest []string
	for len(args) > 0 {
		err := f.Parse(args)
		switch {
		case errors.Is(err, flag.ErrHelp):
			f.describe(stdout)
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("%w; see 'sluice %s --help'", err, f.Name())
		}
		if args = f.Args(); len(args) > 0 {
			rest, args = append(rest, args[0]), args[1:]
		}
	}
	if len(rest) != want {
		return nil, fmt.Errorf("%d arguments where %d are needed; see 'sluice %s --help'", len(rest), want, f.Name())
	}
	return rest, nil
}

// describe prints the help of the command. Defaults are left out: they may be secrets of the environment.
func (f flags) describe(w io.Writer) {
	fmt.Fprint(w, f.usage)
	f.VisitAll(func(fl *flag.Flag) {
		name, usage := flag.UnquoteUsage(fl)
		fmt.Fprintf(w, "  %-26s %s\n", "--"+fl.Name+" "+name, usage)
	})
}

// ended turns what parse returned into an exit code.
func ended(err error, stderr io.Writer) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	return cannot(stderr, err)
}
