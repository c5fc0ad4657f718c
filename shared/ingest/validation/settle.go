package validation

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
)

// Messages of the report for errors that a line alone does not show.
const (
	// duplicateMessage has room for the numbers of the first other lines.
	duplicateMessage = "The modification external_id is shared with other lines of the batch (%s); " +
		"all of them are rejected."
	notFoundMessage     = schema.MessageEntityNotFound
	notOnboardedMessage = schema.MessageEntityNotOnboarded
)

// SettleInput is the input of SettleChunk.
type SettleInput struct {
	ChunkInput
	// FirstLine is the number in the file, from 1, of the chunk's first line: one more than the lines of the chunks
	// preceding it.
	FirstLine int64
	// LineCount and Transactions are ValidateResult.Lines and ValidateResult.Transactions of the chunk.
	LineCount    int64
	Transactions int64
	// Findings are the findings of the chunk; nil if there are none. They are read from the start to the end.
	Findings io.Reader
	// Rejections are the rejections by partition; nil where there are none.
	Rejections []chunk.Source
	// Concurrency is the number of rejections files that are read at the same time; 0 means 1.
	Concurrency int
	// SeekPoints are ValidateResult.SeekPoints of the chunk. They save time; without them the result is the same.
	SeekPoints []chunk.Position
	// MaxReportBytes is the number of bytes of the whole report after which its entries are short; 0 means no limit.
	MaxReportBytes int64
	// ReportStart is a number of bytes that the parts of the preceding chunks are not shorter than: the sum of their
	// ValidateResult.MinReportBytes. It saves bytes; report.Joiner makes the same report without it.
	ReportStart int64
	// Screening has the hits of the screening of names; nil if they are not screened.
	Screening *ScreeningInput
	// CSV receives the chunk's part of the report as CSV, without the header; nil if it is not wanted.
	CSV io.Writer
	// Rejected receives the rejected lines as they were sent, each with a line feed after it, but for those that are
	// too long; nil if they are not wanted. For these lines, the chunk is read again.
	Rejected io.Writer
}

// SettleResult is the outcome of settling a chunk.
type SettleResult struct {
	// Summary is the summary of the chunk's part of the report. The summaries of all chunks, added in their order, are
	// that of the report.
	Summary report.Summary
	// Report is the size of the part of the report. If it is 0, no line is rejected.
	Report report.PartSize
	// CSV is the size of the same part as CSV, and RejectedBytes the number of bytes of rejected lines; 0 if they are
	// not wanted.
	CSV           report.PartSize
	RejectedBytes int64
	// Hits is the number of alerts, and AlertBytes the number of bytes of those that were written.
	Hits, AlertBytes int64
	// AlertsLeftOut means that some of the alerts were not written, because of their limit.
	AlertsLeftOut bool
}

// SettleChunk is the third pass. It merges the findings and rejections of a chunk, and writes the chunk's part of the
// report (see package report) and its accept bitmap (see bitmap.go), which is written even if it accepts all lines or
// none. The parts of the report in the order of the chunks are the report.
//
// It reads lines of the chunk only if they have rejections but no findings, for their identifiers, and if rejected
// lines are wanted.
func SettleChunk(ctx context.Context, in SettleInput, reportPart, accepted io.Writer) (SettleResult, error) {
	return new(settler).settleChunk(ctx, in, reportPart, accepted)
}

// settler settles one chunk at a time and keeps its memory for the next one.
type settler struct {
	in SettleInput
	// chunkStart is the offset of the chunk in the file.
	chunkStart int64

	findings   findingsReader
	sections   sectionReader
	rejections chunkRejections
	alerts     alerter
	// remaining are the rejections that have not been merged yet, by line.
	remaining []rejection

	reportPart *bufio.Writer
	csvPart    *bufio.Writer
	rejected   *bufio.Writer
	accepted   bitmapWriter
	tally      report.Tally
	result     SettleResult

	// lines reads the lines of the chunk again; it is nil until one is needed. linesNext is the number of the line it
	// reads next.
	lines     *chunk.Reader
	linesNext int64

	// validLine is the line of the report of a line without findings.
	validLine report.Line
	buf       []byte
}

func (s *settler) settleChunk(ctx context.Context, in SettleInput, reportPart, accepted io.Writer) (SettleResult,
	error) {
	s.in, s.result, s.reportPart = in, SettleResult{}, resetWriter(s.reportPart, reportPart, 64<<10)
	s.csvPart = resetWriter(s.csvPart, cmp.Or(in.CSV, io.Discard), 64<<10)
	s.rejected = resetWriter(s.rejected, cmp.Or(in.Rejected, io.Discard), 64<<10)
	s.tally.Reset()
	s.chunkStart, _ = in.Plan.Range(in.Chunk)
	s.accepted.reset(accepted, in.LineCount)
	if err := s.readRejections(ctx); err != nil {
		return SettleResult{}, fmt.Errorf("read rejections: %w", err)
	}
	defer s.closeLines()
	if err := s.merge(ctx); err != nil {
		return SettleResult{}, err
	}
	s.closeLines()
	if err := s.writeAlerts(ctx); err != nil {
		return SettleResult{}, err
	}
	return s.finish()
}

