package scanner

import (
	"unicode/utf16"
	"unicode/utf8"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
	"sluice/shared/ingest/transaction/swar"
)

// readString reads the string whose opening quotation mark is at b[i]. It returns its bytes without escapes, which are
// valid until the next line, and the position after the closing quotation mark.
func (s *Scanner) readString(b []byte, i int) ([]byte, int) {
	start := i + 1
	i, nonASCII := swar.SkipPlainText(b, start)
	if b[i] == '"' && (!nonASCII || swar.ValidUTF8(b, start, i)) {
		return b[start:i], i + 1
	}
	return s.readEscapedString(b, start, i, nonASCII)
}

// readEscapedString reads a string with escapes or faults, whose plain text from start to i has been skipped already.
func (s *Scanner) readEscapedString(b []byte, start, i int, nonASCII bool) ([]byte, int) {
	from, chunk := len(s.unescaped), start
	for {
		if nonASCII && !swar.ValidUTF8(b, chunk, i) {
			return nil, s.fail(transaction.CodeJSONInvalid, schema.MessageUTF8, findInvalidUTF8(b, chunk))
		}
		switch {
		case b[i] == '"':
			s.unescaped = append(s.unescaped, b[chunk:i]...)
			return s.unescaped[from:len(s.unescaped):len(s.unescaped)], i + 1
		case b[i] == '\\':
			s.unescaped = append(s.unescaped, b[chunk:i]...)
			if i = s.unescape(b, i); i < 0 {
				return nil, failed
			}
			if i > s.maxLine {
				return nil, s.failTooLong(i)
			}
			chunk = i
			i, nonASCII = swar.SkipPlainText(b, i)
		case s.isEnd(i):
			return nil, s.failUnexpected(i)
		default:
			return nil, s.fail(transaction.CodeJSONInvalid, schema.MessageControlCharacter, i)
		}
	}
}

// skipString reads a string whose content is not needed.
func (s *Scanner) skipString(b []byte, i int) int {
	start := i + 1
	i, nonASCII := swar.SkipPlainText(b, start)
	for b[i] == '\\' {
		end := i + 2
		if shortEscapes[b[i+1]] == 0 {
			if _, end = readUnicodeEscape(b, i); end == 0 {
				break
			}
		}
		next, more := swar.SkipPlainText(b, end)
		i, nonASCII = next, nonASCII || more
	}
	if b[i] == '"' && (!nonASCII || swar.ValidUTF8(b, start, i)) {
		return i + 1
	}
	_, i = s.readString(b, start-1) // finds the error
	return i
}

// findInvalidUTF8 returns the position of the first byte at or after b[i] that does not begin a valid sequence.
func findInvalidUTF8(b []byte, i int) int {
	for {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
}

// shortEscapes maps the letter of a short escape to its character, and every other byte to 0.
var shortEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape decodes the escape whose backslash is at b[i] to the end of s.unescaped.
func (s *Scanner) unescape(b []byte, i int) int {
	if c := shortEscapes[b[i+1]]; c != 0 {
		s.unescaped = append(s.unescaped, c)
		return i + 2
	}
	r, end := readUnicodeEscape(b, i)
	if end == 0 {
		if readCodeUnit(b, i) < 0 {
			return s.fail(transaction.CodeJSONInvalid, schema.MessageEscape, i)
		}
		return s.fail(transaction.CodeJSONInvalid, schema.MessageSurrogate, i)
	}
	s.unescaped = utf8.AppendRune(s.unescaped, r)
	return end
}

// readUnicodeEscape reads the character that is written as \uXXXX, or as a pair of them, at b[i]. end is the position
// after it, or 0 if there is no such character.
func readUnicodeEscape(b []byte, i int) (r rune, end int) {
	switch r = readCodeUnit(b, i); {
	case r < 0:
		return r, 0
	case !utf16.IsSurrogate(r):
		return r, i + 6
	}
	if r = utf16.DecodeRune(r, readCodeUnit(b, i+6)); r == utf8.RuneError {
		return r, 0
	}
	return r, i + 12
}

// readCodeUnit reads \uXXXX at b[i]. It returns -1 if there is something else.
func readCodeUnit(b []byte, i int) rune {
	if b[i] != '\\' || b[i+1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[i+2 : i+6] {
		d := hexDigits[c]
		if d < 0 {
			return -1
		}
		r = r<<4 | rune(d)
	}
	return r
}

// hexDigits maps a hexadecimal digit to its value, and every other byte to -1.
var hexDigits = func() (table [256]int8) {
	for c := range table {
		table[c] = -1
	}
	for d := range 10 {
		table['0'+d] = int8(d)
	}
	for d := range 6 {
		table['a'+d], table['A'+d] = int8(10+d), int8(10+d)
	}
	return table
}()
