package local

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/figures"
	"sluice/internal/localcloud"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/metric"
)

// watchInterval is the time between two tables of 'sluice metrics --watch'.
const watchInterval = 2 * time.Second

func metricsCommand() *cobra.Command {
	var data, batchID string
	var since time.Duration
	var asJSON, watch bool
	c := &cobra.Command{
		Use:   "metrics",
		Short: "show what a local cloud has done, and how fast",
		Long: `
The figures are those of the log of the local cloud's functions, from the same lines from which CloudWatch takes
metrics. Lines and bytes a second are by the time in which at least one run of the step was in progress; p50 and p99 are
of the latest 10,000 runs. A run that was repeated counts again.`,
		Example: `
sluice metrics
sluice metrics --watch --since 1m
sluice metrics --json --batch 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01`,
		Annotations: command.Notes("A local cloud that is started with 'sluice local --metrics ADDRESS' serves the " +
			"same figures to Prometheus."),
		RunE: command.Run(func(ctx context.Context, _ []string, stdout io.Writer) error {
			options := figures.Options{Batch: batchID, Prefix: PrefixOf(data)}
			if batchID != "" {
				if _, err := batch.ParseID(batchID); err != nil {
					return command.Usagef("--batch: %q is not the ID of a batch", batchID)
				}
			}
			if since < 0 {
				return command.Usagef("--since is how long ago, 10m for example, not %v", since)
			}
			if since > 0 {
				options.Since = time.Now().Add(-since)
			}
			log, err := figures.OpenLog(data, options)
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("no local cloud has run on %s: start one with 'sluice local --data %s'", data, data)
			} else if err != nil {
				return err
			}
			defer log.Close()
			m := metricsView{log: log, out: terminal.New(stdout), asJSON: asJSON, watched: watch}
			return m.show(ctx)
		}),
	}
	f := c.Flags()
	f.StringVar(&data, "data", cmp.Or(os.Getenv("SLUICE_DATA"), localcloud.DefaultDataDir),
		"data `DIR` of the local cloud; $SLUICE_DATA sets the default")
	f.DurationVar(&since, "since", 0, "only what is younger than a `DURATION` such as 10m (default all)")
	f.StringVar(&batchID, "batch", "", "only the steps of the batch with this `ID`")
	f.BoolVar(&watch, "watch", false, "show the figures again every two seconds, until Ctrl-C")
	f.BoolVar(&asJSON, "json", false, "print the figures as JSON, with --watch one object a line")
	return c
}

// PrefixOf returns what begins the names of functions of the local cloud on a data folder.
func PrefixOf(data string) string {
	if d, err := localcloud.Read(data); err == nil && d.Prefix != "" {
		return d.Prefix
	}
	return "sluice"
}

// metricsView shows the figures of a log that may be growing.
type metricsView struct {
	log             *figures.Log
	out             *terminal.Terminal
	asJSON, watched bool
}

// show prints the figures once or, if they are watched, until the context ends.
func (m *metricsView) show(ctx context.Context) error {
	for {
		s, err := m.log.Snapshot(time.Now())
		if err != nil {
			return err
		}
		switch {
		case m.asJSON:
			err = m.printJSON(s)
		default:
			if m.watched && m.out.Tty != nil {
				m.out.Printf("\x1b[H\x1b[2J") // clears the screen
			}
			printFigures(m.out, s)
		}
		if err != nil || !m.watched {
			return err
		}
		if service.Sleep(ctx, watchInterval) != nil {
			return nil
		}
	}
}

func (m *metricsView) printJSON(s figures.Snapshot) error {
	text, err := json.Marshal(s)
	if err == nil && !m.watched {
		text, err = json.MarshalIndent(s, "", "  ")
	}
	if err == nil {
		m.out.Printf("%s\n", text)
	}
	return err
}

// printFigures prints figures as lines and tables for people.
func printFigures(ui *terminal.Terminal, s figures.Snapshot) {
	if s.From.IsZero() && len(s.Open) == 0 {
		ui.Printf("Nothing has been done yet.\n")
		return
	}
	if !s.From.IsZero() {
		ui.Printf("From %s\n", formatPeriod(s.From.Local(), s.To.Local()))
	}
	printHead(ui, "Batches", slices.Concat(openTexts(s), endedTexts(s)))
	printHead(ui, "Waiting", stageTexts(s))
	printHead(ui, "Requests", requestTexts(s.Requests))
	if rows := stepRows(s); len(rows) > 1 {
		ui.Printf("\n")
		printTable(ui, rows)
	}
	if rows := functionRows(s); len(rows) > 1 {
		ui.Printf("\n")
		printTable(ui, rows)
	}
}

