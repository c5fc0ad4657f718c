package validation

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"sluice/shared/chunk"
	"sluice/shared/report"
	"sluice/shared/transaction"
)

// The findings of a chunk are the magic "SLF1" and records, in the order of the lines. A record is a uvarint of its bytes and
//
//	0  the end: uvarint number of records before it
//	1  blank lines: uvarint line, uvarint how many
//	2  a line with findings: uvarint line; request_uuid, transaction_external_id and modification.external_id, each a
//	   uvarint of its bytes plus one, or 0 for none, and the bytes; with the last its uvarint offset; uvarint findings
//	   dropped; uvarint findings kept, each code, pointer and message (uvarint of its bytes, bytes) and uvarint offset
//
// Lines are the difference to the line behind the record before, offsets are of the file.
const (
	findingsMagic = "SLF1"
	// maxRecord bounds a record: a line of MaxLineBytes cannot hold so many different keys that its pointers are longer.
	maxRecord = 64 << 20
)

const (
	endRecord = iota
	blankRecord
	linesRecord
)

type findingsWriter struct {
	w       *bufio.Writer
	written int64
	records uint64
	next    int64 // line behind the last record
	blank   int64 // lines from next on that are blank and not yet written
	buf     []byte
}

func newFindingsWriter(w io.Writer) *findingsWriter {
	return &findingsWriter{w: bufio.NewWriterSize(w, 64<<10), buf: make([]byte, 0, 4<<10)}
}

func (f *findingsWriter) addBlank(line int64) error {
	if f.blank > 0 && line == f.next+f.blank {
		f.blank++
		return nil
	}
	if err := f.flushBlank(); err != nil {
		return err
	}
	// The gap is part of the run's record: remember where the run begins by writing it when it ends.
	f.buf = binary.AppendUvarint(append(f.buf[:0], blankRecord), uint64(line-f.next))
	f.next, f.blank = line, 1
	return nil
}

func (f *findingsWriter) flushBlank() error {
	if f.blank == 0 {
		return nil
	}
	f.buf = binary.AppendUvarint(f.buf, uint64(f.blank))
	f.next += f.blank
	f.blank = 0
	return f.record()
}

func (f *findingsWriter) addLine(line chunk.Line, res *transaction.Result) error {
	if err := f.flushBlank(); err != nil {
		return err
	}
	b := binary.AppendUvarint(append(f.buf[:0], linesRecord), uint64(line.Number-f.next))
	b = appendID(b, res.RequestUUID)
	b = appendID(b, res.TransactionExternalID)
	b = appendID(b, res.ModificationID)
	if res.ModificationID != nil {
		b = binary.AppendUvarint(b, uint64(line.Offset)+uint64(res.ModificationOffset))
	}
	b = binary.AppendUvarint(b, uint64(res.Dropped))
	b = binary.AppendUvarint(b, uint64(len(res.Findings)))
	for i := range res.Findings {
		found := &res.Findings[i]
		b = appendText(b, string(found.Code))
		b = appendText(b, found.Pointer)
		b = appendText(b, found.Message)
		b = binary.AppendUvarint(b, uint64(line.Offset)+uint64(found.Offset))
	}
	f.buf = b
	f.next = line.Number + 1
	return f.record()
}

func appendID(b, id []byte) []byte {
	if id == nil {
		return append(b, 0)
	}
	return append(binary.AppendUvarint(b, uint64(len(id))+1), id...)
}

// record writes f.buf as a record.
func (f *findingsWriter) record() error {
	var head []byte
	if f.written == 0 {
		head = append(f.w.AvailableBuffer(), findingsMagic...)
	} else {
		head = f.w.AvailableBuffer()
	}
	head = binary.AppendUvarint(head, uint64(len(f.buf)))
	f.written += int64(len(head) + len(f.buf))
	f.records++
	if _, err := f.w.Write(head); err != nil {
		return err
	}
	_, err := f.w.Write(f.buf)
	return err
}

// close writes what is left, and the end unless there are no records at all.
func (f *findingsWriter) close() error {
	if err := f.flushBlank(); err != nil {
		return err
	}
	if f.records > 0 {
		f.buf = binary.AppendUvarint(append(f.buf[:0], endRecord), f.records)
		if err := f.record(); err != nil {
			return err
		}
	}
	return f.w.Flush()
}

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
	lines   int64 // of the chunk
	next    int64
	records uint64
	buf     []byte
	texts   map[string]string
	rec     record
}

// newFindingsReader reads the findings of a chunk of so many lines. A nil file has none.
func newFindingsReader(file io.Reader, lines int64) (*findingsReader, error) {
	if file == nil {
		return nil, nil
	}
	f := &findingsReader{r: bufio.NewReaderSize(file, 64<<10), lines: lines, texts: make(map[string]string)}
	var magic [len(findingsMagic)]byte
	if _, err := io.ReadFull(f.r, magic[:]); err != nil {
		return nil, truncated(err)
	}
	if string(magic[:]) != findingsMagic {
		return nil, fmt.Errorf("%w: not %s", ErrCorrupt, findingsMagic)
	}
	return f, nil
}

func truncated(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: findings without an end", ErrCorrupt)
	}
	return fmt.Errorf("read findings: %w", err)
}

// read returns the next record, valid until the next call, or nil at the end.
func (f *findingsReader) read() (*record, error) {
	if f == nil {
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
