package command

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpColumns is the width to which the lines of options are filled.
const helpColumns = 110

// writeHelp prints the help of a command: its summary, arguments, description, commands, options, examples and notes.
// It does without a template, as package text/template makes every program larger by two thirds.
func writeHelp(c *cobra.Command, _ []string) {
	out := c.OutOrStdout()
	paragraph := func(title, text string) {
		if text = strings.TrimSpace(text); text != "" && title != "" {
			text = title + ":\n  " + strings.ReplaceAll(text, "\n", "\n  ")
		}
		if text != "" {
			fmt.Fprintf(out, "\n%s\n", text)
		}
	}
	fmt.Fprintf(out, "%s%s.\n", strings.ToUpper(c.Short[:1]), c.Short[1:])
	usage := c.UseLine()
	if c.HasSubCommands() {
		usage += " COMMAND"
	}
	paragraph("Usage", usage+" [options]")
	paragraph("", c.Long)
	for _, s := range sections(c) {
		paragraph(s.title, s.commands)
	}
	if c.HasSubCommands() {
		paragraph("", "'"+c.CommandPath()+" help COMMAND' describes a command.")
	}
	fmt.Fprintf(out, "\nOptions:\n%s", c.Flags().FlagUsagesWrapped(helpColumns))
	paragraph("Examples", c.Example)
	paragraph("", c.Annotations[notesKey])
}

// section is a titled list of commands in the help, one a line.
type section struct{ title, commands string }

// sections returns the commands of a group by their groups, and then those without one.
func sections(c *cobra.Command) (list []section) {
	words := strings.Fields(c.CommandPath())
	prefix := ""
	for _, word := range words[min(2, len(words)):] { // those of a group inside another one
		prefix += word + " "
	}
	last := "Commands"
	if len(c.Groups()) > 0 {
		last = "Other commands"
	}
	for _, group := range append(c.Groups(), &cobra.Group{Title: last}) {
		var lines strings.Builder
		for _, sub := range c.Commands() {
			if sub.GroupID == group.ID {
				listCommands(&lines, sub, prefix, !c.HasParent())
			}
		}
		if lines.Len() > 0 {
			list = append(list, section{group.Title, lines.String()})
		}
	}
	return list
}

// listCommands writes a command as it is called after a prefix, or the commands of a group unless that is closed.
func listCommands(lines *strings.Builder, c *cobra.Command, prefix string, isClosed bool) {
	switch {
	case !c.IsAvailableCommand():
	case isClosed || !c.HasSubCommands():
		fmt.Fprintf(lines, "%-28s  %s\n", prefix+c.Use, c.Short)
	default:
		for _, sub := range c.Commands() {
			listCommands(lines, sub, prefix+c.Name()+" ", false)
		}
	}
}

const notesKey = "notes"

// Notes returns the annotations of a command whose help ends with a text.
func Notes(text string) map[string]string { return map[string]string{notesKey: text} }

// helpCommand returns the command that prints the help of another one.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help COMMAND...", Short: "describe a command", DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error { return printHelp(c.Root(), args) },
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			group, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, sub := range group.Commands() {
				names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// printHelp prints the help of the command that the words name, from a group on.
func printHelp(c *cobra.Command, words []string) error {
	for _, word := range words {
		if !c.HasSubCommands() {
			break
		}
		next, _, err := c.Find([]string{word})
		if err != nil || next == c {
			return unknownCommand(c, word)
		}
		c = next
	}
	c.InitDefaultHelpFlag()
	return c.Help()
}

// AppendNotes moves the notes of a command and of those below it to the end of their descriptions, for manual pages.
func AppendNotes(c *cobra.Command) {
	if notes := c.Annotations[notesKey]; notes != "" {
		c.Long = strings.TrimSpace(c.Long + "\n\n" + notes)
	}
	for _, sub := range c.Commands() {
		AppendNotes(sub)
	}
}

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

// Output is the standard output of a command. It remembers that something could not be written, because the disk is
// full for example, so that no command can end as if it had printed everything. It is safe for concurrent use.
type Output struct {
	w      io.Writer
	failed atomic.Pointer[error]
}

// Write writes p.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// Unwrap returns the writer below, which is a file if it is a terminal.
func (o *Output) Unwrap() io.Writer { return o.w }

// err returns the first error.
func (o *Output) err() error {
	if failed := o.failed.Load(); failed != nil {
		return *failed
	}
	return nil
}
