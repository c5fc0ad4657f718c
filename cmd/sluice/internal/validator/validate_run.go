package validator

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"sluice/cmd/sluice/internal/entities"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/findings"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/linefile"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/validation"
	"sluice/shared/platform/entity"
)

// run validates a file and prints the outcome.
func (v *validateRun) run(ctx context.Context, path string) (report.Summary, error) {
	// The heap is small compared with the file, and most of it is needed to the end: to collect it less often costs a
	// few megabytes and saves time.
	percent := 400
	if v.screen.isAsked() { // the index of the lists is large
		percent = 100
	}
	defer debug.SetGCPercent(debug.SetGCPercent(percent))
	file, size, err := files.OpenLines(ctx, path, "sluice validate -")
	if err != nil {
		return report.Summary{}, err
	}
	defer file.Close()
	var known *validation.Directory
	if v.entitiesPath != "" {
		if known, err = readDirectory(ctx, v.entitiesPath); err != nil {
			return report.Summary{}, err
		}
	}
	out := bufio.NewWriterSize(io.Discard, 1<<20)
	if v.report != nil {
		out.Reset(v.report)
	}
	screening, flushAlerts, err := v.screen.fileScreening()
	if err != nil {
		return report.Summary{}, err
	}
	progress := terminal.NewProgressBar(v.ui, size)
	in := linefile.Validation{ReceivedAt: v.now, MainEntity: v.mainEntity, Entities: known, Screening: screening,
		Progress: func(p linefile.Progress) { progress.Update(p.Done, p.Read) }}
	var flushFiles func() error
	in.CSV, in.Rejected, flushFiles = v.files.Writers()
	summary, err := in.Run(ctx, file, size, out)
	progress.Clear()
	if err == nil {
		err = errors.Join(out.Flush(), flushAlerts(), flushFiles())
	}
	if errors.Is(err, validation.ErrTooManyHits) {
		err = fmt.Errorf("the names have too many hits at the threshold %v; raise it with --threshold",
			v.screen.threshold)
	}
	if err != nil {
		return summary, err
	}
	v.print(summary, path, file, size, time.Since(progress.Started))
	if err := v.finishReport(summary); err != nil {
		return summary, err
	}
	if err := v.files.Finish(v.ui, summary.RejectedLeftOut); err != nil {
		return summary, err
	}
	return summary, v.screen.Finish(v.ui, summary.Screening)
}

// readDirectory reads the known entities from a file.
func readDirectory(ctx context.Context, path string) (*validation.Directory, error) {
	directory := validation.NewDirectory()
	return directory, entities.ReadFile(ctx, path, func(e entity.Import) error {
		state := validation.NotOnboarded
		if e.Status.IsOnboarded() {
			state = validation.Onboarded
		}
		directory.Add(e.ID, state)
		return nil
	})
}

// print shows each kind of error with the first line that has it, the most frequent first, and then the outcome, so
// that a person sees the outcome without scrolling.
func (v *validateRun) print(s report.Summary, path string, file io.ReaderAt, size int64, elapsed time.Duration) {
	codes := make([]transaction.Code, 0, len(s.Codes))
	for code := range s.Codes {
		codes = append(codes, code)
	}
	slices.SortFunc(codes, func(a, b transaction.Code) int {
		return cmp.Or(cmp.Compare(s.Codes[b].Count, s.Codes[a].Count), cmp.Compare(a, b))
	})
	for _, code := range codes {
		v.printCode(code, s.Codes[code], file)
	}
	if len(codes) > 0 {
		v.ui.Printf("\n")
	}
	v.ui.Printf("%s: %s in %.1f s (%s)\n", files.DisplayName(path), terminal.FormatBytes(size), elapsed.Seconds(),
		terminal.FormatRate(size, elapsed))
	v.ui.Printf("%s\n", formatVerdict(v.ui, s))
	if v.entitiesPath == "" && s.Counts.Total > 0 {
		v.ui.Printf("%s\n", v.ui.Paint(terminal.Dim,
			"Whether the entities exist was not checked; name a file of known entities with --entities to check it."))
	}
}

