package validation

import (
	"bufio"
	"encoding/binary"
	"io"

	"sluice/shared/chunk"
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

// reset begins a file.
func (f *findingsWriter) reset(w io.Writer) {
	*f = findingsWriter{w: reset(f.w, w, 64<<10), buf: f.buf}
}

// reset makes a buffer of what is there, if anything, or else of size bytes.
func reset(b *bufio.Writer, w io.Writer, size int) *bufio.Writer {
	if b == nil {
		return bufio.NewWriterSize(w, size)
	}
	b.Reset(w)
	return b
}

func (f *findingsWriter) addBlank(line int64) error {
	if f.blank > 0 && line == f.next+f.blank {
		f.blank++
		return nil
	}
	if err := f.flushBlank(); err != nil {
		return err
	}
	// The record is begun in buf, and written when the run ends.
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

func (f *findingsWriter) addLine(line *chunk.Line, res *transaction.Result) error {
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
