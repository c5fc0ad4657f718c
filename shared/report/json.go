package report

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendTo appends the line as it stands in the report: one JSON object and "\n".
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

func appendID(b, id []byte) []byte {
	if id == nil {
		return append(b, "null"...)
	}
	return appendString(b, id)
}

// appendLoc appends the way that the pointer describes, as the array of keys and indexes that ValidationError has. A
// pointer does not tell an index from a key of digits: at the top of a line and in additional_fields there are only keys.
func appendLoc(b []byte, pointer string) []byte {
	b = append(b, '[')
	keys := true
	for first := true; pointer != ""; first = false {
		token, rest := pointer[1:], ""
		if end := strings.IndexByte(token, '/'); end >= 0 {
			token, rest = token[:end], token[end:]
		}
		if !first {
			b = append(b, ',')
		}
		if !keys && isIndex(token) {
			b = append(b, token...)
		} else {
			if strings.IndexByte(token, '~') >= 0 {
				token = unescape.Replace(token)
			}
			b = appendString(b, token)
		}
		keys, pointer = token == "additional_fields", rest
	}
	return append(b, ']')
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

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

// appendString appends s as a JSON string. What is not UTF-8 becomes U+FFFD.
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
