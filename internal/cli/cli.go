// Package cli runs the commands of a program: it finds the command that the arguments name, parses its flags, prints
// help and errors in one format and returns the exit code. Flags are those of package flag; they may precede and follow
// the arguments of a command.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Exit codes that every program of the project shares.
const (
	// ExitOK means that the command did what it was asked for, or printed the help it was asked for.
	ExitOK = 0
	// ExitFailed means that the command could not run; one line on standard error says why.
	ExitFailed = 2
	// ExitInterrupted means that Ctrl-C or a signal ended the command, as shells have it: 128 and the number of SIGINT.
	ExitInterrupted = 130
)

// ErrInterrupted is the error of a command that ended because its context did. The program then ends with
// ExitInterrupted.
var ErrInterrupted = errors.New("interrupted")

// ExitCode is the error of a command that has printed its outcome itself: the program ends with this code and prints
// nothing more.
type ExitCode int

// Error names the code.
func (c ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// usageError is an error that the help of the command can explain.
type usageError struct{ error }

// Usagef returns an error for a command line that cannot be run as it is. The printed message ends with a reference to
// the help of the command.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Command is a command of a program, or a group of commands, or the program itself.
type Command struct {
	// Name is what the user types, one word or several. The program's own name begins its messages.
	Name string
	// Args names the arguments, separated by spaces. The command gets exactly as many, or, if the
	// last one ends with "...", any number more. One in brackets, the last, may be left out. None of them is empty:
	// that is usually a variable of a script that is not set.
	Args string
	// Summary says what the command does in one phrase, for the list of commands: "upload a batch".
	Summary string
	// Description says the rest, in paragraphs. It may be empty.
	Description string
	// Flags declares the command's flags, or those that all commands of a group share. It may be nil. Usage texts name
	// the value in back quotes, as package flag has it. The help prints the default of a flag unless it is the zero
	// value or the text has a "(default ...)" of its own; a secret of the environment must therefore not be a default.
	Flags func(*flag.FlagSet)
	// Examples are command lines that work as they are.
	Examples []string
	// Notes follow everything else in the help.
	Notes string

	// Run runs the command. Nil means ExitOK, an ExitCode that code; any other error is printed and ends with
	// ExitInterrupted if it is ErrInterrupted or that of the ended context, else with ExitFailed.
	Run func(ctx context.Context, args []string, stdout io.Writer) error
	// PassThrough makes Run get everything after the name as it is, flags and --help too.
	PassThrough bool
	// Commands make the command a group, in the order of its help. A group has no Run.
	Commands []*Command
}

// Main runs what the arguments of a program ask for and returns the exit code. A program that is called without
// arguments prints its help on stderr, as an error.
func (c *Command) Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	i := invocation{path: c.Name, flags: flag.NewFlagSet(c.Name, flag.ContinueOnError), stdout: stdout}
	i.flags.SetOutput(io.Discard)
	if len(args) == 0 && len(c.Commands) > 0 {
		c.writeHelp(stderr, i, "")
		return ExitFailed
	}
	err := c.run(ctx, &i, args)
	var code ExitCode
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, ErrInterrupted):
		fmt.Fprintf(stderr, "%s: %v\n", c.Name, err)
		return ExitInterrupted
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "%s: %v\n", c.Name, ErrInterrupted)
		return ExitInterrupted
	}
	if errors.As(err, new(usageError)) {
		err = fmt.Errorf("%w; see '%s --help'", err, i.path)
	}
	fmt.Fprintf(stderr, "%s: %v\n", c.Name, err)
	return ExitFailed
}

// invocation is one run of a program.
type invocation struct {
	// path is the program's name and the words of the command found so far.
	path string
	// flags are those of the command and of all groups to which it belongs.
	flags  *flag.FlagSet
	stdout io.Writer
}

func (c *Command) run(ctx context.Context, i *invocation, args []string) error {
	if c.PassThrough {
		return c.Run(ctx, args, i.stdout)
	}
	if c.Flags != nil {
		c.Flags(i.flags)
	}
	if len(c.Commands) > 0 {
		return c.runSubcommand(ctx, i, args)
	}
	var rest []string
	for len(args) > 0 {
		if err := i.flags.Parse(args); errors.Is(err, flag.ErrHelp) {
			c.writeHelp(i.stdout, *i, "")
			return nil
		} else if err != nil {
			return usageError{explainFlagError(err, i.flags)}
		}
		parsed := args[:len(args)-i.flags.NArg()]
		switch args = i.flags.Args(); {
		case endsOptions(parsed, i.flags):
			rest, args = append(rest, args...), nil
		case len(args) > 0:
			rest, args = append(rest, args[0]), args[1:]
		}
	}
	if n := len(strings.Fields(c.Args)); len(rest) < n-c.countOptional() || len(rest) > n && !c.isVariadic() {
		return Usagef("'%s' takes %s, not %d", i.path, c.countArgs(), len(rest))
	}
	if slices.Contains(rest, "") {
		return Usagef("an argument of '%s' is empty (%s)", i.path, c.Args)
	}
	return c.Run(ctx, rest, i.stdout)
}

