package main

import (
	"slices"
	"strings"

	"sluice/internal/linefile"
)

// commandLine writes a command that a message tells people to run, for their shell: with the flags of the connection
// that this command was given, without which the next one would call another service, or none. What came from the
// environment is not among them. A secret is not shown: SECRET stands for it. Without a connection, nil, there are no
// flags. Messages that only name a command ('sluice policy list') do not need it.
func (c *connection) commandLine(command string, args ...string) string {
	var flags []string
	if c != nil {
		flags = c.givenFlags()
	}
	return writeCommandLine(command, flags, args)
}

// givenFlags returns the flags of the connection that the command line has.
func (c *connection) givenFlags() []string {
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

// writeCommandLine writes a command with flags, which are written for a shell already, and arguments, which are not.
func writeCommandLine(command string, flags, args []string) string {
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

// commandLine writes a command of sluice admin that a message tells people to run, with the flags that name the
// installation and the tenant, as this command was given them.
func (a *admin) commandLine(command string) string {
	return writeCommandLine("admin "+command, a.given, nil)
}

// givenFlags returns the flags for all commands of sluice admin that the command line has.
func (a *admin) givenFlags() []string {
	flags := []string{}
	for _, f := range []struct{ name, value string }{{"data", a.data}, {"prefix", a.prefix}, {"tenant", a.tenant}} {
		if f.value != "" {
			flags = append(flags, "--"+f.name, linefile.ShellQuote(f.value))
		}
	}
	return flags
}
