package cli

import (
	"embed"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// CompleteCommand is the first argument of a program that completes a command line: the others are its words, of which
// the last one, which may be empty, is to be completed.
const CompleteCommand = "__complete"

// completeFiles is what a program prints, in place of words, where a file is named.
const completeFiles = ":file"

//go:embed completion
var completionScripts embed.FS

// CompletionScript returns what has a shell (bash, zsh or fish) complete the command lines of a program. The script
// asks the program for the words, by CompleteCommand, so that they are always those of its table of commands.
func (c *Command) CompletionScript(shell string) (string, error) {
	text, err := completionScripts.ReadFile("completion/" + shell)
	if err != nil {
		return "", Usagef("the shell is bash, zsh or fish, not %q", shell)
	}
	return strings.ReplaceAll(string(text), "PROGRAM", c.Name), nil
}

// PrintCompletions prints, one a line, the words with which the last of the given ones may go on.
func (c *Command) PrintCompletions(w io.Writer, words []string) {
	found, isFile := c.complete(words)
	if isFile {
		found = []string{completeFiles}
	}
	for _, word := range found {
		fmt.Fprintln(w, word)
	}
}

// completion is the state of a command line at one of its words.
type completion struct {
	command *Command
	flags   *flag.FlagSet
	// words are those that begin the name of a subcommand.
	words string
	// args is how many arguments of the command came before.
	args int
	// last is the flag that was named last, if it takes a value; isPending means that the next word is this value.
	last      *flag.Flag
	isPending bool
}

// complete returns the words with which the last one may go on, or that it is the name of a file.
func (c *Command) complete(words []string) (found []string, isFile bool) {
	if len(words) == 0 {
		words = []string{""}
	}
	state := completion{flags: flag.NewFlagSet(c.Name, flag.ContinueOnError)}
	state.enter(c)
	n := len(words) - 1
	for _, word := range words[:n] {
		if state.command.PassThrough {
			return nil, true
		}
		if !state.next(word) {
			return nil, false
		}
	}
	found, isFile = state.candidates(words[n])
	found = slices.DeleteFunc(found, func(word string) bool { return !strings.HasPrefix(word, words[n]) })
	slices.Sort(found)
	return slices.Compact(found), isFile
}

// enter goes on with a command.
func (s *completion) enter(c *Command) {
	s.command, s.words = c, ""
	if c.Flags != nil {
		c.Flags(s.flags)
	}
}

// next goes on after a word. It returns false if no command goes on like this.
func (s *completion) next(word string) bool {
	switch {
	case word == "=": // bash makes a word of it
		s.isPending = s.last != nil
	case s.isPending:
		s.isPending = false
	case len(word) > 1 && word[0] == '-':
		s.last = s.flags.Lookup(strings.TrimLeft(word, "-"))
		s.isPending = s.last != nil && !isBool(s.last)
	case len(s.command.Commands) == 0:
		s.args++
	case s.words == "" && word == "help":
	default:
		s.words = strings.TrimSpace(s.words + " " + word)
		for _, sub := range s.command.Commands {
			if sub.Name == s.words {
				s.enter(sub)
				return true
			}
		}
		return s.command.continuations(s.words) != nil
	}
	return true
}

// candidates returns what may be at the present place, or that a file may.
func (s *completion) candidates(word string) (found []string, isFile bool) {
	switch {
	case s.command.PassThrough:
		return nil, true
	case s.isPending:
		return nil, takesFile(s.last)
	case strings.HasPrefix(word, "-") && strings.Contains(word, "="): // a flag with its value, in zsh and fish
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		return nil, takesFile(s.flags.Lookup(name))
	case strings.HasPrefix(word, "-") && word != "-":
		s.flags.VisitAll(func(f *flag.Flag) { found = append(found, flagName(f.Name)) })
		return append(found, "--help"), false
	case len(s.command.Commands) > 0:
		return s.subcommands(), false
	}
	args := strings.Fields(s.command.Args)
	if len(args) == 0 {
		return nil, false
	}
	return nil, isFileName(args[min(s.args, len(args)-1)])
}

// subcommands returns the next words of the names of the group's commands.
func (s *completion) subcommands() []string {
	var names []string
	if s.words == "" {
		names = []string{"help"}
		for _, sub := range s.command.Commands {
			names = append(names, sub.Name)
		}
	} else {
		names = s.command.continuations(s.words)
	}
	for i, name := range names {
		names[i], _, _ = strings.Cut(name, " ")
	}
	return names
}

// isBool reports whether a flag takes no value.
func isBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// takesFile reports whether the value of a flag, which may be nil, is a file or a folder.
func takesFile(f *flag.Flag) bool {
	if f == nil {
		return false
	}
	value, _ := flag.UnquoteUsage(f)
	return isFileName(value)
}

// isFileName reports whether the name of an argument or a value says that it is a file or a folder.
func isFileName(name string) bool {
	for _, file := range []string{"FILE", "DIR", "RECEIPT", "FOLDER"} {
		if strings.Contains(name, file) {
			return true
		}
	}
	return false
}
