package service

import (
	"slices"
	"strings"

	"sluice/internal/linefile"
)

// CommandLine writes a command that a message tells people to run, for their shell: with the flags of the connection
// that this command was given, without which the next one would call another service, or none. What came from the
// environment is not among them. A secret is not shown: SECRET stands for it. Without a connection, nil, there are no
// flags. Messages that only name a command ('sluice policy list') do not need it.
func (c *Connection) CommandLine(command string, args ...string) string {
	var flags []string
	if c != nil {
		flags = c.givenFlags()
	}
	return WriteCommandLine(command, flags, args)
}

// givenFlags returns the flags of the connection that the command line has.
func (c *Connection) givenFlags() []string {
	if c.given == nil {
		c.given = []string{}
		for _, option := range connectionFlags {
			value := *option.target(c)
			if value != "" && option.name == "client-secret" {
				value = "SECRET"
			}
			if value != "" {
				c.given = append(c.given, "--"+option.name, linefile.ShellQuote(value))
			}
		}
	}
	return c.given
}

// WriteCommandLine writes a command with flags, which are written for a shell already, and arguments, which are not.
func WriteCommandLine(command string, flags, args []string) string {
	words := slices.Concat([]string{"sluice", command}, flags)
	isInFlag := func(r rune) bool { return r == '-' || r >= 'a' && r <= 'z' }
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") || strings.TrimFunc(arg, isInFlag) != "" {
			arg = linefile.ShellQuote(arg)
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}
