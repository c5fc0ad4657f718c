package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"sluice/shared/kit/difftest"
)

// program returns a program whose commands print what they were given.
func program() *cobra.Command {
	var host string
	var count int
	var dry bool
	printArgs := func(c *cobra.Command, args []string) error {
		_, name, _ := strings.Cut(c.CommandPath(), " ")
		fmt.Fprintf(c.OutOrStdout(), "%s host=%s count=%d dry=%v %q\n", name, host, count, dry, args)
		return nil
	}
	failing := func(use, short string, err error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, RunE: func(*cobra.Command, []string) error { return err }}
	}
	copying := &cobra.Command{
		Use: "copy FROM TO", Short: "copy a file", Long: "It is not fast.",
		Example: "prog copy a b\nprog copy -n a b", RunE: printArgs,
	}
	copying.Flags().IntVar(&count, "count", 1, "make `N` copies")
	copying.Flags().BoolVarP(&dry, "dry", "n", false, "only print")
	values := &cobra.Command{Use: "values ONE [TWO]", Short: "read values of every type", RunE: printArgs}
	values.Flags().Float64("share", 0, "a `SHARE`")
	values.Flags().Uint64("seed", 0, "a `SEED`")
	values.Flags().Duration("time", 0, "a `TIME`")
	values.Flags().Func("pair", "a `PAIR`", func(string) error { return errors.New("it has no comma") })
	adding := &cobra.Command{Use: "add NAME", Short: "add a user", RunE: printArgs}
	adding.Flags().BoolVar(&dry, "dry", false, "only print")
	admin := Group(&cobra.Command{Use: "admin", Short: "administration"},
		Group(&cobra.Command{Use: "user", Short: "administer users"},
			&cobra.Command{Use: "list", Short: "list users", RunE: printArgs}, adding),
		&cobra.Command{Use: "other", Short: "another command", RunE: printArgs})
	admin.PersistentFlags().StringVar(&host, "host", "localhost", "`NAME` of the host")
	return Group(&cobra.Command{Use: "prog", Short: "a program for tests", Annotations: Notes("A note.")},
		copying,
		failing("reject", "exit with 1", ExitCode(1)),
		failing("fail", "exit with an error", errors.New("no disk")),
		failing("misuse", "exit with a usage error", Usagef("--%s is needed", "x")),
		failing("stop", "be interrupted", fmt.Errorf("%w; nothing was done", ErrInterrupted)),
		values,
		&cobra.Command{Use: "pass", Short: "pass all on", DisableFlagParsing: true, RunE: printArgs},
		admin,
	)
}

