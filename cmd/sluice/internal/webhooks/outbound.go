package webhooks

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
)

func outboundCommand() *cobra.Command {
	return command.Group(&cobra.Command{
		Use:     "outbound",
		Short:   "look at receivers that the service calls",
		Example: "sluice outbound check https://hooks.example.com/sluice",
	}, checkReceiverCommand())
}

func checkReceiverCommand() *cobra.Command {
	var conn service.Connection
	var asJSON bool
	c := &cobra.Command{
		Use:   "check URL",
		Short: "print the certificates that a receiver presents, and what each validation mode decides",
		Long: `
The service connects to URL as it does for webhooks and token endpoints, but sends no request. The modes decide by the
certificate that the tenant's configuration of external authentication gives for URL, or by public CAs. The exit code is
1 if no mode accepts the receiver.`,
		Example: "sluice outbound check https://hooks.example.com/sluice",
		RunE: conn.Run(func(ctx context.Context, c *client.Client, args []string, stdout io.Writer) error {
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
				return command.Rejected
			}
			return err
		}),
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false, "print the service's reply")
	conn.AddFlags(c)
	return c
}

// printCheck prints what a receiver presents. Names in certificates are the receiver's: they are made printable.
func printCheck(w io.Writer, check client.ReceiverCheck) error {
	ui := terminal.New(w)
	for i, c := range check.Chain {
		ui.Printf("certificate %d of %d\n", i+1, len(check.Chain))
		for _, line := range [][2]string{
			{"subject", c.Subject}, {"issuer", c.Issuer}, {"serial", c.Serial},
			{"valid", c.NotBefore.Format(time.RFC3339) + " to " + c.NotAfter.Format(time.RFC3339)},
			{"SHA-1", c.ThumbprintSHA1}, {"SHA-256", c.ThumbprintSHA256},
		} {
			ui.Printf("  %-8s %s\n", line[0], linefile.Printable(line[1]))
		}
	}
	for _, d := range check.Decisions {
		word := "refused"
		if d.Accepted {
			word = "accepted"
		}
		ui.Printf("%-25s  %-8s  %s\n", d.Mode, word, linefile.Printable(d.Reason))
	}
	return nil
}
