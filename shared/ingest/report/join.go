package report

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Part is the part of a file that was made for one chunk.
type Part interface {
	// Range returns a reader of the bytes from an offset up to but not including another one. If the part cannot be
	// opened, reading fails.
	Range(from, to int64) io.ReadCloser
}

// PartSize is the size of a part in bytes: first come entries that are full, and then short ones.
type PartSize struct{ Full, Short int64 }

func (s PartSize) total() int64 { return s.Full + s.Short }

// output is where the parts of a file are joined.
type output struct {
	w       io.Writer
	written int64
}

// copyRange writes the bytes [from, to) of a part as they are. It gives the reader of the part to io.Copy, so that both
// may agree on a shorter way.
func (o *output) copyRange(part Part, from, to int64) error {
	if from >= to {
		return nil
	}
	r := part.Range(from, to)
	n, err := io.Copy(o.w, r)
	o.written += n
	if err == nil && n != to-from {
		err = io.ErrUnexpectedEOF
	}
	if err := errors.Join(err, r.Close()); err != nil {
		return fmt.Errorf("copy bytes %d to %d of a part: %w", from, to, err)
	}
	return nil
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	o.written += int64(n)
	if err != nil {
		return n, fmt.Errorf("join parts: %w", err)
	}
	return n, nil
}

// Joiner writes a report from its parts.
//
// Parts are made independently of each other. The maker of a part knows only a number of bytes that the preceding parts
// are not shorter than (MinBytes), and so shortens an entry or two too few, never too many. The joiner, which knows
// what precedes, shortens the others. The report is therefore the same for every division into parts: an entry is full
// exactly if IsFull is true of the number of bytes that precede it.
type Joiner struct {
	out        output
	limit      int64
	firstShort int64

	in  *bufio.Reader
	buf []byte
}

// NewJoiner returns a Joiner that writes to out and shortens the entries after limit bytes; 0 means none.
func NewJoiner(out io.Writer, limit int64) *Joiner {
	return &Joiner{out: output{w: out}, limit: limit, in: bufio.NewReaderSize(nil, 64<<10)}
}

// FirstShort returns the number of the first line whose entry is short; 0 if no entry is short so far.
func (j *Joiner) FirstShort() int64 { return j.firstShort }

// AddPart adds the next part.
func (j *Joiner) AddPart(part Part, size PartSize) error {
	copyFull := func() error { return j.out.copyRange(part, 0, size.Full) }
	if within := j.bytesWithinLimit(size.Full); within < size.Full {
		copyFull = func() error { return j.shorten(part, within, size.Full) }
	}
	if err := copyFull(); err != nil {
		return err
	}
	if size.Short > 0 && j.firstShort == 0 {
		var err error
		if j.firstShort, err = firstNumber(part, size); err != nil {
			return err
		}
	}
	return j.out.copyRange(part, size.Full, size.total())
}

// shorten adds the full entries of a part: those that begin within the limit as they are, the others shortened.
func (j *Joiner) shorten(part Part, within, full int64) error {
	// The entry with the last byte within the limit begins within it, and so is full.
	from := max(within-1, 0)
	r := part.Range(from, full)
	defer r.Close()
	j.in.Reset(r)
	if within > 0 {
		end, err := j.in.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("read part of the report: %w", err)
		}
		within = from + int64(len(end))
		if err := j.out.copyRange(part, 0, within); err != nil {
			return err
		}
	}
	for rest := full - within; rest > 0; {
		entry, err := j.in.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("read part of the report: %w", err)
		}
		rest -= int64(len(entry))
		var number int64
		if j.buf, number, err = appendShortOf(j.buf[:0], entry); err != nil {
			return err
		}
		if j.firstShort == 0 {
			j.firstShort = number
		}
		if _, err := j.out.Write(j.buf); err != nil {
			return err
		}
	}
	return nil
}

// bytesWithinLimit returns how many of n bytes lie within the limit.
func (j *Joiner) bytesWithinLimit(n int64) int64 {
	if j.limit <= 0 {
		return n
	}
	return max(min(n, j.limit-j.out.written), 0)
}

// firstNumber returns the number of the first line whose entry in a part is short.
func firstNumber(part Part, size PartSize) (int64, error) {
	const prefix = `{"line":`
	r := part.Range(size.Full, min(size.Full+int64(len(prefix))+20, size.total()))
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		return 0, fmt.Errorf("read part of the report: %w", err)
	}
	digits, _, _ := bytes.Cut(bytes.TrimPrefix(text, []byte(prefix)), []byte(","))
	number, err := strconv.ParseInt(string(bytes.TrimSuffix(digits, []byte("}"))), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the number of a line of the report: %w", err)
	}
	return number, nil
}

// CSVJoiner writes a report as CSV from its parts. The records of a line are short exactly if its entry in the report
// is.
type CSVJoiner struct {
	out output
	in  *bufio.Reader
	// record is the record that was read last.
	record csvRecord
	buf    []byte
}

// NewCSVJoiner returns a CSVJoiner that writes to out. It has written the header.
func NewCSVJoiner(out io.Writer) (*CSVJoiner, error) {
	j := &CSVJoiner{out: output{w: out}, in: bufio.NewReaderSize(nil, 64<<10)}
	_, err := j.out.Write([]byte(CSVHeader))
	return j, err
}

// AddPart adds the next part. FirstShort is Joiner.FirstShort after the same part of the report.
func (j *CSVJoiner) AddPart(part Part, size PartSize, firstShort int64) error {
	if firstShort == 0 {
		return j.out.copyRange(part, 0, size.total())
	}
	if err := j.shorten(part, size.Full, firstShort); err != nil {
		return err
	}
	return j.out.copyRange(part, size.Full, size.total())
}

// shorten adds the full records of a part, those of the line firstShort and of later ones shortened.
func (j *CSVJoiner) shorten(part Part, full, firstShort int64) error {
	if full == 0 {
		return nil
	}
	r := part.Range(0, full)
	defer r.Close()
	j.in.Reset(r)
	line, codesStart := int64(0), 0 // of the line whose short record is in buf
	flush := func() error {
		if line == 0 {
			return nil
		}
		_, err := j.out.Write(append(j.buf, shortRecordEnd...))
		return err
	}
	for rest := full; rest > 0; {
		if err := j.record.read(j.in); err != nil {
			return fmt.Errorf("read part of the report as CSV: %w", err)
		}
		rest -= int64(len(j.record.text))
		switch number, code := j.record.line, string(j.record.text[j.record.codeStart:j.record.codeEnd]); {
		case number < firstShort:
			if _, err := j.out.Write(j.record.text); err != nil {
				return err
			}
		case number != line:
			if err := flush(); err != nil {
				return err
			}
			line = number
			j.buf = append(j.buf[:0], j.record.text[:j.record.codeEnd]...)
			codesStart = j.record.codeStart
		case !slices.Contains(strings.Fields(string(j.buf[codesStart:])), code):
			j.buf = append(append(j.buf, ' '), code...)
		}
	}
	return flush()
}
