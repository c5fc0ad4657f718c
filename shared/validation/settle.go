package validation

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sort"

	"sluice/shared/chunk"
	"sluice/shared/report"
	"sluice/shared/transaction"
)

const (
	duplicateMessage    = "The modification external_id is shared with other lines of the batch; all of them are rejected."
	notFoundMessage     = "The onboarding system has no entity of this ID."
	notOnboardedMessage = "The entity is not fully onboarded."
)

// Settle merges what is known of the lines of a chunk: it writes the chunk's part of the report, JSON Lines with absolute
// line numbers, and the bitmap of its accepted lines (see Bitmap). Parts in the order of the chunks are the report. The
// chunk is read again only for lines that are rejected by marks alone, for their identifiers.
func Settle(ctx context.Context, in SettleInput, part, accepted io.Writer) (SettleResult, error) {
	return new(settlement).run(ctx, in, part, accepted)
}

// settlement settles one chunk at a time and keeps its memory for the next.
type settlement struct {
	in       SettleInput
	start    int64 // of the chunk in the file
	findings findingsReader
	sections sectionReader
	marks    chunkMarks
	part     *bufio.Writer
	bits     bitmapWriter
	result   SettleResult

	again *chunk.Reader // the lines once more; nil until they are needed
	next  int64         // number of the line that again reads next
	line  report.Line
	buf   []byte
}

func (s *settlement) run(ctx context.Context, in SettleInput, part, accepted io.Writer) (SettleResult, error) {
	s.in, s.result, s.part = in, SettleResult{}, reset(s.part, part, 64<<10)
	s.start, _ = in.Plan.Range(in.Chunk)
	s.bits.reset(accepted, in.LineCount)
	s.marks.reset()
	err := s.sections.each(ctx, len(in.Marks), in.Fetch, func(ctx context.Context, p int, buf []byte) ([]byte, error) {
		return readSection(ctx, in.Marks[p], marksMagic, in.Plan.Count(), in.Chunk, buf)
	}, func(_ int, section []byte) error {
		return s.marks.add(section, in.LineCount)
	})
	if err != nil {
		return SettleResult{}, fmt.Errorf("read marks: %w", err)
	}
	slices.SortFunc(s.marks.marks, func(a, b mark) int { return cmp.Compare(a.line, b.line) })
	if err := s.merge(ctx); err != nil {
		return SettleResult{}, err
	}
	return s.finish()
}

// merge goes through findings and marks in the order of their lines.
func (s *settlement) merge(ctx context.Context) error {
	if err := s.findings.reset(s.in.Findings, s.in.LineCount); err != nil {
		return err
	}
	defer func() {
		if s.again != nil {
			s.again.Close()
			s.again = nil
		}
	}()
	marks := s.marks.marks
	for {
		rec, err := s.findings.read()
		if err != nil {
			return err
		}
		limit := s.in.LineCount
		if rec != nil {
			limit = rec.line
		}
		for len(marks) > 0 && int64(marks[0].line) < limit {
			n := sameLine(marks)
			if err := s.markedOnly(ctx, marks[:n]); err != nil {
				return err
			}
			marks = marks[n:]
		}
		if rec == nil {
			return nil
		}
		if rec.blank > 0 {
			s.bits.until(rec.line, true)
			s.bits.until(rec.line+rec.blank, false)
			continue
		}
		n := 0
		if len(marks) > 0 && int64(marks[0].line) == rec.line {
			n = sameLine(marks)
		}
		if err := s.reject(rec.line, &rec.report, marks[:n], rec.modification); err != nil {
			return err
		}
		marks = marks[n:]
	}
}

// sameLine returns how many of the first marks are of one line.
func sameLine(marks []mark) int {
	n := 1
	for n < len(marks) && marks[n].line == marks[0].line {
		n++
	}
	return n
}

