package service

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/internal/command"
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
