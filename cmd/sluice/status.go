package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"sluice/client"
	"sluice/internal/cli"
)

func statusCommand() *cli.Command {
	var conn connection
	var asJSON, toEnd bool
	return &cli.Command{
		Name:    "status",
		Args:    "BATCH",
		Summary: "show the status of a batch",
		Flags: func(f *flag.FlagSet) {
			f.BoolVar(&asJSON, "json", false, "print the service's reply")
			f.BoolVar(&toEnd, "follow", false, "follow the batch to its end")
			conn.addFlags(f)
		},
		Examples: []string{
			"sluice status 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01",
			"sluice status 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01 --follow",
		},
		Run: func(ctx context.Context, args []string, stdout io.Writer) error {
			c, err := conn.newClient()
			if err != nil {
				return err
			}
			ui := newConsole(stdout)
			var s client.Status
			if toEnd {
				s, err = follow(ctx, c, ui, args[0], client.Gently)
			} else {
				s, err = c.Status(ctx, args[0])
			}
			switch {
			case ctx.Err() != nil:
				return continuesError(errInterrupted, args[0])
			case err != nil:
				return err
			case asJSON:
				err = printJSON(stdout, s)
			default:
				printStatus(ui, s, toEnd)
			}
			if err != nil {
				return err
			}
			if s.Status == client.StatusValidationFailed || s.Status == client.StatusError ||
				s.Counts.Invalid != nil && *s.Counts.Invalid > 0 {
				return exitRejected
			}
			return nil
		},
	}
}

// continuesError is the error of a command that ends before the batch does.
func continuesError(cause error, batchID string) error {
	return fmt.Errorf("%w; the batch continues: sluice status %s", cause, batchID)
}

func resultsCommand() *cli.Command {
	var conn connection
	var asJSON bool
	var reportPath string
	return &cli.Command{
		Name:    "results",
		Args:    "BATCH",
		Summary: "show what validation found, and fetch the report",
		Description: `
If lines are invalid, their report is fetched: the first error of each kind is shown, and --report stores the whole
report.`,
		Flags: func(f *flag.FlagSet) {
			f.BoolVar(&asJSON, "json", false, "print the service's reply")
			f.StringVar(&reportPath, "report", "", "store the report of invalid lines in `FILE`")
			conn.addFlags(f)
		},
		Examples: []string{
			"sluice results 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01",
			"sluice results 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01 --report errors.jsonl",
		},
		Run: func(ctx context.Context, args []string, stdout io.Writer) error {
			c, err := conn.newClient()
			if err != nil {
				return err
			}
			r, err := c.ValidationResult(ctx, args[0])
			if err == nil && r.Valid == nil {
				err = errors.New("there are no results yet: " + r.Message)
			}
			if err != nil {
				return err
			}
			ui := newConsole(stdout)
			if asJSON {
				err = printJSON(stdout, r)
			} else {
				ui.printf("%s\n", printable(r.Message))
				printCounts(ui, r.Counts)
			}
			if err == nil && r.ErrorsFileURL != "" && (!asJSON || reportPath != "") {
				err = showReport(ctx, c, ui, r, nil, reportPath)
			}
			if err == nil && !*r.Valid {
				err = exitRejected
			}
			return err
		},
	}
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// statusMeanings says for people what each status means.
var statusMeanings = map[string]string{
	client.StatusValidationStarted: "the file is clean; its lines are being validated",
	client.StatusValidationFailed:  "nothing of the batch was stored",
	client.StatusPendingIngestion:  "validation is complete; waiting for ingestion",
	client.StatusInitialized:       "ready to be stored",
	client.StatusInProgress:        "lines are being stored",
	client.StatusProcessed:         "every valid line is stored",
	client.StatusError:             "nothing of the batch was stored",
}

func printStatus(ui *console, s client.Status, followed bool) {
	if s.Status == "" {
		ui.printf("%s\n", s.Message)
		return
	}
	if !followed {
		ui.printf("%s: %s\n", ui.paint(bold, s.Status), statusMeanings[s.Status])
	}
	if s.ErrorMessage != "" {
		ui.printf("%s\n", ui.paint(red, printable(s.ErrorMessage)))
	}
	printCounts(ui, s.Counts)
	if !s.IsTerminal() {
		ui.printf("%s\n", formatProgress(s))
	}
	ui.printf("received %s\n", s.ReceivedAt.Format("2006-01-02 15:04:05.000 MST"))
}

// follow shows the statuses that a batch passes, and its counts as they grow, until its status is terminal.
func follow(
	ctx context.Context, c *client.Client, ui *console, batchID string, interval client.PollInterval,
) (client.Status, error) {
	started, last := time.Now(), "-" // not a status: the first one is always printed
	defer ui.setLive("")
	return c.Follow(ctx, batchID, interval, func(s client.Status) {
		if s.Status != last {
			last = s.Status
			printStatusStep(ui, s, time.Since(started))
		}
		if !s.IsTerminal() {
			ui.setLive("  %s", formatProgress(s))
		}
	})
}

// printStatusStep prints a status that a followed batch has reached.
func printStatusStep(ui *console, s client.Status, elapsed time.Duration) {
	name, meaning := s.Status, statusMeanings[s.Status]
	if name == "" {
		name, meaning = "waiting", strings.TrimSuffix(s.Message, ".")
	}
	look := bold
	switch s.Status {
	case client.StatusProcessed:
		look = green
	case client.StatusValidationFailed, client.StatusError:
		look = red
	}
	ui.printStep(look, name, elapsed, meaning)
}

// formatProgress writes the bar and the counts of a batch that is not at its end.
func formatProgress(s client.Status) string {
	if s.Status == "" {
		return "waiting ..."
	}
	text := fmt.Sprintf("%s %s of %s",
		bar(s.BytesDone, s.BytesTotal, 24), formatBytes(s.BytesDone), formatBytes(s.BytesTotal))
	if counts := formatCounts(s.Counts); counts != "" {
		text += "  " + counts
	}
	return text
}

// printCounts prints the counts that are known, if any are.
func printCounts(ui *console, c client.Counts) {
	if text := formatCounts(c); text != "" {
		ui.printf("%s\n", text)
	}
}

// formatCounts lists the counts that are known.
func formatCounts(c client.Counts) string {
	var parts []string
	for _, count := range []struct {
		name  string
		value *int64
	}{{"lines", c.Total}, {"accepted", c.Accepted}, {"invalid", c.Invalid}, {"stored", c.Ingested}} {
		if count.value == nil {
			continue
		}
		name := count.name
		if name == "lines" && *count.value == 1 {
			name = "line"
		}
		parts = append(parts, formatNumber(*count.value)+" "+name)
	}
	return strings.Join(parts, ", ")
}
