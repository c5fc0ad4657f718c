package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"sluice/client"
)

const (
	// maxShownKinds is how many kinds of errors are shown with a line that has one.
	maxShownKinds = 6
	// maxReadBytes is how much of a report is read if it is not stored.
	maxReadBytes = 64 << 20
	// maxShownLines is how many other lines of a duplicate are listed.
	maxShownLines = 5
)

// showReport fetches the report of invalid lines, shows the first error of each kind and counts them all. If path is
// not "" it stores the report there. File is what was uploaded, or nil if it is not at hand.
func showReport(
	ctx context.Context, c *client.Client, ui *console, result client.ValidationResult, file io.ReaderAt, path string,
) error {
	body, err := c.OpenReport(ctx, result.ErrorsFileURL)
	if err != nil {
		return err
	}
	defer body.Close()
	summary, err := readReport(body, path)
	if err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	summary.print(ui, file)
	if path != "" {
		ui.printf("The report is in %s.\n", path)
	}
	return nil
}

// readReport summarizes a report and stores it at path. If path is "" it reads only the beginning of the report.
func readReport(report io.Reader, path string) (summary reportSummary, err error) {
	if path == "" {
		return summarizeReport(report, maxReadBytes)
	}
	out, err := os.Create(path)
	if err != nil {
		return summary, err
	}
	summary, err = summarizeReport(io.TeeReader(report, out), math.MaxInt64)
	return summary, errors.Join(err, out.Close())
}

// reportSummary is what a person needs to see of a report.
type reportSummary struct {
	// counts has the number of errors of each kind.
	counts map[string]int64
	// first has the first error of each kind, in the order of the lines.
	first []firstError
	// truncated means that the report goes on beyond what was read.
	truncated bool
}

// firstError is an error and the line that has it.
type firstError struct {
	line client.ReportLine
	err  client.ReportError
}

// summarizeReport reads the lines of a report that end within its first limit bytes.
func summarizeReport(r io.Reader, limit int64) (reportSummary, error) {
	summary := reportSummary{counts: make(map[string]int64)}
	for lines := json.NewDecoder(r); ; {
		var line client.ReportLine
		if err := lines.Decode(&line); err == io.EOF {
			return summary, nil
		} else if err != nil {
			return summary, err
		}
		if lines.InputOffset() > limit {
			summary.truncated = true
			return summary, nil
		}
		for _, code := range line.Codes { // of a short entry, which has no errors
			summary.counts[code]++
		}
		for _, e := range line.Errors {
			if summary.counts[e.Type]++; summary.counts[e.Type] == 1 {
				summary.first = append(summary.first, firstError{line, e})
			}
		}
	}
}

// print shows the first errors with their lines, and then the number of errors of each kind, the most frequent first.
func (s reportSummary) print(ui *console, file io.ReaderAt) {
	for _, f := range s.first[:min(len(s.first), maxShownKinds)] {
		f.print(ui, file)
	}
	kinds := make([]string, 0, len(s.counts))
	for kind := range s.counts {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.counts[b], s.counts[a]), cmp.Compare(a, b))
	})
	for i, kind := range kinds {
		kinds[i] = formatNumber(s.counts[kind]) + " " + printable(kind)
	}
	title := "Errors"
	if s.truncated {
		title += " (in the first " + formatBytes(maxReadBytes) + " of the report)"
	}
	ui.printf("\n%s\n", wrapList(title+": ", kinds, max(ui.width-1, 79)))
}

func (f firstError) print(ui *console, file io.ReaderAt) {
	heading := fmt.Sprintf("%s  %s %s", ui.paint(bold, "line "+formatNumber(f.line.Line)),
		ui.paint(red, printable(f.err.Type)), printable(f.err.Pointer))
	ui.printf("\n%s\n  %s\n", strings.TrimRight(heading, " "), printable(f.err.Msg))
	if f.err.OtherLinesTotal > 0 {
		ui.printf("  It shares its ID with %s.\n", formatOtherLines(f.err))
	}
	if file != nil {
		ui.printExcerpt(file, f.err.Offset)
	}
}

// formatOtherLines lists the first of the other lines that have the same ID.
func formatOtherLines(e client.ReportError) string {
	var numbers []string
	for _, n := range e.OtherLines[:min(len(e.OtherLines), maxShownLines)] {
		numbers = append(numbers, formatNumber(n))
	}
	text := "lines "
	if e.OtherLinesTotal == 1 {
		text = "line "
	}
	text += strings.Join(numbers, ", ")
	if more := e.OtherLinesTotal - int64(len(numbers)); more > 0 {
		text += fmt.Sprintf(" and %s more", formatNumber(more))
	}
	return text
}
