package batches

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/findings"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
)

func resultsCommand() *cobra.Command {
	var conn service.Connection
	var asJSON bool
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
			ui, report, err := findings.OpenReport(reportPath, stdout, asJSON)
			if err != nil {
				return err
			}
			defer report.Discard()
			defer files.Discard()
			if ui, err = files.Open(ui, stdout, asJSON, report.IsStdout()); err != nil {
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
			return showResults(ctx, c, ui, r, report, &files, asJSON)
		}),
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false, "print the service's reply and nothing else, indented")
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
	printCounts(ui, r.Counts)
	printLabels(ui, r.Name, r.Metadata)
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
