package validation

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"sluice/shared/ingest/report"
	"sluice/shared/ingest/transaction"
)

// findingsRecord is a record of a findings file.
type findingsRecord struct {
	kind recordKind
	// line is the line of the record within the chunk, or its first one. For the end record it is the number of lines
	// of the chunk.
	line int64
	// blankLines is the number of lines of a run of blank lines.
	blankLines int64
	// report is the line of the report of a line with findings, without its number.
	report report.Line
	// offset is the offset of that line in the file; noOffset if the file of findings does not say.
	offset int64
	// modificationOffset is the offset of the line's modification ID in the file.
	modificationOffset int64
}

// noOffset is the offset of a line whose findings do not say where it is.
const noOffset = -1

// findingsReader reads the findings of one chunk, and keeps its memory for the next.
type findingsReader struct {
	r *bufio.Reader
	// empty is set if the chunk has no findings file.
	empty bool
	// lineCount is the number of lines of the chunk, and nextLine the line after the last record.
	lineCount int64
	nextLine  int64
	records   uint64
	buf       []byte
	// isOld is set for findings of version SLF1.
	isOld bool
	// kinds are the kinds that have a number, in their order.
	kinds  []findingKind
	record findingsRecord
}

// reset starts reading the findings of a chunk of lineCount lines. If file is nil, there are none.
func (f *findingsReader) reset(file io.Reader, lineCount int64) error {
	f.empty, f.lineCount, f.nextLine, f.records = file == nil, lineCount, 0, 0
	if f.empty {
		return nil
	}
	if f.r == nil {
		f.r = bufio.NewReaderSize(file, 64<<10)
	}
	f.kinds = f.kinds[:0]
	f.r.Reset(file)
	var magic [len(findingsMagic)]byte
	if _, err := io.ReadFull(f.r, magic[:]); err != nil {
		return findingsReadError(err)
	}
	f.isOld = string(magic[:]) == oldFindingsMagic
	if !f.isOld && string(magic[:]) != findingsMagic {
		return fmt.Errorf("%w: not findings of version %s or %s", ErrCorrupt, findingsMagic, oldFindingsMagic)
	}
	return nil
}

func findingsReadError(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: findings have no end record", ErrCorrupt)
	}
	return fmt.Errorf("read findings: %w", err)
}

// read returns the next record, which is valid until the next call. The last one is the end record, also if there is no
// file.
func (f *findingsReader) read() (*findingsRecord, error) {
	if f.empty {
		f.record = findingsRecord{kind: endRecord, line: f.lineCount}
		return &f.record, nil
	}
	if err := f.readRecordBytes(); err != nil {
		return nil, err
	}
	d := &decoder{b: f.buf}
	switch kind := recordKind(d.byte()); kind {
	case endRecord:
		f.record.kind, f.record.line = kind, f.lineCount
		if d.uvarint() != f.records {
			d.fail()
		}
		if _, err := f.r.ReadByte(); err != io.EOF {
			d.fail()
		}
		return &f.record, d.finish("end record of findings")
	case blankRecord:
		f.record.kind, f.record.line = kind, f.nextLine+d.uvarintUpTo(f.lineCount-f.nextLine)
		f.record.blankLines = d.uvarintUpTo(f.lineCount - f.record.line)
		f.nextLine = f.record.line + f.record.blankLines
		if f.record.blankLines == 0 {
			d.fail()
		}
	case lineRecord:
		f.record.kind = kind
		f.decodeLine(d)
	default:
		d.fail()
	}
	f.records++
	return &f.record, d.finish("record of findings")
}

// readRecordBytes reads the bytes of the next record into buf. Memory grows with the bytes that there are, not with a
// length that may be damaged.
func (f *findingsReader) readRecordBytes() error {
	size := 0
	for shift := 0; ; shift += 7 {
		b, err := f.r.ReadByte()
		if err != nil {
			return findingsReadError(err)
		}
		if size |= int(b&0x7F) << shift; size > maxRecordBytes || shift > 28 {
			return fmt.Errorf("%w: record of more than %d bytes", ErrCorrupt, maxRecordBytes)
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
			return findingsReadError(err)
		}
		want -= n
	}
	return nil
}

func (f *findingsReader) decodeLine(d *decoder) {
	const minFindingBytes = 2 // a number and an offset
	rec := &f.record
	rec.line, rec.blankLines = f.nextLine+d.uvarintUpTo(f.lineCount-f.nextLine-1), 0
	f.nextLine = rec.line + 1
	line := &rec.report
	line.RequestUUID, line.TransactionExternalID, line.ModificationID = decodeID(d), decodeID(d), decodeID(d)
	start := int64(0)
	rec.offset = noOffset
	if !f.isOld {
		start = d.uvarintUpTo(1 << 60)
		rec.offset = start
	}
	if line.ModificationID != nil {
		rec.modificationOffset = start + d.uvarintUpTo(1<<60)
	}
	line.Dropped = int(d.uvarintUpTo(1 << 31))
	count := d.uvarintUpTo(int64(len(d.b)) / minFindingBytes)
	line.Errors = line.Errors[:0]
	for range count {
		if d.failed {
			return
		}
		k, at := f.decodeKind(d), d.uvarintUpTo(1<<60)
		if k.code == transaction.CodeJSONInvalid && !f.isOld {
			k.message = strings.TrimSuffix(k.message, ".") + fmt.Sprintf(" (byte %d of the line).", at+1)
		}
		line.Errors = append(line.Errors, report.Error{
			Code: k.code, Pointer: k.pointer, Message: k.message, Offset: start + at,
		})
	}
	if f.nextLine > f.lineCount {
		d.fail()
	}
}

func decodeID(d *decoder) []byte {
	n := d.uvarintUpTo(int64(len(d.b)))
	if n == 0 {
		return nil
	}
	return d.bytes(int(n - 1))
}

// decodeKind decodes the number of a kind, or a kind, which may get a number by that.
func (f *findingsReader) decodeKind(d *decoder) findingKind {
	if !f.isOld {
		if number := d.uvarintUpTo(int64(len(f.kinds))); number > 0 {
			return f.kinds[number-1]
		}
	}
	k := findingKind{transaction.Code(d.text()), string(d.text()), string(d.text())}
	if !f.isOld && !d.failed && k.isNumbered(len(f.kinds)) {
		f.kinds = append(f.kinds, k)
	}
	return k
}
