package command

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sluice/internal/spelling"
)

// argumentNames returns the names of the arguments of a command. The command gets exactly as many, or, if the last one
// ends with "...", any number more. One in brackets, the last, may be left out.
func argumentNames(c *cobra.Command) []string { return strings.Fields(c.Use)[1:] }

// checkArgs checks the number of arguments. None of them is empty: that is usually a variable of a script that is not
// set.
func checkArgs(c *cobra.Command, args []string) error {
	names := argumentNames(c)
	all := strings.Join(names, " ")
	most, optional := len(names), strings.Count(all, "[")
	isVariadic := strings.HasSuffix(all, "...")
	if len(args) < most-optional || len(args) > most && !isVariadic {
		var wanted string
		switch {
		case most == 0:
			wanted = "no arguments"
		case isVariadic:
			wanted = fmt.Sprintf("at least %s (%s)", countArguments(most), all)
		case optional > 0 && most == 1:
			wanted = fmt.Sprintf("at most 1 argument (%s)", strings.Trim(all, "[]"))
		case optional > 0:
			wanted = fmt.Sprintf("%d or %d arguments (%s)", most-1, most, all)
		default:
			wanted = fmt.Sprintf("%s (%s)", countArguments(most), all)
		}
		return Usagef("'%s' takes %s, not %d", c.CommandPath(), wanted, len(args))
	}
	if slices.Contains(args, "") {
		return Usagef("an argument of '%s' is empty (%s)", c.CommandPath(), all)
	}
	return nil
}

// checkBooleans returns an error if true or false follows a flag that takes no value: it would be an argument of the
// command, and the flag would be true.
func checkBooleans(root *cobra.Command, args []string) (*cobra.Command, error) {
	c, _, err := root.Find(args)
	if err != nil || c.DisableFlagParsing {
		return c, nil // what is wrong is reported later
	}
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if i+1 == len(args) || !strings.HasPrefix(arg, "-") {
			continue
		}
		next, name := strings.ToLower(args[i+1]), strings.TrimLeft(arg, "-")
		f := c.Flag(name)
		if !strings.HasPrefix(arg, "--") {
			f = c.Flags().ShorthandLookup(name[max(len(name)-1, 0):])
		}
		if f != nil && f.Value.Type() == "bool" && (next == "true" || next == "false") {
			return c, usageError{fmt.Errorf("%s takes no separate value: write %s=%s, or ./%s for a file of that name",
				arg, arg, next, args[i+1]), c}
		}
	}
	return c, nil
}

func countArguments(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// runGroup runs a group whose arguments name none of its commands. "help" and the name of a command is its help.
func runGroup(c *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 && args[0] == "help":
		return printHelp(c, args[1:])
	case len(args) > 0:
		return unknownCommand(c, args[0])
	case c.HasParent() && c.Parent().HasParent():
		_, name, _ := strings.Cut(c.CommandPath(), " ")
		err := fmt.Errorf("the command %q is incomplete: it goes on with %s", name, strings.Join(commandNames(c), ", "))
		return usageError{err, c.Parent()}
	case c.Flags().NFlag() > 0:
		return Usagef("a command is missing")
	case c.HasParent():
		return c.Help()
	}
	c.SetOut(c.ErrOrStderr())
	if err := c.Help(); err != nil {
		return err
	}
	return ExitCode(ExitFailed)
}

// unknownCommand returns the error for a word that names no command of a group.
func unknownCommand(c *cobra.Command, word string) error {
	_, group, _ := strings.Cut(c.CommandPath(), " ") // without the program's name
	full := func(name string) string { return strings.TrimSpace(group + " " + name) }
	err := fmt.Errorf("there is no command %q", full(word))
	if name := spelling.Closest(word, commandNames(c)); name != "" {
		err = fmt.Errorf("%w (did you mean %q?)", err, full(name))
	}
	return usageError{err, c}
}

func commandNames(c *cobra.Command) (names []string) {
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return names
}

// GivenFlag returns the first of some flags that the command line has; "" for none.
func GivenFlag(flags *pflag.FlagSet, names ...string) string {
	if i := slices.IndexFunc(names, flags.Changed); i >= 0 {
		return names[i]
	}
	return ""
}

// explainFlagError says in the words of the help what is wrong with the flags.
func explainFlagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var incomplete *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return explainUnknownFlag(c, unknown)
	case errors.As(err, &incomplete):
		return Usagef("the option %s needs a value", flagName(incomplete.GetFlag()))
	case !errors.As(err, &invalid):
		return Usagef("%w", err)
	}
	name, value := flagName(invalid.GetFlag()), invalid.GetValue()
	kinds := map[string]string{"bool": "true or false", "duration": "a duration such as 90s, 10m or 2h",
		"int": "a whole number", "int64": "a whole number", "uint64": "a whole number from 0", "float64": "a number"}
	kind := kinds[invalid.GetFlag().Value.Type()]
	switch {
	case errors.Is(err, strconv.ErrRange):
		return Usagef("the value %q of %s is out of range", value, name)
	case kind != "":
		return Usagef("%s is %s, not %q", name, kind, value)
	}
	return Usagef("the value %q of %s is invalid: %w", value, name, invalid.Unwrap())
}

// explainUnknownFlag returns the error for a flag that the command does not have. A long name after a single dash, as
// package flag takes it, is reported with the two dashes that it needs.
func explainUnknownFlag(c *cobra.Command, unknown *pflag.NotExistError) error {
	name, typed := unknown.GetSpecifiedName(), "--"+unknown.GetSpecifiedName()
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		name, _, _ = strings.Cut(letters, "=")
		typed = "-" + name
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if other := spelling.Closest(name, names); other != "" {
		return Usagef("there is no option %s (did you mean --%s?)", typed, other)
	}
	return Usagef("there is no option %s", typed)
}

// flagName writes the name of a flag as the help has it first.
func flagName(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand
	}
	return "--" + f.Name
}