// readRejections reads the chunk's section of the rejections of all partitions, and sorts them by line.
func (s *settler) readRejections(ctx context.Context) error {
	s.rejections.reset()
	err := s.sections.readEach(ctx, len(s.in.Rejections), s.in.Concurrency,
		func(ctx context.Context, p int, buf []byte) ([]byte, error) {
			return readSection(ctx, s.in.Rejections[p], rejectionsMagic, s.in.Plan.Count(), s.in.Chunk, buf)
		},
		func(_ int, section []byte) error { return s.rejections.addSection(section, s.in.LineCount) })
	if err != nil {
		return err
	}
	if err := s.alerts.read(ctx, &s.in); err != nil {
		return err
	}
	if s.in.Screening != nil && s.in.Screening.Reject {
		s.rejections.rejections = s.alerts.appendRejections(s.rejections.rejections)
	}
	slices.SortFunc(s.rejections.rejections, func(a, b rejection) int { return cmp.Compare(a.line, b.line) })
	s.remaining = s.rejections.rejections
	return nil
}

// merge goes through the findings and the rejections in the order of their lines.
func (s *settler) merge(ctx context.Context) error {
	if err := s.findings.reset(s.in.Findings, s.in.LineCount); err != nil {
		return err
	}
	for {
		rec, err := s.findings.read()
		if err != nil {
			return err
		}
		// The lines preceding that of the record have no findings.
		for len(s.remaining) > 0 && int64(s.remaining[0].line) < rec.line {
			if err := s.rejectValidLine(ctx, s.nextRejections()); err != nil {
				return err
			}
		}
		switch rec.kind {
		case endRecord:
			return nil
		case blankRecord:
			s.accepted.fillUntil(rec.line, true)
			s.accepted.fillUntil(rec.line+rec.blankLines, false)
		case lineRecord:
			var rejections []rejection
			if len(s.remaining) > 0 && int64(s.remaining[0].line) == rec.line {
				rejections = s.nextRejections()
			}
			if err := s.copyRejected(ctx, rec.line, rec.offset); err != nil {
				return err
			}
			if err := s.rejectLine(rec.line, &rec.report, rejections, rec.modificationOffset); err != nil {
				return err
			}
		}
	}
}

// nextRejections removes the rejections of the next line that has any, and returns them.
func (s *settler) nextRejections() []rejection {
	n := 1
	for n < len(s.remaining) && s.remaining[n].line == s.remaining[0].line {
		n++
	}
	next := s.remaining[:n]
	s.remaining = s.remaining[n:]
	return next
}

// rejectValidLine rejects a line that has rejections but no findings. Its identifiers are in no work file, so it is
// read again.
func (s *settler) rejectValidLine(ctx context.Context, rejections []rejection) error {
	line, res, err := s.readLine(ctx, int64(rejections[0].line))
	if err != nil {
		return err
	}
	if err := s.writeRejected(line); err != nil {
		return err
	}
	s.validLine.RequestUUID = res.RequestUUID
	s.validLine.TransactionExternalID = res.TransactionExternalID
	s.validLine.ModificationID = res.ModificationID
	s.validLine.Errors = s.validLine.Errors[:0]
	return s.rejectLine(line.Number, &s.validLine, rejections, line.Offset+int64(res.ModificationOffset))
}

// rejectLine writes a line of the report, and leaves it out of the accept bitmap. The number is that within the chunk.
func (s *settler) rejectLine(number int64, line *report.Line, rejections []rejection, modificationOffset int64) error {
	s.accepted.fillUntil(number, true)
	s.accepted.fillUntil(number+1, false)
	line.Number = s.in.FirstLine + number
	s.summarize(line, rejections, modificationOffset)
	isFull := report.IsFull(s.in.ReportStart+s.result.Report.Full+s.result.Report.Short, s.in.MaxReportBytes)
	if isFull {
		s.buf = line.AppendTo(s.buf[:0])
		s.result.Report.Full += int64(len(s.buf))
	} else {
		s.buf = line.AppendShortTo(s.buf[:0])
		s.result.Report.Short += int64(len(s.buf))
	}
	if _, err := s.reportPart.Write(s.buf); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if s.in.CSV == nil {
		return nil
	}
	if isFull {
		s.buf = line.AppendCSVTo(s.buf[:0])
		s.result.CSV.Full += int64(len(s.buf))
	} else {
		s.buf = line.AppendShortCSVTo(s.buf[:0])
		s.result.CSV.Short += int64(len(s.buf))
	}
	if _, err := s.csvPart.Write(s.buf); err != nil {
		return fmt.Errorf("write report as CSV: %w", err)
	}
	return nil
}

