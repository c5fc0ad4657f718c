package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"time"

	"sluice/client"
	"sluice/internal/cli"
)

func outboundCommand() *cli.Command {
	return &cli.Command{
		Name:     "outbound",
		Summary:  "look at receivers that the service calls",
		Commands: []*cli.Command{checkReceiverCommand()},
		Examples: []string{"sluice outbound check https://hooks.example.com/sluice"},
	}
}

func checkReceiverCommand() *cli.Command {
	var conn connection
	var asJSON bool
	return &cli.Command{
		Name:    "check",
		Args:    "URL",
		Summary: "print the certificates that a receiver presents, and what each validation mode decides",
		Description: `
The service connects to URL as it does for webhooks and token endpoints, but sends no request. The modes decide by the
certificate that the tenant's configuration of external authentication gives for URL, or by public CAs. The exit code is
1 if no mode accepts the receiver.`,
		Flags: func(f *flag.FlagSet) {
			f.BoolVar(&asJSON, "json", false, "print the service's reply")
			conn.addFlags(f)
		},
		Examples: []string{"sluice outbound check https://hooks.example.com/sluice"},
		Run: func(ctx context.Context, args []string, stdout io.Writer) error {
			c, err := conn.newClient(ctx)
			if err != nil {
				return err
			}
			check, err := c.CheckReceiver(ctx, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				_, err = fmt.Fprintf(stdout, "%s\n", check.Reply)
			} else {
				err = printCheck(stdout, check)
			}
			isAccepted := func(d client.CertificateDecision) bool { return d.Accepted }
			if err == nil && !slices.ContainsFunc(check.Decisions, isAccepted) {
				return exitRejected
			}
			return err
		},
	}
}

// printCheck prints what a receiver presents. Names in certificates are the receiver's: they are made printable.
func printCheck(w io.Writer, check client.ReceiverCheck) error {
	ui := newTerminal(w)
	for i, c := range check.Chain {
		ui.printf("certificate %d of %d\n", i+1, len(check.Chain))
		for _, line := range [][2]string{
			{"subject", c.Subject}, {"issuer", c.Issuer}, {"serial", c.Serial},
			{"valid", c.NotBefore.Format(time.RFC3339) + " to " + c.NotAfter.Format(time.RFC3339)},
			{"SHA-1", c.ThumbprintSHA1}, {"SHA-256", c.ThumbprintSHA256},
		} {
			ui.printf("  %-8s %s\n", line[0], printable(line[1]))
		}
	}
	for _, d := range check.Decisions {
		word := "refused"
		if d.Accepted {
			word = "accepted"
		}
		ui.printf("%-25s  %-8s  %s\n", d.Mode, word, printable(d.Reason))
	}
	return nil
}
