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

// The findings of a chunk are the magic "SLF1", whose last byte is the version of the format, and records in the order
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
//	uvarint      offset of modification.external_id in the file; absent without that ID
//	uvarint      number of findings that were dropped
//	uvarint      number of findings that follow, each:
//	  text       code
//	  text       pointer
//	  text       message
//	  uvarint    offset in the file
//
// A uvarint is encoded as in encoding/binary. A text is the number of its bytes (uvarint) and the bytes. An ID is 0 if
// the line has none, or else the number of its bytes plus one (uvarint) and the bytes. A line is the difference to the
// line after the record before, or to line 0 of the chunk. A chunk that has neither findings nor blank lines has no
// file.
const findingsMagic = "SLF1"

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
}

// reset starts the findings of a chunk.
func (f *findingsWriter) reset(w io.Writer) {
	*f = findingsWriter{w: resetWriter(f.w, w, 64<<10), buf: f.buf}
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
	f.nextLine = line.Number + 1
	return f.writeRecord()
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
	// modificationOffset is the offset of the line's modification ID in the file.
	modificationOffset int64
}

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
	// texts are texts that have been read before, because most texts occur again and again.
	texts  map[string]string
	record findingsRecord
}

// maxCachedTexts and maxCachedTextBytes bound the memory of findingsReader.texts.
const (
	maxCachedTexts     = 4096
	maxCachedTextBytes = 255
)

// reset starts reading the findings of a chunk of lineCount lines. If file is nil, there are none.
func (f *findingsReader) reset(file io.Reader, lineCount int64) error {
	f.empty, f.lineCount, f.nextLine, f.records = file == nil, lineCount, 0, 0
	if f.empty {
		return nil
	}
	if f.r == nil {
		f.r, f.texts = bufio.NewReaderSize(file, 64<<10), make(map[string]string)
	}
	f.r.Reset(file)
	var magic [len(findingsMagic)]byte
	if _, err := io.ReadFull(f.r, magic[:]); err != nil {
		return findingsReadError(err)
	}
	if string(magic[:]) != findingsMagic {
		return fmt.Errorf("%w: not findings of version %s", ErrCorrupt, findingsMagic)
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
	const minFindingBytes = 4 // the lengths of three empty texts, and an offset
	rec := &f.record
	rec.line, rec.blankLines = f.nextLine+d.uvarintUpTo(f.lineCount-f.nextLine-1), 0
	f.nextLine = rec.line + 1
	line := &rec.report
	line.RequestUUID, line.TransactionExternalID, line.ModificationID = decodeID(d), decodeID(d), decodeID(d)
	if line.ModificationID != nil {
		rec.modificationOffset = d.uvarintUpTo(1 << 62)
	}
	line.Dropped = int(d.uvarintUpTo(1 << 31))
	count := d.uvarintUpTo(int64(len(d.b)) / minFindingBytes)
	line.Errors = line.Errors[:0]
	for range count {
		line.Errors = append(line.Errors, report.Error{
			Code:    transaction.Code(f.decodeText(d)),
			Pointer: f.decodeText(d),
			Message: f.decodeText(d),
			Offset:  d.uvarintUpTo(1 << 62),
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

// decodeText decodes a text as a string that is shared with equal texts, so that a file of invalid lines does not cost
// an allocation for each text.
func (f *findingsReader) decodeText(d *decoder) string {
	b := d.text()
	if s, ok := f.texts[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(f.texts) < maxCachedTexts && len(s) <= maxCachedTextBytes {
		f.texts[s] = s
	}
	return s
}