func TestMainRunsTheNamedCommand(t *testing.T) {
	for _, c := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{"copy a b", 0, "copy host=localhost count=1 dry=false [\"a\" \"b\"]\n", ""},
		{"copy --count 3 a -n b", 0, "copy host=localhost count=3 dry=true [\"a\" \"b\"]\n", ""},
		{"copy a b --count=2", 0, "copy host=localhost count=2 dry=false [\"a\" \"b\"]\n", ""},
		{"reject", 1, "", ""},
		{"fail", 2, "", "prog: no disk\n"},
		{"misuse", 2, "", "prog: --x is needed; see 'prog misuse --help'\n"},
		{"pass --help -x a", 0, "pass host=localhost count=1 dry=false [\"--help\" \"-x\" \"a\"]\n", ""},
		{"admin user list", 0, "admin user list host=localhost count=1 dry=false []\n", ""},
		{"admin --host h user --host i add Ada --dry", 0, "admin user add host=i count=1 dry=true [\"Ada\"]\n", ""},
		{"admin user add Ada --host h", 0, "admin user add host=h count=1 dry=false [\"Ada\"]\n", ""},

		{"fly", 2, "", "prog: there is no command \"fly\"; see 'prog --help'\n"},
		{"coyp a b", 2, "", "prog: there is no command \"coyp\" (did you mean \"copy\"?); see 'prog --help'\n"},
		{"admin user lisst", 2, "",
			"prog: there is no command \"admin user lisst\" (did you mean \"admin user list\"?); " +
				"see 'prog admin user --help'\n"},
		{"admin user", 2, "",
			"prog: the command \"admin user\" is incomplete: it goes on with list, add; see 'prog admin --help'\n"},
		{"stop", 130, "", "prog: interrupted; nothing was done\n"},
		{"admin user fly", 2, "", "prog: there is no command \"admin user fly\"; see 'prog admin user --help'\n"},
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
		{"copy -- -a -b", 0, "copy host=localhost count=1 dry=false [\"-a\" \"-b\"]\n", ""},
		{"copy a -- -n", 0, "copy host=localhost count=1 dry=false [\"a\" \"-n\"]\n", ""},
		{"copy -n --count 2 -- --count --", 0, "copy host=localhost count=2 dry=true [\"--count\" \"--\"]\n", ""},
		{"admin --host -- user add Ada --dry", 0, "admin user add host=-- count=1 dry=true [\"Ada\"]\n", ""},
		{"admin user add --host -- Ada --dry", 0, "admin user add host=-- count=1 dry=true [\"Ada\"]\n", ""},
		{"copy --dry false a", 2, "", "prog: --dry takes no separate value: write --dry=false, or ./false for a file " +
			"of that name; see 'prog copy --help'\n"},
		{"copy a -n TRUE", 2, "", "prog: -n takes no separate value: write -n=true, or ./TRUE for a file of that " +
			"name; see 'prog copy --help'\n"},
		{"copy --dry=false true false", 0, "copy host=localhost count=1 dry=false [\"true\" \"false\"]\n", ""},
		{"copy --dry -- true false", 0, "copy host=localhost count=1 dry=true [\"true\" \"false\"]\n", ""},
		{"copy -- --dry true", 0, "copy host=localhost count=1 dry=false [\"--dry\" \"true\"]\n", ""},
		{"copy --count 2 true false", 0, "copy host=localhost count=2 dry=false [\"true\" \"false\"]\n", ""},
		{"admin --host h user add true --dry", 0, "admin user add host=h count=1 dry=true [\"true\"]\n", ""},
		{"copy --count 99999999999999999999 a b", 2, "",
			"prog: the value \"99999999999999999999\" of --count is out of range; see 'prog copy --help'\n"},
		{"copy -count=2 a b", 2, "",
			"prog: there is no option -count (did you mean --count?); see 'prog copy --help'\n"},
		{"copy -x a b", 2, "", "prog: there is no option -x; see 'prog copy --help'\n"},
		{"values --pair x", 2, "",
			"prog: the value \"x\" of --pair is invalid: it has no comma; see 'prog values --help'\n"},
		{"copy -n=x a b", 2, "", "prog: -n is true or false, not \"x\"; see 'prog copy --help'\n"},
	} {
		t.Run(c.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := strings.Fields(c.args)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "EMPTY", "")
			}
			code := Main(t.Context(), program(), args, &stdout, &stderr)
			difftest.Equal(t, "exit code", []any{c.code, c.stdout, c.stderr},
				[]any{code, stdout.String(), stderr.String()})
		})
	}
}

func TestHelp(t *testing.T) {
	const copyHelp = `Copy a file.

Usage:
  prog copy FROM TO [options]

It is not fast.

Options:
      --count N   make N copies (default 1)
  -n, --dry       only print
  -h, --help      help for copy

Examples:
  prog copy a b
  prog copy -n a b
`
	const programHelp = `A program for tests.

Usage:
  prog COMMAND [options]

Commands:
  copy FROM TO                  copy a file
  reject                        exit with 1
  fail                          exit with an error
  misuse                        exit with a usage error
  stop                          be interrupted
  values ONE [TWO]              read values of every type
  pass                          pass all on
  admin                         administration
  completion                    Generate the autocompletion script for the specified shell

'prog help COMMAND' describes a command.

Options:
  -h, --help   help for prog

A note.
`
	const adminHelp = `Administration.

Usage:
  prog admin COMMAND [options]

Commands:
  user list                     list users
  user add NAME                 add a user
  other                         another command

'prog admin help COMMAND' describes a command.

Options:
  -h, --help        help for admin
      --host NAME   NAME of the host (default "localhost")
`
	const addHelp = `Add a user.

Usage:
  prog admin user add NAME [options]

Options:
      --dry         only print
  -h, --help        help for add
      --host NAME   NAME of the host (default "localhost")
`
	adminUserHelp := strings.NewReplacer("Administration", "Administer users", "prog admin", "prog admin user",
		"for admin", "for user", "  other                         another command\n", "").Replace(adminHelp)
	for args, want := range map[string]string{
		"help copy": copyHelp, "copy --help": copyHelp, "copy a -h": copyHelp,
		"help": programHelp, "--help": programHelp, "-h": programHelp,
		"help admin": adminHelp, "admin": adminHelp, "admin help": adminHelp, "admin --help": adminHelp,
		"help admin user add": addHelp, "admin help user add": addHelp, "admin user add -h": addHelp,
		"admin user --help": adminUserHelp, "admin help user": adminUserHelp, "help admin user": adminUserHelp,
	} {
		t.Run(args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := Main(t.Context(), program(), strings.Fields(args), &stdout, &stderr)
			if code != ExitOK || stderr.Len() > 0 {
				t.Errorf("exit code %d, stderr %q; want 0 and nothing", code, stderr.String())
			}
			difftest.Equal(t, "help", want, stdout.String())
		})
	}
	t.Run("without arguments it is an error", func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), program(), nil, &stdout, &stderr)
		if code != ExitFailed || stdout.Len() > 0 || stderr.String() != programHelp {
			t.Errorf("exit code %d, stdout %q, stderr %q; want 2 and the help on stderr",
				code, stdout.String(), stderr.String())
		}
	})
	t.Run("a command may print its own", func(t *testing.T) {
		p := program()
		for _, c := range p.Commands() {
			if c.Name() == "pass" {
				c.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprintln(c.OutOrStdout(), "own help") })
			}
		}
		var stdout bytes.Buffer
		if code := Main(t.Context(), p, []string{"help", "pass"}, &stdout, io.Discard); code != ExitOK ||
			stdout.String() != "own help\n" {
			t.Errorf("exit code %d, stdout %q, want 0 and its own help", code, stdout.String())
		}
	})
}

