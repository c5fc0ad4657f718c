package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// program returns a program whose commands print what they were given.
func program() *Command {
	var host string
	var count int
	var dry bool
	printArgs := func(name string) func(context.Context, []string, io.Writer) error {
		return func(_ context.Context, args []string, stdout io.Writer) error {
			fmt.Fprintf(stdout, "%s host=%s count=%d dry=%v %q\n", name, host, count, dry, args)
			return nil
		}
	}
	failWith := func(err error) func(context.Context, []string, io.Writer) error {
		return func(context.Context, []string, io.Writer) error { return err }
	}
	return &Command{
		Name: "prog", Summary: "a program for tests", Notes: "A note.",
		Commands: []*Command{
			{
				Name: "copy", Args: "FROM TO", Summary: "copy a file", Description: "It is not fast.",
				Flags: func(f *flag.FlagSet) {
					f.IntVar(&count, "count", 1, "make `N` copies")
					f.BoolVar(&dry, "n", false, "only print")
				},
				Examples: []string{"prog copy a b", "prog copy -n a b"},
				Run:      printArgs("copy"),
			},
			{Name: "reject", Summary: "exit with 1", Run: failWith(ExitCode(1))},
			{Name: "fail", Summary: "exit with an error", Run: failWith(errors.New("no disk"))},
			{Name: "misuse", Summary: "exit with a usage error", Run: failWith(Usagef("--%s is needed", "x"))},
			{
				Name: "stop", Summary: "be interrupted",
				Run: failWith(fmt.Errorf("%w; nothing was done", ErrInterrupted)),
			},
			{
				Name: "values", Args: "ONE [TWO]", Summary: "read values of every type", Run: printArgs("values"),
				Flags: func(f *flag.FlagSet) {
					f.Float64("share", 0, "a `SHARE`")
					f.Uint64("seed", 0, "a `SEED`")
					f.Duration("time", 0, "a `TIME`")
				},
			},
			{Name: "pass", Summary: "pass all on", PassThrough: true, Run: printArgs("pass")},
			{
				Name: "admin", Summary: "administration",
				Flags: func(f *flag.FlagSet) { f.StringVar(&host, "host", "localhost", "`NAME` of the host") },
				Commands: []*Command{
					{Name: "user list", Summary: "list users", Run: printArgs("user list")},
					{
						Name: "user add", Args: "NAME", Summary: "add a user", Run: printArgs("user add"),
						Flags: func(f *flag.FlagSet) { f.BoolVar(&dry, "dry", false, "only print") },
					},
					{Name: "other", Summary: "another command", Run: printArgs("other")},
				},
			},
		},
	}
}