// endsOptions reports whether options that were parsed end with "--", after which everything is an argument.
func endsOptions(parsed []string, flags *flag.FlagSet) bool {
	for len(parsed) > 0 {
		if parsed[0] == "--" {
			return true
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(parsed[0], "-"), "=")
		parsed = parsed[1:]
		if !hasValue && !isBool(flags.Lookup(name)) && len(parsed) > 0 {
			parsed = parsed[1:] // the value, which may be "--" itself
		}
	}
	return false
}

// countOptional returns the number of arguments in brackets.
func (c *Command) countOptional() int { return strings.Count(c.Args, "[") }

// isVariadic reports whether the last argument may be repeated.
func (c *Command) isVariadic() bool { return strings.HasSuffix(c.Args, "...") }

// countArgs says how many arguments the command takes.
func (c *Command) countArgs() string {
	switch names := strings.Fields(c.Args); len(names) {
	case 0:
		return "no arguments"
	case 1:
		if c.isVariadic() {
			return "at least 1 argument (" + c.Args + ")"
		}
		if c.countOptional() > 0 {
			return "at most 1 argument (" + strings.Trim(c.Args, "[]") + ")"
		}
		return "1 argument (" + c.Args + ")"
	default:
		if c.isVariadic() {
			return fmt.Sprintf("at least %d arguments (%s)", len(names), c.Args)
		}
		if c.countOptional() > 0 {
			return fmt.Sprintf("%d or %d arguments (%s)", len(names)-1, len(names), c.Args)
		}
		return fmt.Sprintf("%d arguments (%s)", len(names), c.Args)
	}
}

// runSubcommand runs the command of a group that the arguments name. "help" and the name of a command is its help.
func (c *Command) runSubcommand(ctx context.Context, i *invocation, args []string) error {
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	var words []string
	for len(args) > 0 {
		if err := i.flags.Parse(args); errors.Is(err, flag.ErrHelp) {
			c.writeHelp(i.stdout, *i, strings.Join(words, " "))
			return nil
		} else if err != nil {
			return usageError{explainFlagError(err, i.flags)}
		}
		if args = i.flags.Args(); len(args) == 0 {
			break
		}
		words, args = append(words, args[0]), args[1:]
		name := strings.Join(words, " ")
		for _, sub := range c.Commands {
			if sub.Name == name {
				i.path += " " + name
				return sub.run(ctx, i, args)
			}
		}
		if len(c.continuations(name)) == 0 {
			break
		}
	}
	return c.explainUnknown(i, strings.Join(words, " "))
}

// continuations returns the rest of the names of all commands whose first words are the given ones.
func (c *Command) continuations(words string) []string {
	var rest []string
	for _, sub := range c.Commands {
		if more, ok := strings.CutPrefix(sub.Name, words+" "); ok {
			rest = append(rest, more)
		}
	}
	return rest
}

// explainUnknown returns the error for words that name no command of the group.
func (c *Command) explainUnknown(i *invocation, words string) error {
	if words == "" {
		return Usagef("a command is missing")
	}
	_, group, _ := strings.Cut(i.path, " ") // without the program's name
	full := func(name string) string { return strings.TrimSpace(group + " " + name) }
	if rest := c.continuations(words); rest != nil {
		return Usagef("the command %q is incomplete: it goes on with %s", full(words), joinOr(rest))
	}
	// Only the last word is unknown: the ones before it begin the name of a command.
	known, last, names := "", words, []string(nil)
	if i := strings.LastIndexByte(words, ' '); i >= 0 {
		known, last = words[:i+1], words[i+1:]
		names = c.continuations(words[:i])
	} else {
		for _, sub := range c.Commands {
			names = append(names, sub.Name)
		}
	}
	if name := Closest(last, names); name != "" {
		return Usagef("there is no command %q (did you mean %q?)", full(words), full(known+name))
	}
	return Usagef("there is no command %q", full(words))
}
