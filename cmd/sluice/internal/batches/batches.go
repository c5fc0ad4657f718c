// Package batches has the commands that upload batches, follow them and show their results.
package batches

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/findings"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/openapi/wire"
)

// MaxBatchesPage is how many batches one request returns at most.
const MaxBatchesPage = 200

// Filter are the flags that select batches.
type Filter struct {
	statuses, metadata []string
	states             []string
	after, before      string
	client, name       string
	Limit              int
}

func (o *Filter) AddFlags(c *cobra.Command, statuses []string) {
	f := c.Flags()
	f.StringArrayVar(&o.statuses, "status", nil, "only batches with this `STATUS`; can be repeated")
	f.StringArrayVar(&o.states, "state", nil,
		"only batches in this `STATE`: awaiting_upload, open (not ended) or ended; can be repeated")
	f.StringVar(&o.after, "created-after", "",
		"only batches created after this `TIME`, such as 2026-01-31T12:00:00Z, or 90m or 24h ago")
	f.StringVar(&o.before, "created-before", "", "only batches created before this `TIME`, or so long ago")
	f.StringVar(&o.client, "client", "", "only batches of the client with this `ID`")
	f.StringVar(&o.name, "name", "", "only batches whose name begins with `PREFIX`")
	f.StringArrayVar(&o.metadata, "metadata", nil,
		"only batches with this `KEY=VALUE` in their metadata; can be repeated")
	f.IntVar(&o.Limit, "limit", 50, "`NUMBER` of batches that are listed at most")
	command.Values(c, "status", statuses...)
	command.Values(c, "state", client.StateAwaitingUpload, client.StateOpen, client.StateEnded)
}

// Query returns what the flags select.
func (o *Filter) Query(now time.Time) (client.BatchQuery, error) {
	q := client.BatchQuery{States: o.states, ClientID: o.client, NamePrefix: o.name, Metadata: map[string]string{}}
	for _, s := range o.statuses {
		q.Statuses = append(q.Statuses, strings.ToUpper(s))
	}
	for _, pair := range o.metadata {
		key, value, found := strings.Cut(pair, "=")
		if !found || key == "" {
			return q, command.Usagef("--metadata %s is not of the form KEY=VALUE", pair)
		}
		q.Metadata[key] = value
	}
	var err error
	for _, bound := range []struct {
		flag, text string
		target     *time.Time
	}{{"--created-after", o.after, &q.CreatedAfter}, {"--created-before", o.before, &q.CreatedBefore}} {
		if bound.text == "" {
			continue
		}
		if *bound.target, err = service.ParseTime(bound.flag, bound.text, now); err != nil {
			return q, err
		}
	}
	if o.Limit < 1 {
		return q, command.Usagef("--limit must be at least 1")
	}
	return q, nil
}

// Commands returns the commands about batches.
func Commands() []*cobra.Command {
	return []*cobra.Command{uploadCommand(), sendCommand(), statusCommand(), resultsCommand(), batchesCommand(),
		cancelCommand()}
}

func batchesCommand() *cobra.Command {
	var o Filter
	c := service.Command(&cobra.Command{
		Use: "batches", Short: "list the batches of the tenant, newest first",
		Long: `
Each line has the time of creation, the batch, its status, what is known of its lines, its name and why it failed;
--json prints the service's record of each batch, one a line. All filters that are given count. A list can be a moment
behind the status of a batch.`,
		Example: `
sluice batches --status ERROR --status VALIDATION_FAILED --created-after 24h
sluice batches --name november --metadata region=north --json`,
	}, func(ctx context.Context, c *client.Client, _ []string, asJSON bool, stdout io.Writer) error {
		q, err := o.Query(time.Now())
		if err != nil {
			return err
		}
		return output.Listing[client.Status]{
			Page: func(ctx context.Context, limit int, token string) ([]client.Status, string, error) {
				q.Limit = limit
				return c.Batches(ctx, q, token)
			},
			None:    "No batch matches.",
			MaxPage: MaxBatchesPage, Print: printBatches,
			Record: func(s client.Status) any { return s.Reply },
		}.Run(ctx, o.Limit, asJSON, stdout)
	})
	o.AddFlags(c, slices.Sorted(maps.Keys(statusMeanings)))
	return c
}

// printBatches prints a line for each batch.
func printBatches(stdout io.Writer, batches []client.Status) error {
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, s := range batches {
		status, text := s.Status, s.ErrorMessage
		if status == "" {
			status, text = "-", s.Message
		}
		counts := cmp.Or(formatCounts(s.Counts), "-")
		name := cmp.Or(linefile.Printable(wire.OrZero(s.Name)), "-")
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", s.CreatedAt.Format(time.RFC3339), s.BatchID, status, counts,
			name, linefile.Printable(text))
	}
	return table.Flush()
}

