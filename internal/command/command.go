// Package command runs the cobra commands of a program: it checks their arguments, prints help and errors in one format
// and returns the exit code. The names in a command's Use line say how many arguments it takes, and what completes
// them.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Exit codes that every program of the project shares.
const (
	// ExitOK means that the command did what it was asked for, or printed the help it was asked for.
	ExitOK = 0
	// Rejected is the error, and the exit code, of a command that ran and found something rejected or failed.
	Rejected ExitCode = 1
	// ExitFailed means that the command could not run; one line on standard error says why.
	ExitFailed = 2
	// Unfinished is the error, and the exit code, of a command that was asked about a batch that has not ended.
	Unfinished ExitCode = 3
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

// usageError is an error that the help of a command can explain.
type usageError struct {
	error
	// command is nil for the command that was run.
	command *cobra.Command
}

// Usagef returns an error for a command line that cannot be run as it is. The printed message ends with a reference to
// the help of the command.
func Usagef(format string, args ...any) error { return usageError{error: fmt.Errorf(format, args...)} }

// Run returns a RunE of cobra that calls run with the context, the arguments and the standard output of the command.
// Nil means ExitOK, an ExitCode that code; any other error is printed and ends with ExitInterrupted if it is
// ErrInterrupted or that of the ended context, else with ExitFailed.
func Run(
	run func(ctx context.Context, args []string, stdout io.Writer) error,
) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error { return run(c.Context(), args, c.OutOrStdout()) }
}

// Group adds commands to one that runs none itself, and returns it.
func Group(c *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	c.AddCommand(commands...)
	return c
}

// Main runs what the arguments of a program ask for and returns the exit code: ExitFailed also if stdout has not taken
// everything. A program that is called without arguments prints its help on stderr, as an error.
func Main(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	out := &Output{w: stdout}
	code := run(ctx, root, args, out, stderr)
	if err := out.err(); err != nil && code != ExitFailed && code != ExitInterrupted {
		fmt.Fprintf(stderr, "%s: not everything could be printed: %v\n", root.DisplayName(), err)
		return ExitFailed
	}
	return code
}

func run(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	Prepare(root)
	root.SetArgs(append([]string{}, args...))
	root.SetOut(stdout)
	root.SetErr(stderr)
	c, err := execute(ctx, root, args)
	code := ExitFailed
	switch exit, usage := ExitCode(0), (usageError{}); {
	case err == nil:
		return ExitOK
	case errors.As(err, &exit):
		return int(exit)
	case errors.Is(err, ErrInterrupted):
		code = ExitInterrupted
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		code, err = ExitInterrupted, ErrInterrupted
	case errors.As(err, &usage):
		if usage.command != nil {
			c = usage.command
		}
		err = fmt.Errorf("%w; see '%s --help'", err, c.CommandPath())
	}
	fmt.Fprintf(stderr, "%s: %v\n", root.DisplayName(), err)
	return code
}

// execute runs the command that args name and returns it with its error.
func execute(ctx context.Context, root *cobra.Command, args []string) (*cobra.Command, error) {
	if c, err := checkBooleans(root, args); err != nil {
		return c, err
	}
	return root.ExecuteContextC(ctx)
}

// Prepare gives a program and all its commands what Main needs: checks of arguments, help, and completion. Main does it
// itself; a second call changes nothing.
func Prepare(root *cobra.Command) {
	cobra.EnableCommandSorting = false
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(explainFlagError)
	root.SetHelpFunc(writeHelp)
	root.SetHelpCommand(helpCommand())
	root.InitDefaultCompletionCmd()
	prepare(root)
}

// prepare prepares a command and those below it.
func prepare(c *cobra.Command) {
	c.DisableFlagsInUseLine = true
	switch {
	case c.HasSubCommands():
		c.Args, c.RunE = cobra.ArbitraryArgs, runGroup
	case !c.DisableFlagParsing:
		c.Args = checkArgs
	}
	prepareCompletion(c)
	for _, sub := range c.Commands() {
		prepare(sub)
	}
}
