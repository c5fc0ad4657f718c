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

// The findings of a chunk are the magic "SLF2", whose last byte is the version of the format, and records in the order
// of their lines, the last of which is the end record. A record is the number of its bytes (uvarint), at most
// maxRecordBytes, and:
//
//	byte         0: end record
//	uvarint      number of records preceding it
//
//	byte         1: run of blank lines
//	uvarint      first line
//	uvarint      number of lines, at least 1
//
//	byte         2: line with findings
//	uvarint      line
//	ID           request_uuid
//	ID           transaction_external_id
//	ID           modification.external_id
//	uvarint      offset of the line in the file
//	uvarint      offset of modification.external_id in the line; absent without that ID
//	uvarint      number of findings that were dropped
//	uvarint      number of findings that follow, each:
//	  uvarint    number of its kind, from 1, in the order in which kinds occur in the file; 0 for one without a
//	             number:
//	    text     code
//	    text     pointer
//	    text     message
//	  uvarint    offset in the line
//
// A uvarint is encoded as in encoding/binary. A text is the number of its bytes (uvarint) and the bytes. An ID is 0 if
// the line has none, or else the number of its bytes plus one (uvarint) and the bytes. A line is the difference to the
// line after the record before, or to line 0 of the chunk. A chunk that has neither findings nor blank lines has no
// file.
//
// A kind of finding has a number from its first occurrence on if it has at most maxKindBytes bytes and is among the
// first maxKinds of these. So a finding takes two or three bytes instead of fifty or more, and a small file of nothing
// but errors does not grow into a large one.
//
// Findings of version SLF1, which earlier releases wrote, are read, too: they have no offset of the line, no numbers,
// and offsets in the file.
const (
	findingsMagic    = "SLF2"
	oldFindingsMagic = "SLF1"
)

const (
	maxKinds     = 4096
	maxKindBytes = 512
)

// findingKind is what findings have in common that differ in their line and offset alone.
type findingKind struct {
	code             transaction.Code
	pointer, message string
}

// isNumbered reports whether a kind is given a number in a file that has numbered some.
func (k findingKind) isNumbered(numbered int) bool {
	return numbered < maxKinds && len(k.code)+len(k.pointer)+len(k.message) <= maxKindBytes
}

// maxRecordBytes bounds the memory that reading takes. With the default limits no record is as long: a pointer repeats
// keys of its line, which has at most transaction.MaxLineBytes (256 KiB), and a line has at most
// transaction.MaxFindings (100) findings.
const maxRecordBytes = 64 << 20

// recordKind is the first byte of a record.
type recordKind byte

const (
	endRecord recordKind = iota
	blankRecord
	lineRecord
)

// findingsWriter writes the findings of one chunk, and keeps its memory for the next.
type findingsWriter struct {
	w       *bufio.Writer
	written int64
	records uint64
	// nextLine is the line after the last record.
	nextLine int64
	// blankLines is the number of blank lines from nextLine on that are yet to be written; their record has been
	// started in buf.
	blankLines int64
	// buf is the record that is being written, without its length.
	buf []byte
	// kinds are the numbers of kinds, from 1.
	kinds map[findingKind]uint64
}

// reset starts the findings of a chunk.
func (f *findingsWriter) reset(w io.Writer) {
	clear(f.kinds)
	*f = findingsWriter{w: resetWriter(f.w, w, 64<<10), buf: f.buf, kinds: f.kinds}
	if f.kinds == nil {
		f.kinds = make(map[findingKind]uint64)
	}
}

// addBlank adds a blank line. Lines must be added in order.
func (f *findingsWriter) addBlank(line int64) error {
	if f.blankLines > 0 && line == f.nextLine+f.blankLines {
		f.blankLines++
		return nil
	}
	if err := f.flushBlankLines(); err != nil {
		return err
	}
	f.startRecord(blankRecord, line)
	f.nextLine, f.blankLines = line, 1
	return nil
}

func (f *findingsWriter) flushBlankLines() error {
	if f.blankLines == 0 {
		return nil
	}
	f.buf = binary.AppendUvarint(f.buf, uint64(f.blankLines))
	f.nextLine += f.blankLines
	f.blankLines = 0
	return f.writeRecord()
}

// addLine adds a line with its findings.
func (f *findingsWriter) addLine(line *chunk.Line, res *transaction.Result) error {
	if err := f.flushBlankLines(); err != nil {
		return err
	}
	f.startRecord(lineRecord, line.Number)
	b := appendID(f.buf, res.RequestUUID)
	b = appendID(b, res.TransactionExternalID)
	b = appendID(b, res.ModificationID)
	b = binary.AppendUvarint(b, uint64(line.Offset))
	if res.ModificationID != nil {
		b = binary.AppendUvarint(b, uint64(res.ModificationOffset))
	}
	b = binary.AppendUvarint(b, uint64(res.Dropped))
	b = binary.AppendUvarint(b, uint64(len(res.Findings)))
	for i := range res.Findings {
		found := &res.Findings[i]
		b = f.appendKind(b, findingKind{found.Code, found.Pointer, found.Message})
		b = binary.AppendUvarint(b, uint64(found.Offset))
	}
	f.buf = b
	f.nextLine = line.Number + 1
	return f.writeRecord()
}

// appendKind appends the number of a kind, or the kind itself, which may get a number by that.
func (f *findingsWriter) appendKind(b []byte, k findingKind) []byte {
	if number, ok := f.kinds[k]; ok {
		return binary.AppendUvarint(b, number)
	}
	if k.isNumbered(len(f.kinds)) {
		f.kinds[k] = uint64(len(f.kinds)) + 1
	}
	return appendText(appendText(appendText(append(b, 0), string(k.code)), k.pointer), k.message)
}

func appendID(b, id []byte) []byte {
	if id == nil {
		return append(b, 0)
	}
	return append(binary.AppendUvarint(b, uint64(len(id))+1), id...)
}

// startRecord starts a record of a line in buf.
func (f *findingsWriter) startRecord(kind recordKind, line int64) {
	f.buf = binary.AppendUvarint(append(f.buf[:0], byte(kind)), uint64(line-f.nextLine))
}

// writeRecord writes the record in buf, and the magic before the first one.
func (f *findingsWriter) writeRecord() error {
	prefix := f.w.AvailableBuffer()
	if f.written == 0 {
		prefix = append(prefix, findingsMagic...)
	}
	prefix = binary.AppendUvarint(prefix, uint64(len(f.buf)))
	f.written += int64(len(prefix) + len(f.buf))
	f.records++
	if _, err := f.w.Write(prefix); err != nil {
		return err
	}
	_, err := f.w.Write(f.buf)
	return err
}

// close writes what is buffered and, unless there are no records, the end record.
func (f *findingsWriter) close() error {
	if err := f.flushBlankLines(); err != nil {
		return err
	}
	if f.records > 0 {
		f.buf = binary.AppendUvarint(append(f.buf[:0], byte(endRecord)), f.records)
		if err := f.writeRecord(); err != nil {
			return err
		}
	}
	return f.w.Flush()
}

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
		k := f.decodeKind(d)
		line.Errors = append(line.Errors, report.Error{
			Code: k.code, Pointer: k.pointer, Message: k.message, Offset: start + d.uvarintUpTo(1<<60),
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
