package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Values has the value of a flag completed to one of a few. A colon and what follows it describe a value.
func Values(c *cobra.Command, flag string, values ...string) {
	Complete(c, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// Complete has the value of a flag completed by a function.
func Complete(c *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // the command has no such flag
	}
}

// prepareCompletion completes the names of files and folders, wherever the name of an argument or the usage of a flag
// says that it is one, and nothing where the command says nothing itself.
func prepareCompletion(c *cobra.Command) {
	if names := argumentNames(c); c.ValidArgsFunction == nil && !c.HasSubCommands() && !c.DisableFlagParsing {
		c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(names) == 0 || len(args) >= len(names) && !strings.HasSuffix(names[len(names)-1], "...") {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, directiveFor(names[min(len(args), len(names)-1)])
		}
	}
	complete := func(f *pflag.Flag) {
		if _, isComplete := c.GetFlagCompletionFunc(f.Name); !isComplete {
			value, _ := pflag.UnquoteUsage(f)
			Complete(c, f.Name, cobra.FixedCompletions(nil, directiveFor(value)))
		}
	}
	c.LocalNonPersistentFlags().VisitAll(complete)
	c.PersistentFlags().VisitAll(complete)
}

// directiveFor returns what completes an argument or a value of a name.
func directiveFor(name string) cobra.ShellCompDirective {
	isNamed := func(word string) bool { return strings.Contains(name, word) }
	switch {
	case isNamed("DIR"), isNamed("FOLDER"):
		return cobra.ShellCompDirectiveFilterDirs
	case slices.ContainsFunc([]string{"FILE", "RECEIPT"}, isNamed):
		return cobra.ShellCompDirectiveDefault
	}
	return cobra.ShellCompDirectiveNoFileComp
}
