package transactions

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
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

func findCommand() *cobra.Command {
	var kind string
	c := service.Command(&cobra.Command{
		Use: "find ID", Short: "find lines, batches, entities and more by any of their IDs",
		Long: `
ID is that of a payment, transaction, modification or request as a line has it, or of a batch, entity, document,
delivery of an event or screening batch. Lines of batches are found from the end of the batch on, rejected ones too,
the newest first: what it is, its status, when it was received, where it is, and the path to read. --json prints the
items of the service's reply, one a line.`,
		Example: `
sluice find order-42
sluice find 1f0a8f4e-6f54-4d0a-8c6b-0d9a5c7b4e15 --kind request --json`,
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		if kind != "" && !slices.Contains(client.FoundKinds(), kind) {
			return command.Usagef("--kind is one of %s, not %q", strings.Join(client.FoundKinds(), ", "), kind)
		}
		isEmpty := true
		for next := ""; ; {
			page, err := c.Find(ctx, client.FindQuery{ID: args[0], Kind: kind}, next)
			if err == nil && asJSON {
				err = output.PrintJSONLines(stdout, page.Items)
			} else if err == nil {
				err = printFound(stdout, page.Items)
			}
			if isEmpty = isEmpty && len(page.Items) == 0; err != nil {
				return err
			}
			if next = wire.OrZero(page.Next); next == "" {
				if !asJSON {
					printSearched(os.Stderr, args[0], isEmpty, page.Searched, time.Now())
				}
				return nil
			}
		}
	})
	c.Flags().StringVar(&kind, "kind", "", "the `KIND` of the ID: "+strings.Join(client.FoundKinds(), ", "))
	command.Values(c, "kind", client.FoundKinds()...)
	return c
}

// printFound prints a line for each item.
func printFound(stdout io.Writer, items []client.FoundItem) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, item := range items {
		received := "-"
		if item.ReceivedAt != nil {
			received = item.ReceivedAt.Format(time.RFC3339)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", item.Kind, orDash(item.Status), received, placeOf(item),
			orDash(item.Href))
	}
	return w.Flush()
}

// placeOf says where an item is.
func placeOf(item client.FoundItem) string {
	switch {
	case item.Line != nil:
		return fmt.Sprintf("batch %s, line %s", *item.BatchID, terminal.FormatNumber(*item.Line))
	case item.TransactionExternalID != nil || item.ModificationExternalID != nil:
		return "sent singly"
	}
	return linefile.Printable(item.ID)
}

func orDash(text *string) string {
	if text == nil {
		return "-"
	}
	return linefile.Printable(*text)
}

// searchDelay is how long lines of batches that have ended are usually not found at most.
const searchDelay = time.Minute

// printSearched reports an empty search, and the time since which lines are not found yet.
func printSearched(w io.Writer, id string, isEmpty bool, searched wire.SearchedTimes, now time.Time) {
	if isEmpty {
		fmt.Fprintf(w, "Nothing that you may read has the ID %s.\n", linefile.Printable(id))
	}
	if now.Sub(searched.To) > searchDelay {
		fmt.Fprintf(w, "Lines of batches that ended since %s are not found yet.\n",
			searched.To.Format(time.RFC3339))
	}
}
