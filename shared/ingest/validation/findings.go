package validation

import (
	"bufio"
	"encoding/binary"
	"io"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/transaction"
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

// findingKind has the values that are equal in findings that differ in line and offset alone.
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

// close writes the buffer and, unless there are no records, the end record.
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
