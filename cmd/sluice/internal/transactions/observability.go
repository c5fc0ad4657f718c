package transactions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
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
)

// maxSummaryDays is how many days one summary has at most.
const maxSummaryDays = 31

// summarizedDay is a day of the summary as --json prints it.
type summarizedDay struct {
	Date string `json:"date"`
	client.DaySummary
}

// Commands returns the commands about stored and refused transactions.
func Commands() []*cobra.Command {
	return []*cobra.Command{summaryCommand(), failedCommand(), eventsCommand(), findCommand(),
		transactionCommand()}
}

func summaryCommand() *cobra.Command {
	var days int
	c := service.Command(&cobra.Command{
		Use: "summary", Short: "count the transactions of the last days that were stored and that were not",
		Long: `
Days are in UTC, the newest first and today included. The transactions of a batch count on the day on which it was
created, once it has ended; single ones on the day of their receipt. --json prints one day a line, and leaves out days
without transactions. 'sluice failed DATE' lists those of a day that were not stored.`,
		Example: `
sluice summary
sluice summary --days 31 --json`,
	}, func(ctx context.Context, c *client.Client, _ []string, asJSON bool, stdout io.Writer) error {
		if days < 1 || days > maxSummaryDays {
			return command.Usagef("--days must be 1 to %d", maxSummaryDays)
		}
		last := time.Now().UTC()
		summary, err := c.TransactionSummary(ctx, last.AddDate(0, 0, 1-days), last)
		if err != nil {
			return err
		}
		all := listDays(summary, last, days)
		if asJSON {
			var counted []summarizedDay
			for _, day := range all {
				if _, found := summary[day.Date]; found {
					counted = append(counted, day)
				}
			}
			return output.PrintJSONLines(stdout, counted)
		}
		return printDays(stdout, all)
	})
	c.Flags().IntVar(&days, "days", 7, fmt.Sprintf("`NUMBER` of days, 1 to %d", maxSummaryDays))
	return c
}

// listDays returns so many days up to the last one, the newest first.
func listDays(summary map[string]client.DaySummary, last time.Time, days int) []summarizedDay {
	list := make([]summarizedDay, days)
	for i := range list {
		date := last.AddDate(0, 0, -i).Format(time.DateOnly)
		list[i] = summarizedDay{date, summary[date]}
	}
	return list
}

// printDays prints a line for each day and, of several, their sum.
func printDays(stdout io.Writer, days []summarizedDay) error {
	sum := summarizedDay{Date: "total"}
	for _, day := range days {
		sum.SucceededRequestCount += day.SucceededRequestCount
		sum.FailedRequestCount += day.FailedRequestCount
	}
	// The sum has the longest numbers.
	stored := len(terminal.FormatNumber(sum.SucceededRequestCount))
	failed := len(terminal.FormatNumber(sum.FailedRequestCount))
	if len(days) > 1 {
		days = append(days, sum)
	}
	for _, day := range days {
		_, err := fmt.Fprintf(stdout, "%-10s  %*s stored  %*s not stored\n", day.Date,
			stored, terminal.FormatNumber(day.SucceededRequestCount),
			failed, terminal.FormatNumber(day.FailedRequestCount))
		if err != nil {
			return err
		}
	}
	return nil
}

func failedCommand() *cobra.Command {
	return service.Command(&cobra.Command{
		Use: "failed [DATE]", Short: "list the modifications of a day that were not stored",
		Long: `
DATE is a day in UTC, such as 2026-01-31, at most 30 days ago; without it, today. The modification IDs of the invalid
lines of the batches that were created on that day are printed, one a line and the newest batch first, and then those of
single transactions that were refused. --json prints {"modification_external_id"}, one a line. 'sluice events' says
why.`,
		Example: `
sluice failed 2026-01-31
sluice failed 2026-01-31 | head -20 | xargs -d '\n' sluice events`,
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		day := time.Now().UTC()
		if len(args) > 0 {
			var err error
			if day, err = time.Parse(time.DateOnly, args[0]); err != nil {
				return command.Usagef("%s is not a day such as 2026-01-31", linefile.Printable(args[0]))
			}
		}
		isEmpty := true
		for next := ""; ; {
			ids, more, err := c.FailedModifications(ctx, day, next)
			if err == nil {
				err = printModificationIDs(stdout, ids, asJSON)
			}
			if isEmpty = isEmpty && len(ids) == 0; err != nil {
				return err
			}
			if next = more; next == "" {
				break
			}
		}
		if isEmpty && !asJSON {
			fmt.Fprintf(os.Stderr, "Nothing with a modification ID that can be read was refused on %s.\n",
				day.Format(time.DateOnly))
		}
		return nil
	})
}

