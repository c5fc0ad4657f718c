package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/internal/localcloud"
)

// Sleep waits, and returns the context's error if that ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ParseTime reads the time that a flag gives, or how long ago it was.
func ParseTime(flag, text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return now.Add(-d.Abs()), nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{},
			command.Usagef("%s %s is neither a time such as 2026-01-31T12:00:00Z nor a duration such as 90m", flag,
				text)
	}
	return t, nil
}

// Command makes a command that calls the service. All of them have the flags of a connection and --json.
func Command(c *cobra.Command, run func(ctx context.Context, c *client.Client, args []string, asJSON bool,
	stdout io.Writer) error) *cobra.Command {
	return CommandWith(new(Connection), c, run)
}

// CommandWith is Command for a command that needs its connection itself.
func CommandWith(conn *Connection, c *cobra.Command, run func(ctx context.Context, c *client.Client,
	args []string, asJSON bool, stdout io.Writer) error) *cobra.Command {
	var asJSON bool
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON and nothing else")
	conn.AddFlags(c)
	c.RunE = conn.Run(func(ctx context.Context, api *client.Client, args []string, stdout io.Writer) error {
		return run(ctx, api, args, asJSON, stdout)
	})
	return c
}

// Run returns a RunE of cobra that calls run with a client of the service that the flags of the connection name.
func (c *Connection) Run(
	run func(ctx context.Context, api *client.Client, args []string, stdout io.Writer) error,
) func(*cobra.Command, []string) error {
	return command.Run(func(ctx context.Context, args []string, stdout io.Writer) error {
		api, err := c.NewClient(ctx)
		if err != nil {
			return err
		}
		return run(ctx, api, args, stdout)
	})
}

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

// FindLocalCloud reads the descriptor of the local cloud that runs on a data folder. If data is "" it looks in the
// default folder; if no local cloud runs there, that is not an error and the descriptor is nil.
func FindLocalCloud(data string) (*localcloud.Descriptor, error) {
	dir := data
	if dir == "" {
		dir = localcloud.DefaultDataDir
	}
	d, err := localcloud.Read(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && data == "":
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no local cloud runs on %s: start one with 'sluice local --data %s'", data, data)
	case err != nil:
		return nil, err
	}
	return &d, nil
}