// Commands of a program are listed by their groups, and those of a group inside are not.
func TestHelpListsGroups(t *testing.T) {
	p := program()
	p.AddGroup(&cobra.Group{ID: "files", Title: "Files"})
	p.Commands()[0].GroupID = "files"
	var stdout bytes.Buffer
	Main(t.Context(), p, []string{"help"}, &stdout, io.Discard)
	for _, want := range []string{"\nFiles:\n  copy FROM TO  ", "\nOther commands:\n  reject  "} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the help lacks %q:\n%s", want, stdout.String())
		}
	}
}

// The last argument may be repeated if its name ends with "...".
func TestRepeatedArguments(t *testing.T) {
	for _, args := range [][]string{{"a"}, {"a", "b"}, {"a", "b", "c"}} {
		var got []string
		c := Group(&cobra.Command{Use: "prog", Short: "a program"}, &cobra.Command{
			Use: "join FIRST MORE...", Short: "join files",
			RunE: Run(func(_ context.Context, args []string, _ io.Writer) error {
				got = args
				return nil
			}),
		})
		var stderr strings.Builder
		code := Main(t.Context(), c, append([]string{"join"}, args...), io.Discard, &stderr)
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

// completions returns the words and the directive with which a command line is completed.
func completions(t *testing.T, p *cobra.Command, line string) string {
	t.Helper()
	var out bytes.Buffer
	args := append([]string{cobra.ShellCompNoDescRequestCmd}, strings.Split(line, " ")...)
	difftest.Equal(t, fmt.Sprintf("%q: exit code", line), ExitOK, Main(t.Context(), p, args, &out, io.Discard))
	return strings.Join(strings.Fields(out.String()), " ")
}

func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"":                       "admin completion copy fail help misuse pass reject stop values :4",
		"c":                      "completion copy :4",
		"x":                      ":4",
		"help co":                "completion copy :4",
		"copy --":                "--count --dry --help :4",
		"copy -n --c":            "--count :4",
		"copy --count ":          ":4",
		"copy --count 3 --d":     "--dry :4",
		"copy ":                  ":4",
		"admin ":                 "other user :4",
		"admin user ":            "add list :4",
		"admin user l":           "list :4",
		"admin --host h user a":  "add :4",
		"admin user add --":      "--dry --help --host :4",
		"admin user add Ada --d": "--dry :4",
		"reject ":                ":4",
	} {
		words := strings.Fields(completions(t, program(), line))
		slices.Sort(words)
		wanted := strings.Fields(want)
		slices.Sort(wanted)
		if line == "help co" {
			words = slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, "co") && w[0] != ':' })
		}
		difftest.Equal(t, fmt.Sprintf("%q", line), wanted, words)
	}
}

// A name of an argument or a value that says so is completed to a file or a folder, and the values of some flags are
// known.
func TestCompletionOfValues(t *testing.T) {
	for line, want := range map[string]string{
		"read ": ":4", "read a ": ":0", "read a b ": ":0", "read --to ": ":0", "read --to=": ":0", "read --in ": ":16",
		"read --count ": ":4", "read --kind ": "large small :4", "one ": ":0", "one a ": ":4",
	} {
		read := &cobra.Command{Use: "read NAME FILE...", Short: "read files", Run: func(*cobra.Command, []string) {}}
		read.Flags().String("to", "", "the `FILE` to be written")
		read.Flags().String("in", "", "the `DIR` with the files")
		read.Flags().Int("count", 0, "`N` files")
		read.Flags().String("kind", "", "their `KIND`")
		Values(read, "kind", "large", "small")
		one := &cobra.Command{Use: "one RECEIPT", Short: "read a file", Run: func(*cobra.Command, []string) {}}
		difftest.Equal(t, line, want,
			completions(t, Group(&cobra.Command{Use: "prog", Short: "a program"}, read, one), line))
	}
}