// printModificationIDs prints IDs, one a line.
func printModificationIDs(stdout io.Writer, ids []string, asJSON bool) error {
	type item struct {
		ID string `json:"modification_external_id"`
	}
	for _, id := range ids {
		var err error
		if asJSON {
			err = output.PrintJSONLines(stdout, []item{{id}})
		} else {
			_, err = fmt.Fprintln(stdout, linefile.Printable(id))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func eventsCommand() *cobra.Command {
	return service.Command(&cobra.Command{
		Use: "events MODIFICATION...", Short: "show what became of transactions, by their modification IDs",
		Long: `
Each line has the time of the receipt, whether the transaction was stored, the status of the answer or that which a line
would have got, the modification, the transaction, and what is wrong. Single transactions are found for 30 days, and
lines of batches for 7. A modification that was sent more than once has as many lines. --json prints the service's
events, one a line. The exit code is 1 if one of the modifications was not stored by any of them, or is not found.`,
		Example: `
sluice events authorisation-81 capture-7
sluice events capture-7 --json`,
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		e := eventLister{client: c, stdout: stdout, asJSON: asJSON, found: map[string]bool{}}
		ids := distinctIDs(args)
		for _, some := range splitIDs(ids) {
			if err := e.list(ctx, some); err != nil {
				return err
			}
		}
		for _, id := range ids {
			if !e.found[id] {
				return command.Rejected
			}
		}
		return nil
	})
}

// distinctIDs returns each ID once, in the order of their first places.
func distinctIDs(args []string) (ids []string) {
	seen := map[string]bool{}
	for _, id := range args {
		if !seen[id] {
			ids = append(ids, id)
		}
		seen[id] = true
	}
	return ids
}

const (
	// maxEventIDs is how many IDs one request may name; an ID with commas counts as several.
	maxEventIDs = 100
	// maxEventQuery is how many bytes of IDs a query has: API Gateway takes 10,240 bytes of address and header.
	maxEventQuery = 4096
)

// splitIDs divides IDs into those of single requests.
func splitIDs(ids []string) (groups [][]string) {
	count, size := maxEventIDs, 0
	for _, id := range ids {
		n, bytes := 1+strings.Count(id, ","), len("&modification_external_ids="+url.QueryEscape(id))
		if count+n > maxEventIDs || size+bytes > maxEventQuery {
			groups = append(groups, nil)
			count, size = 0, 0
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], id)
		count, size = count+n, size+bytes
	}
	return groups
}

// eventLister prints events.
type eventLister struct {
	client *client.Client
	stdout io.Writer
	asJSON bool
	// found has each modification that has an event, and whether one of its events is that it was stored.
	found map[string]bool
}

// list prints what became of some modifications.
func (e *eventLister) list(ctx context.Context, ids []string) error {
	isAsked := map[string]bool{}
	for _, id := range ids {
		isAsked[id] = true
	}
	for next := ""; ; {
		page, more, err := e.client.TransactionEvents(ctx, ids, next)
		if err != nil {
			return err
		}
		var events []client.TransactionEvent
		for _, event := range page {
			id := event.ModificationExternalID
			if isAsked[id] { // and is not a part of an ID with commas
				events = append(events, event)
				e.found[id] = e.found[id] || event.Status == client.EventSucceeded
			}
		}
		if err := e.print(events); err != nil {
			return err
		}
		if next = more; next == "" {
			return e.printMissing(ids)
		}
	}
}

// print prints a line for each event.
func (e *eventLister) print(events []client.TransactionEvent) error {
	if e.asJSON {
		return output.PrintJSONLines(e.stdout, events)
	}
	table := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, event := range events {
		transaction := cmp.Or(event.TransactionExternalID, "-")
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\t%s\n", event.CreatedAt.Format(time.RFC3339), event.Status,
			event.StatusCode, linefile.Printable(event.ModificationExternalID), linefile.Printable(transaction),
			linefile.Printable(event.StatusMessage))
	}
	return table.Flush()
}

// printMissing names the modifications without an event, for people.
func (e *eventLister) printMissing(ids []string) error {
	var err error
	for _, id := range ids {
		if _, found := e.found[id]; !found && !e.asJSON {
			_, printErr := fmt.Fprintf(e.stdout, "%s: nothing was found; lines of batches are found for 7 days after "+
				"their receipt, and single transactions for 30\n", linefile.Printable(id))
			err = errors.Join(err, printErr)
		}
	}
	return err
}
