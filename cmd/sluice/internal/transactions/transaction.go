// Package transactions has the commands about stored and refused transactions.
package transactions

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/openapi/wire"
)

func transactionCommand() *cobra.Command {
	return command.Group(&cobra.Command{
		Use:     "transaction",
		Short:   "show stored transactions",
		Example: "sluice transaction show payment-7",
	}, showTransactionCommand())
}

func showTransactionCommand() *cobra.Command {
	return service.Command(&cobra.Command{
		Use:   "show TRANSACTION",
		Short: "show a stored transaction with the newest version of each modification",
		Long: `
TRANSACTION is its transaction_external_id, exactly as it was sent. Of each modification its receipt, the batch and line
that delivered it and the transaction itself are printed. --json prints the service's reply; if that has several pages,
the modifications of all.`,
		Example: `
sluice transaction show payment-7
sluice transaction show payment-7 --json`,
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		t, err := c.Transaction(ctx, args[0])
		switch {
		case err != nil:
			return err
		case asJSON:
			return output.PrintJSON(stdout, struct {
				ID            string            `json:"transaction_external_id"`
				Modifications []json.RawMessage `json:"modifications"`
			}{t.TransactionExternalID, output.RepliesOf(t.Modifications,
				func(m client.Modification) json.RawMessage { return m.Reply })})
		}
		for i, m := range t.Modifications {
			if err := printModification(stdout, m, i > 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// printModification prints a modification for people, apart from what precedes it.
func printModification(stdout io.Writer, m client.Modification, apart bool) error {
	if apart {
		if _, err := fmt.Fprintln(stdout); err != nil {
			return err
		}
	}
	f := output.NewFacts(stdout)
	f.Add("modification", m.ModificationExternalID)
	f.Add("received", m.ReceivedAt.Format(time.RFC3339))
	if m.BatchID == nil {
		f.Add("sent", "singly")
	} else {
		f.Add("batch", fmt.Sprintf("%s, line %s", *m.BatchID, terminal.FormatNumber(wire.OrZero(m.Line))))
	}
	if m.MainEntity != nil {
		f.Add("main entity", m.MainEntity.ByExternalID+", the "+m.MainEntity.Role)
	}
	if err := f.Print(); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := json.Indent(&text, m.Transaction, "  ", "  "); err != nil {
		return fmt.Errorf("the transaction is not JSON: %w", err)
	}
	_, err := fmt.Fprintf(stdout, "  %s\n", terminal.PrintableLines(text.String()))
	return err
}