// formatPeriod writes a beginning and an end, of which the second has a date only if it is on another day.
func formatPeriod(from, to time.Time) string {
	end := to.Format(time.DateTime)
	if from.Format(time.DateOnly) == to.Format(time.DateOnly) {
		end = to.Format(time.TimeOnly)
	}
	return from.Format(time.DateTime) + " to " + end
}

// printHead prints a line that begins with a word, unless nothing follows it.
func printHead(ui *terminal.Terminal, word string, texts []string) {
	if len(texts) > 0 {
		ui.Printf("%s %s\n", ui.Paint(terminal.Bold, fmt.Sprintf("%-9s", word)), strings.Join(texts, ", "))
	}
}

func openTexts(s figures.Snapshot) (texts []string) {
	for _, o := range s.Open {
		texts = append(texts, fmt.Sprintf("%s %s (for %s)", terminal.FormatNumber(o.Batches), o.Status,
			terminal.FormatSeconds(o.OldestSeconds)))
	}
	return texts
}

func endedTexts(s figures.Snapshot) (texts []string) {
	for _, status := range slices.Sorted(maps.Keys(s.Ended)) {
		texts = append(texts, terminal.FormatNumber(s.Ended[status])+" "+string(status))
	}
	return texts
}

func stageTexts(s figures.Snapshot) (texts []string) {
	for _, stage := range s.Stages {
		text := fmt.Sprintf("%s for %s", terminal.FormatNumber(stage.Waiting), stage.Stage)
		if stage.Waiting > 0 {
			text += " (the first received " + terminal.FormatSeconds(stage.OldestSeconds) + " ago)"
		}
		texts = append(texts, fmt.Sprintf("%s with %s in use", text, terminal.CountOf(stage.Used, "slot")))
	}
	return texts
}

func requestTexts(r figures.Requests) []string {
	if r.Count == 0 {
		return nil
	}
	var texts []string
	for _, class := range slices.Sorted(maps.Keys(r.ByStatus)) {
		texts = append(texts, terminal.FormatNumber(r.ByStatus[class])+" "+class)
	}
	return append(texts, "p50 "+formatMS(r.P50MS)+" ms", "p99 "+formatMS(r.P99MS)+" ms", "max "+formatMS(r.MaxMS)+" ms")
}

// stepRows returns the table of steps, with its head.
func stepRows(s figures.Snapshot) [][]string {
	rows := [][]string{{"step", "runs", "failed", "lines", "lines/s", "bytes", "bytes/s", "invalid", "p50 ms", "p99 ms",
		"max ms", "memory"}}
	for _, step := range s.Steps {
		row := []string{string(step.Step), terminal.FormatNumber(step.Runs), formatCount(step.Outcomes[metric.Failed])}
		row = append(row, formatAmount(step.Lines, step.LinesPerSecond, terminal.FormatNumber)...)
		row = append(row, formatAmount(step.Bytes, step.BytesPerSecond, terminal.FormatBytes)...)
		rows = append(rows, append(row, formatCount(step.Findings), formatMS(step.P50MS), formatMS(step.P99MS),
			formatMS(step.MaxMS), terminal.FormatBytes(step.MemoryBytes)))
	}
	return rows
}

// functionRows returns the table of functions, with its head.
func functionRows(s figures.Snapshot) [][]string {
	rows := [][]string{{"function", "calls", "failed", "throttled", "p50 ms", "p99 ms", "max ms", "memory", "of"}}
	for _, f := range s.Functions {
		rows = append(rows, []string{f.Function, terminal.FormatNumber(f.Calls), formatCount(f.Failed),
			formatCount(f.Throttled),
			formatMS(f.P50MS), formatMS(f.P99MS), formatMS(f.MaxMS), terminal.FormatBytes(f.MemoryBytes),
			terminal.FormatBytes(f.MemoryLimitBytes)})
	}
	return rows
}

// formatAmount writes an amount and how much of it there is in a second; nothing for 0.
func formatAmount(n int64, perSecond float64, format func(int64) string) []string {
	if n == 0 {
		return []string{"", ""}
	}
	return []string{format(n), format(int64(perSecond))}
}

// formatCount writes a number; nothing for 0.
func formatCount(n int64) string {
	if n == 0 {
		return ""
	}
	return terminal.FormatNumber(n)
}

// formatMS writes milliseconds, with a decimal below ten.
func formatMS(ms float64) string {
	if ms < 9.95 {
		return strconv.FormatFloat(ms, 'f', 1, 64)
	}
	return terminal.FormatNumber(int64(ms + 0.5))
}

// printTable prints rows in columns: the first one to the left, all others to the right.
func printTable(ui *terminal.Terminal, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	for r, row := range rows {
		line := fmt.Sprintf("%-*s", width[0], row[0])
		for i, cell := range row[1:] {
			line += fmt.Sprintf("  %*s", width[i+1], cell)
		}
		if r == 0 {
			line = ui.Paint(terminal.Bold, line)
		}
		ui.Printf("%s\n", line)
	}
}
