package cli

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// writeHelp prints the help of the command that was found. If words is not "" it lists only those commands of the group
// that begin with these words.
func (c *Command) writeHelp(w io.Writer, i invocation, words string) {
	usage := []string{i.path}
	switch {
	case len(c.Commands) > 0:
		usage = append(usage, "COMMAND")
	case c.Args != "":
		usage = append(usage, c.Args)
	}
	var options []row
	i.flags.VisitAll(func(f *flag.Flag) { options = append(options, optionRow(f)) })
	if len(options) > 0 {
		usage = append(usage, "[options]")
	}
	fmt.Fprintf(w, "%s%s.\n\nUsage:\n  %s\n", strings.ToUpper(c.Summary[:1]), c.Summary[1:], strings.Join(usage, " "))
	writeParagraph(w, c.Description)
	var commands []row
	for _, sub := range c.Commands {
		if words != "" && !strings.HasPrefix(sub.Name, words+" ") {
			continue
		}
		commands = append(commands, row{strings.TrimSpace(sub.Name + " " + sub.Args), sub.Summary})
	}
	writeRows(w, "Commands", commands)
	if len(commands) > 0 {
		fmt.Fprintf(w, "\n'%s help COMMAND' describes a command.\n", i.path)
	}
	writeRows(w, "Options", options)
	if len(c.Examples) > 0 {
		fmt.Fprintf(w, "\nExamples:\n  %s\n", strings.Join(c.Examples, "\n  "))
	}
	writeParagraph(w, c.Notes)
}

// row is a line of a list: a name and what it means.
type row struct{ name, meaning string }

func optionRow(f *flag.Flag) row {
	value, usage := flag.UnquoteUsage(f)
	switch f.DefValue {
	case "", "0", "false", "[]":
	default:
		if !strings.Contains(usage, "(default ") {
			usage += " (default " + f.DefValue + ")"
		}
	}
	return row{strings.TrimSpace(flagName(f.Name) + " " + value), usage}
}

// flagName writes the name of a flag as a user types it.
func flagName(name string) string {
	if utf8.RuneCountInString(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

const (
	// helpColumns is the width to which the lines of lists are filled.
	helpColumns = 110
	// maxNameColumns is the width of the column of names; a longer name has a line of its own.
	maxNameColumns = 28
)

func writeRows(w io.Writer, title string, rows []row) {
	if len(rows) == 0 {
		return
	}
	width := 0
	for _, r := range rows {
		if len(r.name) <= maxNameColumns {
			width = max(width, len(r.name))
		}
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	indent := "\n" + strings.Repeat(" ", width+4)
	for _, r := range rows {
		name := fmt.Sprintf("%-*s  ", width, r.name)
		if len(r.name) > width {
			name = r.name + indent
		}
		fmt.Fprintf(w, "  %s%s\n", name, strings.Join(fill(r.meaning, helpColumns-width-4), indent))
	}
}

// fill breaks a text between words into lines of at most width bytes, where words allow it.
func fill(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

func writeParagraph(w io.Writer, text string) {
	if text != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(text))
	}
}
