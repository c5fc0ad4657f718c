package local

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/figures"
	"sluice/shared/kit/metric"
)

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
			formatSeconds(o.OldestSeconds)))
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
			text += " (the first received " + formatSeconds(stage.OldestSeconds) + " ago)"
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

// formatSeconds writes a duration in the unit that suits it.
func formatSeconds(seconds float64) string {
	switch {
	case seconds < 120:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 2*3600:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.0f h", seconds/3600)
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
