package webhooks

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/openapi/wire"
)

func testWebhookCommand() *cobra.Command {
	return service.Command(&cobra.Command{
		Use: "test WEBHOOK", Short: "deliver a test message and show what came of it",
		Long: `
The message is delivered once, also to a webhook that is disabled. The exit code is 1 if the delivery did not succeed.`,
		Example: "sluice webhooks test 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e11",
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		d, err := c.TestWebhook(ctx, args[0])
		for n := 0; err == nil && d.Outcome == nil; n++ {
			if err = service.Sleep(ctx, client.Gently(n)); err == nil {
				d, err = c.Delivery(ctx, args[0], d.ID)
			}
		}
		if err != nil {
			return err
		}
		if asJSON {
			err = output.PrintReply(stdout, d.Reply)
		} else {
			err = printDeliveries(stdout, []client.Delivery{d})
		}
		if err == nil && wire.OrZero(d.Outcome) != "Successful" {
			return command.Rejected
		}
		return err
	})
}

// maxDeliveriesPage is how many deliveries one request returns at most.
const maxDeliveriesPage = 100

func deliveriesCommand() *cobra.Command {
	var outcome string
	var limit int
	c := service.Command(&cobra.Command{
		Use:   "deliveries WEBHOOK [DELIVERY]",
		Short: "list the deliveries of a webhook, newest first, or show one with its attempts",
		Example: `
sluice webhooks deliveries 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e11 --outcome Failed
sluice webhooks deliveries 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e11 019abf3c-5d80-7c44-9a55-3f1d2b6c8e21`,
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		if len(args) == 2 {
			if outcome != "" {
				return command.Usagef("--outcome is for a list: leave it out, or DELIVERY")
			}
			d, err := c.Delivery(ctx, args[0], args[1])
			switch {
			case err != nil:
				return err
			case asJSON:
				return output.PrintReply(stdout, d.Reply)
			}
			return printAttempts(stdout, d)
		}
		return output.Listing[client.Delivery]{
			Page: func(ctx context.Context, limit int, token string) ([]client.Delivery, string, error) {
				return c.Deliveries(ctx, args[0], outcome, limit, token)
			},
			None:    "No delivery matches.",
			MaxPage: maxDeliveriesPage, Print: printDeliveries,
			Record: func(d client.Delivery) any { return d },
		}.Run(ctx, limit, asJSON, stdout)
	})
	f := c.Flags()
	f.StringVar(&outcome, "outcome", "",
		"only those with this `OUTCOME`: Pending, Successful, Failed or TimedOut")
	f.IntVar(&limit, "limit", 50, "`NUMBER` of deliveries that are listed at most")
	command.Values(c, "outcome", "Pending", "Successful", "Failed", "TimedOut")
	return c
}

// printDeliveries prints a line for each delivery.
func printDeliveries(stdout io.Writer, deliveries []client.Delivery) error {
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, d := range deliveries {
		outcome := cmp.Or(wire.OrZero(d.Outcome), "Pending")
		events := terminal.CountOf(int64(len(d.Events)), "event")
		if len(d.Events) == 1 {
			events = d.Events[0].EventType
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", d.CreatedAt.Format(time.RFC3339), d.ID, events, outcome,
			terminal.CountOf(d.AttemptCount, "attempt"), linefile.Printable(wire.OrZero(d.Message)))
	}
	return table.Flush()
}

// printAttempts prints a delivery with its attempts.
func printAttempts(stdout io.Writer, d client.Delivery) error {
	if err := printDeliveries(stdout, []client.Delivery{d}); err != nil {
		return err
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, a := range d.Attempts {
		status := "-"
		if a.Status != nil {
			status = fmt.Sprint(*a.Status)
		}
		fmt.Fprintf(table, "  %d\t%s\t%s\t%s\t%s\t%s\n", a.Number, a.At.Format(time.RFC3339),
			(time.Duration(a.Milliseconds) * time.Millisecond).String(), status, a.Outcome,
			linefile.Printable(wire.OrZero(a.Message)+" "+wire.OrZero(a.Answer)))
	}
	if d.NextAttemptAt != nil {
		fmt.Fprintf(table, "  next\t%s\n", d.NextAttemptAt.Format(time.RFC3339))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return output.PrintReply(stdout, d.Payload)
}

func resendCommand() *cobra.Command {
	var since string
	var outcomes []string
	c := service.Command(&cobra.Command{
		Use: "resend WEBHOOK [DELIVERY]", Short: "send deliveries again",
		Long: `
One DELIVERY is sent again whatever its outcome; --since sends again what was given up since a time. What is sent again
has the ID that it had, so that its receiver can tell.`,
		Example: `
sluice webhooks resend 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e11 --since 24h
sluice webhooks resend 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e11 019abf3c-5d80-7c44-9a55-3f1d2b6c8e21`,
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		if (len(args) == 2) == (since != "") {
			return command.Usagef("name either a DELIVERY or --since")
		}
		if len(args) == 2 && outcomes != nil {
			return command.Usagef("--outcome is for --since: one DELIVERY is sent again whatever its outcome")
		}
		if len(args) == 2 {
			d, err := c.ResendDelivery(ctx, args[0], args[1])
			switch {
			case err != nil:
				return err
			case asJSON:
				return output.PrintReply(stdout, d.Reply)
			}
			return printDeliveries(stdout, []client.Delivery{d})
		}
		at, err := service.ParseTime("--since", since, time.Now())
		if err != nil {
			return err
		}
		n, err := c.ResendSince(ctx, args[0], at, outcomes...)
		switch {
		case err != nil && n > 0:
			return fmt.Errorf("%w; %s sent again before", err, terminal.CountNoun(int64(n), "delivery was",
				"deliveries were"))
		case err != nil:
			return err
		case asJSON:
			return output.PrintJSONLines(stdout, []map[string]int{{"resent": n}})
		}
		_, err = fmt.Fprintf(stdout, "%d sent again\n", n)
		return err
	})
	f := c.Flags()
	f.StringVar(&since, "since", "",
		"send again the events since this `TIME`, such as 2026-01-31T12:00:00Z, or 90m or 24h ago")
	f.StringArrayVar(&outcomes, "outcome", nil,
		"with --since: only those with this `OUTCOME`; can be repeated (default Failed and TimedOut)")
	command.Values(c, "outcome", "Successful", "Failed", "TimedOut")
	return c
}
