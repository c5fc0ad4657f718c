// Package findings prints and stores what is wrong with the lines of a batch: reports, rejected lines and hits.
package findings

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/validation/remedy"
)

const (
	// maxShownKinds is how many kinds of errors are shown with a line that has one.
	maxShownKinds = 6
	// MaxReadBytes is how much of a report is read if it is not stored.
	MaxReadBytes = 64 << 20
	// maxShownLines is how many other lines of a duplicate are listed.
	maxShownLines = 5
)

// ShowReport fetches the report of invalid lines, shows the first error of each kind and counts them all. It stores the
// report in out unless that is nil. File is what was uploaded, or nil if it is not at hand.
func ShowReport(
	ctx context.Context, c *client.Client, ui *terminal.Terminal, result client.ValidationResult, file io.ReaderAt,
	out *files.Output,
) error {
	if result.ErrorsFileURL == "" {
		return explainNoReport(ui, result, out)
	}
	body, err := c.OpenReport(ctx, result.ErrorsFileURL)
	if err != nil {
		return err
	}
	defer body.Close()
	summary, err := readReport(body, out)
	if err != nil {
		return err
	}
	summary.print(ui, file)
	if out != nil && !out.IsStdout() {
		ui.Printf("The report is in %s.\n", out.Path)
	}
	return nil
}

// explainNoReport says why there is no report, if one was asked for. If no line is invalid, the report is empty.
func explainNoReport(ui *terminal.Terminal, result client.ValidationResult, out *files.Output) error {
	switch {
	case out == nil:
		return nil
	case result.Valid == nil || !*result.Valid:
		ui.Printf("There is no report.\n")
		return nil
	}
	return FinishEmptyReport(ui, out)
}

// FinishEmptyReport stores the report of a file without invalid lines: nothing.
func FinishEmptyReport(ui *terminal.Terminal, out *files.Output) error {
	if err := out.Finish(); err != nil {
		return err
	}
	if out.IsStdout() {
		ui.Printf("There is no report, because no line is invalid.\n")
	} else {
		ui.Printf("There is no report, because no line is invalid; %s is empty.\n", out.Path)
	}
	return nil
}

// readReport summarizes a report and stores it in out. If out is nil it reads only the beginning of the report.
func readReport(report io.Reader, out *files.Output) (reportSummary, error) {
	var copied io.Reader = report
	limit := int64(MaxReadBytes)
	if out != nil {
		copied, limit = io.TeeReader(report, out), math.MaxInt64
	}
	summary, err := summarizeReport(copied, limit)
	var notWritten *fs.PathError
	switch {
	case errors.As(err, &notWritten): // names itself what could not be written
		return summary, err
	case err != nil:
		return summary, fmt.Errorf("read the report: %w", err)
	}
	return summary, out.Finish()
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
	// short means that the report gives only the code of the error.
	short bool
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
		for _, e := range line.Errors {
			if summary.counts[e.Type]++; summary.counts[e.Type] == 1 {
				summary.first = append(summary.first, firstError{line: line, err: e})
			}
		}
		for _, code := range line.Codes { // of a short entry, which has no errors
			if summary.counts[code]++; summary.counts[code] == 1 {
				e := client.ReportError{Type: code}
				summary.first = append(summary.first, firstError{line: line, err: e, short: true})
			}
		}
	}
}

// print shows the first errors with their lines, and then the number of errors of each kind, the most frequent first.
func (s reportSummary) print(ui *terminal.Terminal, file io.ReaderAt) {
	if len(s.counts) == 0 {
		return
	}
	for _, f := range s.first[:min(len(s.first), maxShownKinds)] {
		f.print(ui, file, s.otherCodes(f))
	}
	kinds := make([]string, 0, len(s.counts))
	for kind := range s.counts {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.counts[b], s.counts[a]), cmp.Compare(a, b))
	})
	for i, kind := range kinds {
		kinds[i] = terminal.FormatNumber(s.counts[kind]) + " " + linefile.Printable(kind)
	}
	title := "Errors"
	if s.truncated {
		title += " (in the first " + terminal.FormatBytes(MaxReadBytes) + " of the report)"
	}
	ui.Printf("\n%s\n", terminal.WrapList(title+": ", kinds, max(ui.Width-1, 79)))
}

// otherCodes returns the codes of the further errors of a line, each once, without those that are shown at this line.
func (s reportSummary) otherCodes(f firstError) []string {
	var codes []string
	for _, e := range f.line.Errors {
		code := linefile.Printable(e.Type)
		isShown := slices.ContainsFunc(s.first, func(o firstError) bool {
			return o.line.Line == f.line.Line && o.err.Type == e.Type
		})
		if !isShown && !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	return codes
}

func (f firstError) print(ui *terminal.Terminal, file io.ReaderAt, also []string) {
	heading := fmt.Sprintf("%s  %s %s", ui.Paint(terminal.Bold, "line "+terminal.FormatNumber(f.line.Line)),
		ui.Paint(terminal.Red, linefile.Printable(f.err.Type)), linefile.Printable(f.err.Pointer))
	ui.Printf("\n%s\n", strings.TrimRight(heading, " "))
	if len(also) > 0 {
		ui.Printf("  The line also has %s.\n", strings.Join(also, ", "))
	}
	if !f.short {
		ui.Printf("  %s\n", linefile.Printable(f.err.Msg))
		if f.err.OtherLinesTotal > 0 {
			ui.Printf("  It shares its ID with %s.\n", formatOtherLines(f.err))
		}
		if file != nil {
			ui.PrintExcerpt(file, f.err.Offset)
		}
	}
	PrintRemedy(ui, transaction.Code(f.err.Type))
}

// PrintRemedy says what to do about errors with a code, unless the code is not known.
func PrintRemedy(c *terminal.Terminal, code transaction.Code) {
	if hint := remedy.Of(code).Hint; hint != "" {
		c.Printf("  %s\n", c.Paint(terminal.Dim, terminal.WrapWords("What to do: "+hint, "  ", max(c.Width-3, 77))))
	}
}

// formatOtherLines lists the first of the other lines that have the same ID.
func formatOtherLines(e client.ReportError) string {
	var numbers []string
	for _, n := range e.OtherLines[:min(len(e.OtherLines), maxShownLines)] {
		numbers = append(numbers, terminal.FormatNumber(n))
	}
	text := "lines "
	if e.OtherLinesTotal == 1 {
		text = "line "
	}
	text += strings.Join(numbers, ", ")
	if more := e.OtherLinesTotal - int64(len(numbers)); more > 0 {
		text += fmt.Sprintf(" and %s more", terminal.FormatNumber(more))
	}
	return text
}

// AddReportFlag declares the flag that names the file of the report.
func AddReportFlag(f *pflag.FlagSet, path *string) {
	f.StringVar(path, "report", "", "store the report of invalid lines in `FILE`; - is standard output, and all else "+
		"then goes to standard error")
}

// OpenReport opens the file of the report, or returns nil if path is "", and returns the terminal on which a command
// then prints: none with silent, and standard error if the report takes standard output.
func OpenReport(path string, stdout io.Writer, silent bool) (*terminal.Terminal, *files.Output, error) {
	out, err := files.OpenOutput(path, "the report", stdout)
	switch {
	case err != nil:
		return nil, nil, err
	case silent && out.IsStdout():
		return nil, nil, command.Usagef(
			"--report - takes standard output, as --json and --quiet do; name a file for the report")
	case silent:
		return terminal.New(io.Discard), out, nil
	case out.IsStdout():
		return terminal.New(os.Stderr), out, nil
	}
	return terminal.New(stdout), out, nil
}