// finishReport closes the report and says where it is.
func (v *validateRun) finishReport(s report.Summary) error {
	switch {
	case v.report == nil:
		return nil
	case s.Counts.Total > 0 && s.Counts.Invalid == 0:
		return findings.FinishEmptyReport(v.ui, v.report)
	}
	if err := v.report.Finish(); err != nil {
		return err
	}
	if !v.report.IsStdout() {
		v.ui.Printf("The report is in %s.\n", v.report.Path)
	}
	if s.ReportComplete != nil && !*s.ReportComplete {
		v.ui.Printf("It names every invalid line; after the first %s it gives only codes.\n",
			terminal.FormatBytes(report.DefaultMaxBytes))
	}
	return nil
}

// printSummary prints the outcome as JSON.
func (v *validateRun) printSummary(stdout io.Writer, s report.Summary) error {
	if s.Codes == nil {
		s.Codes = map[transaction.Code]report.CodeInfo{}
	}
	var names, hits, leftOut *int64
	if v.files.Rejected != nil {
		leftOut = &s.RejectedLeftOut
	}
	if s.Screening != nil {
		names, hits = &s.Screening.Names, &s.Screening.Hits
	}
	return output.PrintJSON(stdout, struct {
		Valid   bool                                 `json:"valid"`
		Message string                               `json:"message"`
		Counts  report.Counts                        `json:"counts"`
		Codes   map[transaction.Code]report.CodeInfo `json:"codes"`
		// ReportComplete and Summary are as in the service's results.
		ReportComplete *bool          `json:"report_complete,omitempty"`
		Summary        []report.Entry `json:"summary"`
		// RejectedLeftOut is absent if the rejected lines were not stored.
		RejectedLeftOut *int64 `json:"rejected_left_out,omitempty"`
		// NamesScreened and Hits are absent if names were not screened.
		NamesScreened *int64 `json:"names_screened,omitempty"`
		Hits          *int64 `json:"hits,omitempty"`
	}{
		s.Counts.Total > 0 && s.Counts.Invalid == 0, formatVerdict(terminal.New(io.Discard), s), s.Counts, s.Codes,
		s.ReportComplete, s.Entries(), leftOut, names, hits,
	})
}

// formatVerdict says how many of the transactions are valid.
func formatVerdict(ui *terminal.Terminal, s report.Summary) string {
	c := s.Counts
	switch {
	case c.Total == 0:
		return ui.Paint(terminal.Red, "The file contains no transaction.")
	case c.Invalid == 0 && c.Total == 1:
		return ui.Paint(terminal.Green, "1 transaction is valid.")
	case c.Invalid == 0:
		return ui.Paint(terminal.Green, "All "+terminal.FormatNumber(c.Total)+" transactions are valid.")
	case c.Total == 1:
		return ui.Paint(terminal.Red, "1 transaction is invalid.")
	case c.Accepted == 0:
		return ui.Paint(terminal.Red, "All "+terminal.FormatNumber(c.Total)+" transactions are invalid.")
	}
	invalid, valid := terminal.FormatNumber(c.Invalid)+" of", terminal.FormatNumber(c.Accepted)
	isInvalid, isValid := "are", "are"
	if c.Invalid == 1 {
		isInvalid = "is"
	}
	if c.Accepted == 1 {
		isValid = "is"
	}
	return fmt.Sprintf("%s %s transactions %s invalid; %s %s valid.",
		ui.Paint(terminal.Red, invalid), terminal.FormatNumber(c.Total), isInvalid, valid, isValid)
}

func (v *validateRun) printCode(code transaction.Code, info report.CodeInfo, file io.ReaderAt) {
	first := info.Examples[0]
	v.ui.Printf("\n%s  %s, first in line %s  %s\n  %s\n", v.ui.Paint(terminal.Red, string(code)),
		terminal.FormatTimes(info.Count),
		terminal.FormatNumber(first.Line), linefile.Printable(first.Pointer), linefile.Printable(first.Message))
	v.ui.PrintExcerpt(file, first.Offset)
	findings.PrintRemedy(v.ui, code)
}