func cancelCommand() *cobra.Command {
	return service.Command(&cobra.Command{
		Use: "cancel BATCH...", Short: "cancel batches whose ingestion has not begun",
		Long: `
A cancelled batch ends in ERROR with "Cancelled by the client.", and nothing of it is stored. Cancelling it again does
nothing. The exit code is 2 if the service refuses one of the batches, because there is none of that ID for example, and
otherwise 1 if one cannot be cancelled, because its ingestion has begun or it has ended otherwise; the others are
cancelled all the same.`,
		Example: "sluice cancel 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01",
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		worst := command.ExitOK
		for _, id := range args {
			code, err := cancelOne(ctx, c, id, asJSON, stdout)
			if err != nil {
				return fmt.Errorf("batch %s: %w", linefile.Printable(id), err)
			}
			worst = max(worst, code)
		}
		if worst != command.ExitOK {
			return command.ExitCode(worst)
		}
		return nil
	})
}

// cancelOne cancels a batch, prints what became of it and returns the exit code that it alone would have. The error is
// one that ends the command.
func cancelOne(ctx context.Context, c *client.Client, id string, asJSON bool, stdout io.Writer) (int, error) {
	s, err := c.CancelBatch(ctx, id)
	var refused *client.Error
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusConflict:
		if asJSON {
			err = output.PrintJSONLines(stdout, []map[string]string{{"batch_id": id, "message": refused.Message}})
		} else {
			_, err = fmt.Fprintf(stdout, "%s: %s\n", id, linefile.Printable(refused.Message))
		}
		return int(command.Rejected), err
	case errors.As(err, &refused) && isAboutBatch(refused.Status):
		fmt.Fprintf(os.Stderr, "sluice: batch %s: %v\n", linefile.Printable(id), err)
		return command.ExitFailed, nil
	case err != nil:
		return command.ExitFailed, err
	case asJSON:
		err = output.PrintJSONLines(stdout, []json.RawMessage{s.Reply})
	default:
		_, err = fmt.Fprintf(stdout, "%s: %s\n", s.BatchID, linefile.Printable(s.ErrorMessage))
	}
	return command.ExitOK, err
}

// isAboutBatch reports whether a status says something of the batch that was named, and nothing of the next one.
func isAboutBatch(status int) bool {
	return status == http.StatusNotFound || status == http.StatusUnprocessableEntity
}

func resultsCommand() *cobra.Command {
	var conn service.Connection
	var asJSON, quiet bool
	var reportPath string
	var files findings.RejectedOutputs
	c := &cobra.Command{
		Use:   "results BATCH",
		Short: "show what validation found, and fetch the report",
		Long: `
If lines are invalid, their report is fetched: the first error of each kind is shown, and --report stores the whole
report, --csv the same for a spreadsheet, and --rejected the rejected lines, to be mended and sent again. The exit code
is 0 if every transaction is valid, 1 if not, and 3 while validation is not complete.`,
		Example: `
sluice results 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01
sluice results 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01 --report errors.jsonl
sluice results 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01 --rejected mend.jsonl --csv errors.csv`,
		RunE: conn.Run(func(ctx context.Context, c *client.Client, args []string, stdout io.Writer) error {
			if asJSON && quiet {
				return command.Usagef("give either --json or --quiet")
			}
			ui, report, err := findings.OpenReport(reportPath, stdout, asJSON || quiet)
			if err != nil {
				return err
			}
			defer report.Discard()
			defer files.Discard()
			if ui, err = files.Open(ui, stdout, asJSON || quiet, report.IsStdout()); err != nil {
				return err
			}
			r, err := c.ValidationResult(ctx, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				if err := output.PrintReply(stdout, r.Reply); err != nil {
					return err
				}
			}
			return showResults(ctx, c, ui, r, report, &files, asJSON || quiet)
		}),
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false, "print the service's reply and nothing else, indented")
	f.BoolVar(&quiet, "quiet", false, "print nothing; the exit code tells the outcome")
	findings.AddReportFlag(f, &reportPath)
	files.AddFlags(c)
	conn.AddFlags(c)
	return c
}

// showResults prints the outcome of validation and fetches the files; with onlyStore, the report only if it is to be
// stored.
func showResults(
	ctx context.Context, c *client.Client, ui *terminal.Terminal, r client.ValidationResult, report *files.Output,
	files *findings.RejectedOutputs,
	onlyStore bool,
) error {
	if r.Pending {
		ui.Printf("There are no results yet: %s\n", linefile.Printable(r.Message))
		return command.Unfinished
	}
	ui.Printf("%s\n", linefile.Printable(r.Message))
	printCounts(ui, wire.OrZero(r.Counts))
	printLabels(ui, wire.OrZero(r.Name), r.Metadata)
	if !onlyStore || report != nil {
		if err := findings.ShowReport(ctx, c, ui, r, nil, report); err != nil {
			return err
		}
	}
	if r.ReportComplete != nil && !*r.ReportComplete {
		ui.Printf("The report names every invalid line; of those beyond its limit it gives only codes.\n")
	}
	if err := files.Fetch(ctx, c, ui, r); err != nil {
		return err
	}
	if r.Valid == nil || !*r.Valid {
		return command.Rejected
	}
	return nil
}