// summarize adds the rejections to the errors of a line and counts them all. Of a line with too many errors it then
// drops findings, never a rejection.
func (s *settler) summarize(line *report.Line, rejections []rejection, modificationOffset int64) {
	for i := range rejections {
		line.Errors = append(line.Errors, s.errorOf(line.Number, rejections[i], modificationOffset))
	}
	if len(rejections) > 0 {
		slices.SortStableFunc(line.Errors, func(a, b report.Error) int { return cmp.Compare(a.Offset, b.Offset) })
	}
	for i := range line.Errors {
		s.tally.Add(line.Number, &line.Errors[i])
	}
	for i := len(line.Errors) - 1; i >= 0 && len(line.Errors) > report.MaxErrors; i-- {
		if !isRejection(line.Errors[i].Code) {
			line.Errors = slices.Delete(line.Errors, i, i+1)
			line.Dropped++
		}
	}
	s.result.Summary.Counts.Invalid++
}

// isRejection reports whether errors of a code are made of rejections, not of findings.
func isRejection(code transaction.Code) bool {
	return code == CodeDuplicateModificationID || code == transaction.CodeEntityNotFound ||
		code == transaction.CodeEntityNotOnboarded || code == CodeScreeningHit
}

// errorOf returns the error of the report for a rejection of a line, whose number is that in the file.
func (s *settler) errorOf(line int64, r rejection, modificationOffset int64) report.Error {
	if r.reason == duplicateID {
		set := s.rejections.sets[r.set]
		others := otherLines(set.firstLines, line)
		return report.Error{
			Code:            CodeDuplicateModificationID,
			Pointer:         "/modification/external_id",
			Message:         fmt.Sprintf(duplicateMessage, nameLines(others, set.lineCount-1)),
			Offset:          modificationOffset,
			OtherLines:      others,
			OtherLinesTotal: set.lineCount - 1,
		}
	}
	e := report.Error{
		Code:    transaction.CodeEntityNotFound,
		Pointer: "/" + r.role.Name() + "/by_external_id",
		Message: notFoundMessage,
		Offset:  s.chunkStart + int64(r.offset),
	}
	switch r.reason {
	case entityNotOnboarded:
		e.Code, e.Message = transaction.CodeEntityNotOnboarded, notOnboardedMessage
	case screeningHit:
		e.Code, e.Message = CodeScreeningHit, "The name is like that of an entry of a watchlist."
		if hits, err := s.alerts.hitsOf(&s.alerts.found[r.set]); err == nil && len(hits) > 0 {
			e.Message = fmt.Sprintf(screeningHitMessage, hits[0].List, hits[0].EntryID)
		}
		e.Pointer = "/" + r.role.Name() + "/unknown/full_name"
	}
	return e
}

// maxNamedLines is how many other lines the message of a duplicate names.
const maxNamedLines = 3

// nameLines returns the first lines of some, of which there are as many as total, for a sentence.
func nameLines(lines []int64, total int64) string {
	named := lines[:min(len(lines), maxNamedLines)]
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(named), " ", ", "), "[]")
	if more := total - int64(len(named)); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// otherLines returns the lines except one of them, at most maxOtherLines.
func otherLines(lines []int64, except int64) []int64 {
	others := make([]int64, 0, maxOtherLines)
	for _, line := range lines {
		if line != except && len(others) < maxOtherLines {
			others = append(others, line)
		}
	}
	return others
}

// finish completes the files and the counts.
func (s *settler) finish() (SettleResult, error) {
	s.accepted.fillUntil(s.in.LineCount, true)
	if err := s.accepted.close(); err != nil {
		return SettleResult{}, fmt.Errorf("write accept bitmap: %w", err)
	}
	for _, part := range []*bufio.Writer{s.reportPart, s.csvPart, s.rejected} {
		if err := part.Flush(); err != nil {
			return SettleResult{}, fmt.Errorf("write report: %w", err)
		}
	}
	s.tally.AddTo(&s.result.Summary)
	counts := &s.result.Summary.Counts
	counts.Total = s.in.Transactions
	counts.Accepted = counts.Total - counts.Invalid
	if counts.Accepted < 0 {
		return SettleResult{}, fmt.Errorf("%w: more lines are rejected (%d) than there are transactions (%d)",
			ErrCorrupt, counts.Invalid, counts.Total)
	}
	return s.result, nil
}
