// Package transactions has the commands about stored and refused transactions.
package transactions

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
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

func transactionCommand() *cobra.Command {
	return command.Group(&cobra.Command{
		Use:     "transaction",
		Short:   "show stored transactions",
		Example: "sluice transaction show payment-7",
	}, showTransactionCommand())
}

func showTransactionCommand() *cobra.Command {
	var isPayment bool
	c := service.Command(&cobra.Command{
		Use:   "show TRANSACTION",
		Short: "show a stored transaction with the newest version of each modification",
		Long: `
TRANSACTION is its transaction_external_id, exactly as it was sent. Of each modification its receipt, the batch and line
that delivered it and the transaction itself are printed. --json prints the service's reply; if that has several pages,
the modifications of all. With --payment the ID is a payment_external_id, and the transactions of the payment are
printed, as JSON one a line.`,
		Example: `
sluice transaction show payment-7
sluice transaction show payment-7 --json
sluice transaction show order-42 --payment`,
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		if isPayment {
			return showPayment(ctx, c, args[0], asJSON, stdout)
		}
		t, err := c.Transaction(ctx, args[0])
		switch {
		case err != nil:
			return err
		case asJSON:
			return output.PrintJSON(stdout, newShown(t))
		}
		return printTransaction(stdout, t, "", false)
	})
	c.Flags().BoolVar(&isPayment, "payment", false, "the ID is that of a payment: show its transactions")
	return c
}

// shown is a transaction as --json prints it.
type shown struct {
	ID            string            `json:"transaction_external_id"`
	Modifications []json.RawMessage `json:"modifications"`
}

func newShown(t client.Transaction) shown {
	return shown{t.TransactionExternalID, output.RepliesOf(t.Modifications,
		func(m client.Modification) json.RawMessage { return m.Reply })}
}

// showPayment prints the transactions of a payment.
func showPayment(ctx context.Context, c *client.Client, payment string, asJSON bool, stdout io.Writer) error {
	isEmpty := true
	for next := ""; ; {
		page, more, err := c.PaymentTransactions(ctx, payment, next)
		if err != nil {
			return err
		}
		for _, t := range page {
			if asJSON {
				err = output.PrintJSONLines(stdout, []shown{newShown(t)})
			} else {
				err = printTransaction(stdout, t, t.TransactionExternalID, !isEmpty)
			}
			if isEmpty = false; err != nil {
				return err
			}
		}
		if next = more; next == "" {
			break
		}
	}
	if isEmpty && !asJSON {
		fmt.Fprintf(os.Stderr, "The payment %s has no stored transactions.\n", linefile.Printable(payment))
	}
	return nil
}

// printTransaction prints the modifications of a transaction for people, with its ID unless that is "", and apart from
// what precedes it.
func printTransaction(stdout io.Writer, t client.Transaction, id string, apart bool) error {
	for i, m := range t.Modifications {
		if err := printModification(stdout, id, m, apart || i > 0); err != nil {
			return err
		}
	}
	return nil
}

// printModification prints a modification for people, apart from what precedes it.
func printModification(stdout io.Writer, id string, m client.Modification, apart bool) error {
	if apart {
		if _, err := fmt.Fprintln(stdout); err != nil {
			return err
		}
	}
	f := output.NewFacts(stdout)
	if id != "" {
		f.Add("transaction", id)
	}
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
