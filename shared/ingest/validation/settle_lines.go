package validation

import (
	"context"
	"fmt"
	"sort"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/transaction"
)

// copyRejected copies a line that is rejected, if it is wanted. The offset is that in the file, or noOffset.
func (s *settler) copyRejected(ctx context.Context, number, offset int64) error {
	if s.in.Rejected == nil {
		return nil
	}
	if s.lines == nil && offset != noOffset { // no line preceding it is read again
		s.openLines(ctx, chunk.Position{Line: number, Offset: offset})
	}
	line, err := s.findLine(ctx, number)
	if err != nil {
		return err
	}
	return s.writeRejected(line)
}

// writeRejected writes a line that is rejected, if it is wanted.
func (s *settler) writeRejected(line *chunk.Line) error {
	switch {
	case s.in.Rejected == nil:
		return nil
	case line.TooLong:
		s.result.Summary.RejectedLeftOut++
		return nil
	}
	s.result.RejectedBytes += int64(len(line.Text)) + 1
	_, err := s.rejected.Write(line.Text)
	if err == nil {
		err = s.rejected.WriteByte('\n')
	}
	if err != nil {
		return fmt.Errorf("write rejected lines: %w", err)
	}
	return nil
}

// readLine reads and scans a line of the chunk again. The line and its result are valid until the next call.
func (s *settler) readLine(ctx context.Context, number int64) (*chunk.Line, *transaction.Result, error) {
	line, err := s.findLine(ctx, number)
	if err != nil {
		return nil, nil, err
	}
	return line, s.in.scan(line), nil
}

// findLine reads a line of the chunk again. Lines are read in order, unless closeLines is called in between. The line
// is valid until the next call.
func (s *settler) findLine(ctx context.Context, number int64) (*chunk.Line, error) {
	s.seekLine(ctx, number)
	for s.lines.Next() {
		line := s.lines.Line()
		s.linesNext = line.Number + 1
		if line.Number == number {
			return line, nil
		}
	}
	if err := s.lines.Err(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w: something is known of line %d, which the chunk does not have", ErrCorrupt, number)
}

// seekLine makes lines read from the last seek point that does not follow a line, unless it is already between the two.
func (s *settler) seekLine(ctx context.Context, number int64) {
	var from chunk.Position
	points := s.in.SeekPoints
	if n := sort.Search(len(points), func(i int) bool { return points[i].Line > number }); n > 0 {
		from = points[n-1]
	}
	if s.lines != nil && from.Line <= s.linesNext {
		return
	}
	s.openLines(ctx, from)
}

func (s *settler) openLines(ctx context.Context, from chunk.Position) {
	s.closeLines()
	s.lines, s.linesNext = s.in.newReader(ctx, from), from.Line
}

func (s *settler) closeLines() {
	if s.lines != nil {
		s.lines.Close()
		s.lines = nil
	}
}
