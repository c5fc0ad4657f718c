package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"sluice/client"
	"sluice/internal/command"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func resultsCommand() *cobra.Command {
	var conn connection
	var asJSON bool
	var reportPath string
	var files rejectedOutputs
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
		RunE: command.Run(func(ctx context.Context, args []string, stdout io.Writer) error {
			c, err := conn.newClient(ctx)
			if err != nil {
				return err
			}
			ui, report, err := openReport(reportPath, stdout, asJSON)
			if err != nil {
				return err
			}
			defer report.discard()
			defer files.discard()
			if ui, err = files.open(ui, stdout, asJSON, report.isStdout()); err != nil {
				return err
			}
			r, err := c.ValidationResult(ctx, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				if err := printReply(stdout, r.Reply); err != nil {
					return err
				}
			}
			return showResults(ctx, c, ui, r, report, &files, asJSON)
		}),
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false, "print the service's reply and nothing else, indented")
	addReportFlag(f, &reportPath)
	files.addFlags(c)
	conn.addFlags(c)
	return c
}

// showResults prints the outcome of validation and fetches the files; with onlyStore, the report only if it is to be
// stored.
func showResults(
	ctx context.Context, c *client.Client, ui *terminal, r client.ValidationResult, report *outputFile,
	files *rejectedOutputs,
	onlyStore bool,
) error {
	if r.Pending {
		ui.printf("There are no results yet: %s\n", printable(r.Message))
		return exitUnfinished
	}
	ui.printf("%s\n", printable(r.Message))
	printCounts(ui, r.Counts)
	printLabels(ui, r.Name, r.Metadata)
	if !onlyStore || report != nil {
		if err := showReport(ctx, c, ui, r, nil, report); err != nil {
			return err
		}
	}
	if r.ReportComplete != nil && !*r.ReportComplete {
		ui.printf("The report names every invalid line; of those beyond its limit it gives only codes.\n")
	}
	if err := files.fetch(ctx, c, ui, r); err != nil {
		return err
	}
	if r.Valid == nil || !*r.Valid {
		return exitRejected
	}
	return nil
}

// addReportFlag declares the flag that names the file of the report.
func addReportFlag(f *pflag.FlagSet, path *string) {
	f.StringVar(path, "report", "", "store the report of invalid lines in `FILE`; - is standard output, and all else "+
		"then goes to standard error")
}

// openReport opens the file of the report, or returns nil if path is "", and returns the terminal on which a command
// then prints: none with silent, and standard error if the report takes standard output.
func openReport(path string, stdout io.Writer, silent bool) (*terminal, *outputFile, error) {
	out, err := openOutput(path, "the report", stdout)
	switch {
	case err != nil:
		return nil, nil, err
	case silent && out.isStdout():
		return nil, nil, command.Usagef("--json and --report - both take standard output; name a file for the report")
	case silent:
		return newTerminal(io.Discard), out, nil
	case out.isStdout():
		return newTerminal(os.Stderr), out, nil
	}
	return newTerminal(stdout), out, nil
}

// printReply prints a reply of the service as it came, but indented. Names, order, numbers and escapes stay the same.
func printReply(w io.Writer, reply []byte) error {
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(reply), "", "  "); err != nil {
		return fmt.Errorf("the reply is not JSON: %w", err)
	}
	out.WriteByte('\n')
	_, err := out.WriteTo(w)
	return err
}

// printJSON prints a value as indented JSON.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