func TestMainRunsTheNamedCommand(t *testing.T) {
	for _, c := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{"copy a b", 0, "copy host= count=1 dry=false [\"a\" \"b\"]\n", ""},
		{"copy --count 3 a -n b", 0, "copy host= count=3 dry=true [\"a\" \"b\"]\n", ""},
		{"copy a b -count=2", 0, "copy host= count=2 dry=false [\"a\" \"b\"]\n", ""},
		{"reject", 1, "", ""},
		{"fail", 2, "", "prog: no disk\n"},
		{"misuse", 2, "", "prog: --x is needed; see 'prog misuse --help'\n"},
		{"pass --help -x a", 0, "pass host= count=0 dry=false [\"--help\" \"-x\" \"a\"]\n", ""},
		{"help pass", 0, "pass host= count=0 dry=false [\"--help\"]\n", ""},
		{"admin user list", 0, "user list host=localhost count=0 dry=false []\n", ""},
		{"admin --host h user --host i add Ada --dry", 0, "user add host=i count=0 dry=true [\"Ada\"]\n", ""},
		{"admin user add Ada --host h", 0, "user add host=h count=0 dry=false [\"Ada\"]\n", ""},

		{"fly", 2, "", "prog: there is no command \"fly\"; see 'prog --help'\n"},
		{"coyp a b", 2, "", "prog: there is no command \"coyp\" (did you mean \"copy\"?); see 'prog --help'\n"},
		{"admin user lisst", 2, "",
			"prog: there is no command \"admin user lisst\" (did you mean \"admin user list\"?); " +
				"see 'prog admin --help'\n"},
		{"admin user", 2, "",
			"prog: the command \"admin user\" is incomplete: it goes on with list or add; see 'prog admin --help'\n"},
		{"stop", 130, "", "prog: interrupted; nothing was done\n"},
		{"admin user fly", 2, "", "prog: there is no command \"admin user fly\"; see 'prog admin --help'\n"},
		{"admin --host h", 2, "", "prog: a command is missing; see 'prog admin --help'\n"},
		{"help fly", 2, "", "prog: there is no command \"fly\"; see 'prog --help'\n"},
		{"copy", 2, "", "prog: 'prog copy' takes 2 arguments (FROM TO), not 0; see 'prog copy --help'\n"},
		{"admin user add", 2, "",
			"prog: 'prog admin user add' takes 1 argument (NAME), not 0; see 'prog admin user add --help'\n"},
		{"reject x", 2, "", "prog: 'prog reject' takes no arguments, not 1; see 'prog reject --help'\n"},
		{"copy --fast a b", 2, "", "prog: there is no option --fast; see 'prog copy --help'\n"},
		{"copy --coutn 1 a b", 2, "",
			"prog: there is no option --coutn (did you mean --count?); see 'prog copy --help'\n"},
		{"copy a b --count", 2, "", "prog: the option --count needs a value; see 'prog copy --help'\n"},
		{"copy --count x a b", 2, "", "prog: --count is a whole number, not \"x\"; see 'prog copy --help'\n"},
		{"copy --count 1.5 a b", 2, "", "prog: --count is a whole number, not \"1.5\"; see 'prog copy --help'\n"},
		{"values --share x", 2, "", "prog: --share is a number, not \"x\"; see 'prog values --help'\n"},
		{"values --seed -1", 2, "", "prog: --seed is a whole number from 0, not \"-1\"; see 'prog values --help'\n"},
		{"values --time 10", 2, "",
			"prog: --time is a duration such as 90s, 10m or 2h, not \"10\"; see 'prog values --help'\n"},
		{"values a b c", 2, "",
			"prog: 'prog values' takes 1 or 2 arguments (ONE [TWO]), not 3; see 'prog values --help'\n"},
		{"values", 2, "", "prog: 'prog values' takes 1 or 2 arguments (ONE [TWO]), not 0; see 'prog values --help'\n"},
		{"copy a EMPTY", 2, "",
			"prog: an argument of 'prog copy' is empty (FROM TO); see 'prog copy --help'\n"},
		{"copy -- -a -b", 0, "copy host= count=1 dry=false [\"-a\" \"-b\"]\n", ""},
		{"copy a -- -n", 0, "copy host= count=1 dry=false [\"a\" \"-n\"]\n", ""},
		{"copy -n --count 2 -- --count --", 0, "copy host= count=2 dry=true [\"--count\" \"--\"]\n", ""},
		{"admin --host -- user add Ada --dry", 0, "user add host=-- count=0 dry=true [\"Ada\"]\n", ""},
		{"admin user add --host -- Ada --dry", 0, "user add host=-- count=0 dry=true [\"Ada\"]\n", ""},
		{"copy --count 99999999999999999999 a b", 2, "",
			"prog: the value \"99999999999999999999\" of --count is out of range; see 'prog copy --help'\n"},
		{"copy -n=x a b", 2, "", "prog: -n is true or false, not \"x\"; see 'prog copy --help'\n"},
	} {
		t.Run(c.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := strings.Fields(c.args)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "EMPTY", "")
			}
			code := program().Main(t.Context(), args, &stdout, &stderr)
			if code != c.code || stdout.String() != c.stdout || stderr.String() != c.stderr {
				t.Errorf("got exit code %d, stdout %q, stderr %q\nwant %d, %q, %q",
					code, stdout.String(), stderr.String(), c.code, c.stdout, c.stderr)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	const copyHelp = `Copy a file.

Usage:
  prog copy FROM TO [options]

It is not fast.

Options:
  --count N  make N copies (default 1)
  -n         only print

Examples:
  prog copy a b
  prog copy -n a b
`
	const programHelp = `A program for tests.

Usage:
  prog COMMAND

Commands:
  copy FROM TO      copy a file
  reject            exit with 1
  fail              exit with an error
  misuse            exit with a usage error
  stop              be interrupted
  values ONE [TWO]  read values of every type
  pass              pass all on
  admin             administration

'prog help COMMAND' describes a command.

A note.
`
	const adminHelp = `Administration.

Usage:
  prog admin COMMAND [options]

Commands:
  user list      list users
  user add NAME  add a user
  other          another command

'prog admin help COMMAND' describes a command.

Options:
  --host NAME  NAME of the host (default localhost)
`
	adminUserHelp := strings.Replace(adminHelp, "\n  other          another command", "", 1)
	const addHelp = `Add a user.

Usage:
  prog admin user add NAME [options]

Options:
  --dry        only print
  --host NAME  NAME of the host (default localhost)
`
	for args, want := range map[string]string{
		"help copy": copyHelp, "copy --help": copyHelp, "copy a -h": copyHelp,
		"help": programHelp, "--help": programHelp, "-h": programHelp,
		"help admin": adminHelp, "admin": adminHelp, "admin help": adminHelp, "admin --help": adminHelp,
		"help admin user add": addHelp, "admin help user add": addHelp, "admin user add -h": addHelp,
		"admin user --help": adminUserHelp, "admin help user": adminUserHelp, "help admin user": adminUserHelp,
	} {
		t.Run(args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := program().Main(t.Context(), strings.Fields(args), &stdout, &stderr)
			if code != ExitOK || stderr.Len() > 0 {
				t.Errorf("exit code %d, stderr %q; want 0 and nothing", code, stderr.String())
			}
			if diff := cmp.Diff(want, stdout.String()); diff != "" {
				t.Errorf("help (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("without arguments it is an error", func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		code := program().Main(t.Context(), nil, &stdout, &stderr)
		if code != ExitFailed || stdout.Len() > 0 || stderr.String() != programHelp {
			t.Errorf("exit code %d, stdout %q, stderr %q; want 2 and the help on stderr",
				code, stdout.String(), stderr.String())
		}
	})
}

func TestClosest(t *testing.T) {
	candidates := []string{"upload", "status", "results", "validate", "o", "report", "reject-on-invalid"}
	for word, want := range map[string]string{
		"uplaod": "upload", "Upload": "upload", "stats": "status", "result": "results", "valid": "validate",
		"x": "", "fly": "", "": "", "rport": "report", "reject": "reject-on-invalid", "generate": "",
	} {
		if got := Closest(word, candidates); got != want {
			t.Errorf("Closest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestHelpIsFilled(t *testing.T) {
	var out bytes.Buffer
	writeRows(&out, "Options", []row{
		{"--short", strings.Repeat("word ", 30)}, {"--" + strings.Repeat("long", 10), "a long name"},
	})
	for line := range strings.Lines(out.String()) {
		if len(line) > helpColumns+1 {
			t.Errorf("a line has %d columns, want at most %d: %s", len(line), helpColumns, line)
		}
	}
	if got, want := strings.Count(out.String(), "word"), 30; got != want {
		t.Errorf("%d words are printed, want %d", got, want)
	}
}

// The last argument may be repeated if its name ends with "...".
func TestRepeatedArguments(t *testing.T) {
	for _, args := range [][]string{{"a"}, {"a", "b"}, {"a", "b", "c"}} {
		var got []string
		c := &Command{Name: "prog", Summary: "a program", Commands: []*Command{{
			Name: "join", Args: "FIRST MORE...", Summary: "join files",
			Run: func(_ context.Context, args []string, _ io.Writer) error {
				got = args
				return nil
			},
		}}}
		var stderr strings.Builder
		code := c.Main(t.Context(), append([]string{"join"}, args...), io.Discard, &stderr)
		if len(args) == 1 {
			if want := "takes at least 2 arguments (FIRST MORE...), not 1"; code != 2 ||
				!strings.Contains(stderr.String(), want) {
				t.Errorf("%v: exit code %d, %q, want 2 and %q", args, code, stderr.String(), want)
			}
			continue
		}
		if code != 0 || !slices.Equal(got, args) {
			t.Errorf("%v: exit code %d and the arguments %v, want 0 and all", args, code, got)
		}
	}
}