// markedOnly rejects a line that is valid as far as itself can tell. Its identifiers are in the file alone.
func (s *settlement) markedOnly(ctx context.Context, marks []mark) error {
	number := int64(marks[0].line)
	s.seek(ctx, number)
	for s.again.Next() {
		line := s.again.Line()
		s.next = line.Number + 1
		if line.Number < number {
			continue
		}
		res := s.in.scan(line)
		s.line.RequestUUID = res.RequestUUID
		s.line.TransactionExternalID = res.TransactionExternalID
		s.line.ModificationID = res.ModificationID
		s.line.Errors = s.line.Errors[:0]
		return s.reject(number, &s.line, marks, line.Offset+int64(res.ModificationOffset))
	}
	if err := s.again.Err(); err != nil {
		return err
	}
	return fmt.Errorf("%w: mark of line %d, which the chunk does not have", ErrCorrupt, number)
}

// seek makes again read from the last known place before a line, unless it is there already.
func (s *settlement) seek(ctx context.Context, number int64) {
	var from chunk.Position
	if n := sort.Search(len(s.in.SeekPoints), func(i int) bool { return s.in.SeekPoints[i].Line > number }); n > 0 {
		from = s.in.SeekPoints[n-1]
	}
	if s.again != nil && from.Line <= s.next {
		return
	}
	if s.again != nil {
		s.again.Close()
	}
	s.again, s.next = s.in.read(ctx, from), from.Line
}

// reject writes the line of the report and leaves the line out of the accepted ones.
func (s *settlement) reject(number int64, line *report.Line, marks []mark, modification int64) error {
	s.bits.until(number, true)
	s.bits.until(number+1, false)
	line.Number = s.in.FirstLine + number
	for i := range marks {
		line.Errors = append(line.Errors, s.markError(line.Number, marks[i], modification))
	}
	if len(marks) > 0 {
		slices.SortStableFunc(line.Errors, func(a, b report.Error) int { return cmp.Compare(a.Offset, b.Offset) })
	}
	for i := range line.Errors {
		s.result.Summary.AddError(line.Number, &line.Errors[i])
	}
	s.result.Summary.Counts.Invalid++
	s.buf = line.AppendTo(s.buf[:0])
	s.result.ReportBytes += int64(len(s.buf))
	if _, err := s.part.Write(s.buf); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (s *settlement) markError(line int64, m mark, modification int64) report.Error {
	if m.role == transaction.NoRole {
		set := s.marks.sets[m.set]
		return report.Error{
			Code:            DuplicateModificationID,
			Pointer:         "/modification/external_id",
			Message:         duplicateMessage,
			Offset:          modification,
			OtherLines:      others(s.marks.lines[set.from:set.to], line),
			OtherLinesTotal: set.total - 1,
		}
	}
	e := report.Error{
		Code:    transaction.CodeEntityNotFound,
		Pointer: "/" + m.role.Name() + "/by_external_id",
		Message: notFoundMessage,
		Offset:  s.start + int64(m.offset),
	}
	if m.state == NotOnboarded {
		e.Code, e.Message = transaction.CodeEntityNotOnboarded, notOnboardedMessage
	}
	return e
}

// others returns the lines without one, at most maxOtherLines.
func others(lines []int64, without int64) []int64 {
	rest := make([]int64, 0, maxOtherLines)
	for _, line := range lines {
		if line != without && len(rest) < maxOtherLines {
			rest = append(rest, line)
		}
	}
	return rest
}

func (s *settlement) finish() (SettleResult, error) {
	s.bits.until(s.in.LineCount, true)
	if err := s.bits.close(); err != nil {
		return SettleResult{}, fmt.Errorf("write bitmap: %w", err)
	}
	if err := s.part.Flush(); err != nil {
		return SettleResult{}, fmt.Errorf("write report: %w", err)
	}
	counts := &s.result.Summary.Counts
	counts.Total = s.in.Transactions
	if counts.Accepted = counts.Total - counts.Invalid; counts.Accepted < 0 {
		return SettleResult{}, fmt.Errorf("%w: more lines rejected than there are", ErrCorrupt)
	}
	return s.result, nil
}
