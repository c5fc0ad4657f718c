// Package report is the validation report of a batch, and its summary.
//
// The report is JSON Lines: one JSON object, followed by "\n", for each rejected line, in the order of the lines. It is
// in UTF-8 without a byte-order mark, and its strings hold neither line feeds nor bytes that are not UTF-8. A batch
// without rejected lines has an empty report. Each object has these members, in this order and without white space:
//
//	line                      number of the line in the file, from 1; blank lines are counted
//	request_uuid              identifiers of the line; null if they cannot be read
//	transaction_external_id
//	modification_external_id
//	errors                    what is wrong with the line, ordered by offset; each an object of
//	    loc                   path in the line, an array of names and indexes
//	    msg                   explanation for people; its wording may change
//	    type                  code, listed in docs/errors.md
//	    pointer               path in the line as a JSON pointer (RFC 6901); "" for the line as a whole
//	    offset                place in the file in bytes, from 0; a byte-order mark is counted
//	    other_lines           of duplicates only: the first lines, at most ten, that have the same ID, without
//	                          this line
//	    other_lines_total     of duplicates only: the number of other lines that have the same ID
//	errors_dropped            number of errors beyond the limit for a line (MaxErrors); absent if it is 0
//
// Once a report has passed its limit in bytes, its further entries are short:
//
//	line                      as above
//	request_uuid              as above, but absent if they cannot be read
//	transaction_external_id
//	modification_external_id
//	codes                     the codes of the line's errors, each once
//
// The summary is one JSON object beside the report; see Summary. docs/contract/batch.md describes the report for
// clients.
package report

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"sluice/shared/ingest/transaction"
)

// Line is a rejected line of a batch, with all its errors.
type Line struct {
	// Number is the number of the line in the file, from 1.
	Number int64

	// RequestUUID, TransactionExternalID and ModificationID are nil if the line has no such identifier that can be
	// read.
	RequestUUID           []byte
	TransactionExternalID []byte
	ModificationID        []byte

	// Errors are ordered by offset.
	Errors []Error

	// Dropped is the number of errors beyond the limit for a line.
	Dropped int
}

// Error is one error of a line.
type Error struct {
	// Code is the kind of error.
	Code transaction.Code

	// Pointer is the place in the line by RFC 6901, "" for the line as a whole.
	Pointer string

	// Message explains the error to people.
	Message string

	// Offset is the place in the file in bytes, from 0.
	Offset int64

	// OtherLines are nil except for a duplicate. They are the numbers of the first lines that have the same ID, without
	// this line, and OtherLinesTotal is the number of all of them.
	OtherLines      []int64
	OtherLinesTotal int64
}

// AppendTo appends the line in the form described in the package documentation, with its "\n".
func (l *Line) AppendTo(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"line":`...), l.Number, 10)
	b = appendID(append(b, `,"request_uuid":`...), l.RequestUUID)
	b = appendID(append(b, `,"transaction_external_id":`...), l.TransactionExternalID)
	b = appendID(append(b, `,"modification_external_id":`...), l.ModificationID)
	b = append(b, `,"errors":[`...)
	for i := range l.Errors {
		if i > 0 {
			b = append(b, ',')
		}
		b = l.Errors[i].appendTo(b)
	}
	b = append(b, ']')
	if l.Dropped > 0 {
		b = strconv.AppendInt(append(b, `,"errors_dropped":`...), int64(l.Dropped), 10)
	}
	return append(b, '}', '\n')
}

func (e *Error) appendTo(b []byte) []byte {
	b = appendLoc(append(b, `{"loc":`...), e.Pointer)
	b = appendString(append(b, `,"msg":`...), e.Message)
	b = appendString(append(b, `,"type":`...), string(e.Code))
	b = appendString(append(b, `,"pointer":`...), e.Pointer)
	b = strconv.AppendInt(append(b, `,"offset":`...), e.Offset, 10)
	if e.OtherLines != nil {
		b = append(b, `,"other_lines":[`...)
		for i, line := range e.OtherLines {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, line, 10)
		}
		b = strconv.AppendInt(append(b, `],"other_lines_total":`...), e.OtherLinesTotal, 10)
	}
	return append(b, '}')
}

// appendID appends an identifier as a JSON string, or null if it is nil.
func appendID(b, id []byte) []byte {
	if id == nil {
		return append(b, "null"...)
	}
	return appendString(b, id)
}

// appendLoc appends the path that a JSON pointer describes as a JSON array: names as strings and indexes as numbers. A
// pointer does not distinguish an index from a name of digits, but in the line itself and in additional_fields there
// are names only.
func appendLoc(b []byte, pointer string) []byte {
	b = append(b, '[')
	namesOnly := true
	for first := true; pointer != ""; first = false {
		token, rest := pointer[1:], ""
		if end := strings.IndexByte(token, '/'); end >= 0 {
			token, rest = token[:end], token[end:]
		}
		if !first {
			b = append(b, ',')
		}
		if !namesOnly && isIndex(token) {
			b = append(b, token...)
		} else {
			if strings.IndexByte(token, '~') >= 0 {
				token = pointerUnescaper.Replace(token)
			}
			b = appendString(b, token)
		}
		namesOnly, pointer = token == "additional_fields", rest
	}
	return append(b, ']')
}

var pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")

// isIndex reports whether a part of a JSON pointer has the form of an array index, of at most nine digits.
func isIndex(token string) bool {
	if token == "" || len(token) > 9 || token[0] == '0' && len(token) > 1 {
		return false
	}
	for i := range len(token) {
		if token[i] < '0' || token[i] > '9' {
			return false
		}
	}
	return true
}

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD, one for each.
func appendString[T string | []byte](b []byte, s T) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < ' ' || c == '"' || c == '\\' || c == 0x7F {
				b = appendEscape(append(b, s[start:i]...), c)
				start = i + 1
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
		if r == utf8.RuneError && n == 1 {
			b = append(append(b, s[start:i]...), "\uFFFD"...)
			start = i + 1
		}
		i += n
	}
	return append(append(b, s[start:]...), '"')
}

// appendEscape appends the escape sequence of an ASCII character.
func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
