package report

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// CSVHeader is the first record of the report as CSV (RFC 4180).
//
// Each error of the report is one record, in the order of the report. The records of a line whose entry in the report
// is short are one record instead: its cell code holds the codes of the line's errors, each once, separated by spaces,
// and field, message and offset are empty. The file is in UTF-8 without a byte-order mark, and records end with CRLF.
//
// Spreadsheets execute cells that begin like a formula, and anybody may have written the content of a line. A cell that
// begins with one of = + - @ (also in full width), with a tab, a line break or an apostrophe therefore has an
// apostrophe put before it: who reads the file by program removes one from the beginning of each cell.
const CSVHeader = "line,modification_external_id,transaction_external_id,code,field,message,offset\r\n"

// maxCellIDBytes is the length, in bytes, above which an ID is cut. No valid ID is longer. It bounds the file, in which
// an ID is repeated for each error.
const maxCellIDBytes = 255

// CutID returns an ID as the CSV has it. One that is longer than any valid ID is cut, and ends with "…".
func CutID(id string) string { return CutText(id, maxCellIDBytes) }

// AppendCSVTo appends the records of the line.
func (l *Line) AppendCSVTo(b []byte) []byte {
	start := len(b)
	b = l.appendCSVIDs(b)
	ids := len(b) - start
	for i := range l.Errors {
		e := &l.Errors[i]
		if i > 0 {
			b = append(b, b[start:start+ids]...)
		}
		b = append(appendCell(b, string(e.Code)), ',')
		b = append(appendCell(b, e.Pointer), ',')
		b = append(appendCell(b, e.Message), ',')
		b = append(strconv.AppendInt(b, e.Offset, 10), '\r', '\n')
	}
	return b
}

// AppendShortCSVTo appends the only record of a line whose entry in the report is short.
func (l *Line) AppendShortCSVTo(b []byte) []byte {
	b = l.appendCSVIDs(b)
	for i := range l.Errors {
		code := l.Errors[i].Code
		if slices.ContainsFunc(l.Errors[:i], func(e Error) bool { return e.Code == code }) {
			continue
		}
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, code...)
	}
	return append(b, shortRecordEnd...)
}

// shortRecordEnd are the empty cells at the end of the record of a line whose entry is short.
const shortRecordEnd = ",,,\r\n"

// appendCSVIDs appends the first cells of each record of the line, with a comma after each.
func (l *Line) appendCSVIDs(b []byte) []byte {
	b = append(strconv.AppendInt(b, l.Number, 10), ',')
	for _, id := range [...][]byte{l.ModificationID, l.TransactionExternalID} {
		if len(id) > maxCellIDBytes {
			b = appendCell(b, CutID(string(id)))
		} else {
			b = appendCell(b, id)
		}
		b = append(b, ',')
	}
	return b
}

// appendCell appends a text as a cell. Bytes that are not UTF-8 and NUL become U+FFFD.
func appendCell[T string | []byte](b []byte, text T) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == ',' || c >= utf8.RuneSelf {
			return appendCarefulCell(b, string(text))
		}
	}
	if len(text) > 0 && strings.IndexByte("=+-@'", text[0]) >= 0 {
		b = append(b, '\'')
	}
	return append(b, text...)
}

// appendCarefulCell is appendCell for any text that is not empty.
func appendCarefulCell(b []byte, text string) []byte {
	quoted := strings.ContainsAny(text, "\",\r\n")
	if quoted {
		b = append(b, '"')
	}
	if first, _ := utf8.DecodeRuneInString(text); strings.ContainsRune("=+-@'\t\r\n＝＋－＠", first) {
		b = append(b, '\'')
	}
	for _, r := range text {
		switch r {
		case '"':
			b = append(b, '"', '"')
		case 0:
			b = utf8.AppendRune(b, utf8.RuneError)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	if quoted {
		b = append(b, '"')
	}
	return b
}

// csvRecord is a record as AppendCSVTo makes it.
type csvRecord struct {
	// text is the whole record, and line its first cell.
	text []byte
	line int64
	// codeStart and codeEnd are where the cell of the code begins and ends in text.
	codeStart, codeEnd int
}

// read reads the next record. It is valid until the next call.
func (c *csvRecord) read(in *bufio.Reader) error {
	c.text = c.text[:0]
	for quotes, complete := 0, false; !complete; {
		text, err := in.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			return err
		}
		c.text = append(c.text, text...)
		quotes += bytes.Count(text, []byte{'"'})
		complete = err == nil && quotes%2 == 0 // a line feed in a quoted cell does not end the record
	}
	const codeCell = 3
	quoted, cell := false, 0
	for i, b := range c.text {
		switch {
		case b == '"':
			quoted = !quoted
		case b != ',' || quoted:
		default:
			switch cell {
			case 0:
				number, err := strconv.ParseInt(string(c.text[:i]), 10, 64)
				if err != nil {
					return fmt.Errorf("number of the line: %w", err)
				}
				c.line = number
			case codeCell - 1:
				c.codeStart = i + 1
			case codeCell:
				c.codeEnd = i
				return nil
			}
			cell++
		}
	}
	return fmt.Errorf("record of %d cells", cell+1)
}
