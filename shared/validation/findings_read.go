package validation

import (
	"bufio"
	"fmt"
	"io"

	"sluice/shared/report"
	"sluice/shared/transaction"
)

// record is what a findings file says of one line, or of a run of blank ones.
type record struct {
	line   int64       // within the chunk
	blank  int64       // lines of the run; 0 for a line with findings
	report report.Line // without its number
	// modification is the place of the modification ID in the file.
	modification int64
}

type findingsReader struct {
	r       *bufio.Reader
	none    bool
	lines   int64 // of the chunk
	next    int64
	records uint64
	buf     []byte
	texts   map[string]string
	rec     record
}

// reset begins to read the findings of a chunk of so many lines. A nil file has none.
func (f *findingsReader) reset(file io.Reader, lines int64) error {
	if f.none = file == nil; f.none {
		return nil
	}
	if f.r == nil {
		f.r, f.texts = bufio.NewReaderSize(file, 64<<10), make(map[string]string)
	}
	f.r.Reset(file)
	f.lines, f.next, f.records = lines, 0, 0
	var magic [len(findingsMagic)]byte
	if _, err := io.ReadFull(f.r, magic[:]); err != nil {
		return truncated(err)
	}
	if string(magic[:]) != findingsMagic {
		return fmt.Errorf("%w: not %s", ErrCorrupt, findingsMagic)
	}
	return nil
}

func truncated(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: findings without an end", ErrCorrupt)
	}
	return fmt.Errorf("read findings: %w", err)
}

// read returns the next record, valid until the next call, or nil at the end.
func (f *findingsReader) read() (*record, error) {
	if f.none {
		return nil, nil
	}
	if err := f.fetch(); err != nil {
		return nil, err
	}
	d := &decoder{b: f.buf}
	switch kind := d.byte(); {
	case d.bad || kind > linesRecord:
		d.fail()
	case kind == endRecord:
		if d.uvarint() != f.records {
			d.fail()
		}
		if _, err := f.r.ReadByte(); err != io.EOF {
			d.fail()
		}
		return nil, d.done("end of findings")
	case kind == blankRecord:
		f.rec = record{line: f.next + d.upTo(f.lines-f.next)}
		f.rec.blank = d.upTo(f.lines - f.rec.line)
		f.next = f.rec.line + f.rec.blank
		if f.rec.blank == 0 {
			d.fail()
		}
	default:
		f.decodeLine(d)
	}
	f.records++
	return &f.rec, d.done("record of findings")
}

// fetch reads the bytes of the next record. Memory grows with what is there.
func (f *findingsReader) fetch() error {
	size := 0
	for shift := 0; ; shift += 7 {
		b, err := f.r.ReadByte()
		if err != nil {
			return truncated(err)
		}
		if size |= int(b&0x7F) << shift; size > maxRecord || shift > 28 {
			return fmt.Errorf("%w: record of more than %d bytes", ErrCorrupt, maxRecord)
		}
		if b < 0x80 {
			break
		}
	}
	f.buf = f.buf[:0]
	for want := size; want > 0; {
		n := min(want, 64<<10)
		start := len(f.buf)
		f.buf = append(f.buf, make([]byte, n)...)
		if _, err := io.ReadFull(f.r, f.buf[start:]); err != nil {
			return truncated(err)
		}
		want -= n
	}
	return nil
}

func (f *findingsReader) decodeLine(d *decoder) {
	rec := &f.rec
	rec.line, rec.blank = f.next+d.upTo(f.lines-f.next-1), 0
	f.next = rec.line + 1
	line := &rec.report
	line.RequestUUID, line.TransactionExternalID, line.ModificationID = decodeID(d), decodeID(d), decodeID(d)
	if line.ModificationID != nil {
		rec.modification = d.upTo(1 << 62)
	}
	line.Dropped = int(d.upTo(1 << 31))
	count := d.upTo(int64(len(d.b)) / 4) // a finding takes four bytes at least
	line.Errors = line.Errors[:0]
	for range count {
		line.Errors = append(line.Errors, report.Error{
			Code:    transaction.Code(f.text(d)),
			Pointer: f.text(d),
			Message: f.text(d),
			Offset:  d.upTo(1 << 62),
		})
	}
	if f.next > f.lines {
		d.fail()
	}
}

func decodeID(d *decoder) []byte {
	n := d.upTo(int64(len(d.b)))
	if n == 0 {
		return nil
	}
	return d.take(int(n - 1))
}

// text keeps the texts that come again and again, so that a file of bad lines does not cost a string for each.
func (f *findingsReader) text(d *decoder) string {
	b := d.text()
	if s, ok := f.texts[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(f.texts) < 4096 && len(s) < 256 {
		f.texts[s] = s
	}
	return s
}
