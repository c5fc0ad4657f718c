package transaction

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Strings: two words of eight bytes at a time up to the first byte that needs a look.

const (
	everyByte = 0x0101010101010101
	highBits  = 0x8080808080808080
)

// special marks, by its high bit, the first byte of w that is a quote, a backslash or a control character. Marks above the
// first may be false; the first is exact, because the subtractions borrow only from a byte that is itself a hit. Bytes of
// 0x80 and more are never marked.
func special(w uint64) uint64 {
	low := w ^ everyByte*('"'^' ') // a quote becomes a space, so that it is below 0x21 with the control characters
	slash := w ^ everyByte*'\\'
	return ((low - everyByte*0x21) | (slash - everyByte)) &^ w & highBits
}

func load4(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[i : i+4]) }

func load8(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8]) }

// plainText returns the position of the first byte at or after i that is a quote, a backslash or a control character, and
// whether a byte up to there may be no ASCII.
func plainText(b []byte, i int) (end int, high bool) {
	var all uint64
	for {
		k := (*[16]byte)(b[i : i+16])
		w, next := binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:])
		all |= w | next
		marks, more := special(w), special(next)
		if marks|more != 0 {
			if marks == 0 {
				marks, i = more, i+8
			}
			return i + bits.TrailingZeros64(marks)/8, all&highBits != 0
		}
		i += 16
	}
}

// text reads the string whose opening quote is at b[i]: its bytes without escapes, and the position after the closing quote.
// The bytes are valid until the next line.
func (s *Scanner) text(b []byte, i int) ([]byte, int) {
	start := i + 1
	i, high := plainText(b, start)
	if b[i] == '"' && (!high || validUTF8(b, start, i)) {
		return b[start:i], i + 1
	}
	return s.longText(b, start, i, high)
}

// longText reads a string with escapes or faults, of which the bytes from start to i, as far as plainText goes, are known.
func (s *Scanner) longText(b []byte, start, i int, high bool) ([]byte, int) {
	from, chunk := len(s.decoded), start
	for {
		if high && !validUTF8(b, chunk, i) {
			return nil, s.fail(CodeJSONInvalid, msgUTF8, invalidUTF8(b, chunk))
		}
		switch {
		case b[i] == '"':
			s.decoded = append(s.decoded, b[chunk:i]...)
			return s.decoded[from:len(s.decoded):len(s.decoded)], i + 1
		case b[i] == '\\':
			s.decoded = append(s.decoded, b[chunk:i]...)
			if i = s.escape(b, i); i < 0 {
				return nil, -1
			}
			if i > s.maxLine {
				return nil, s.beyond(i)
			}
			chunk = i
			i, high = plainText(b, i)
		case s.ends(i):
			return nil, s.unexpected(i)
		default:
			return nil, s.fail(CodeJSONInvalid, msgControl, i)
		}
	}
}

// skipText is text for a string of which nothing is wanted but that it is one.
func (s *Scanner) skipText(b []byte, i int) int {
	start := i + 1
	i, high := plainText(b, start)
	for b[i] == '\\' {
		end := i + 2
		if escapes[b[i+1]] == 0 {
			if _, end = unicodeEscape(b, i); end == 0 {
				break
			}
		}
		next, more := plainText(b, end)
		i, high = next, high || more
	}
	if b[i] == '"' && (!high || validUTF8(b, start, i)) {
		return i + 1
	}
	_, i = s.text(b, start-1) // finds what is wrong
	return i
}

// invalidUTF8 returns the position of the first byte at or after i that does not begin a valid sequence.
func invalidUTF8(b []byte, i int) int {
	for {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
}

// escapes maps the letter of a short escape to its character.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape decodes the escape whose backslash is at b[i] to the end of s.decoded.
func (s *Scanner) escape(b []byte, i int) int {
	if c := escapes[b[i+1]]; c != 0 {
		s.decoded = append(s.decoded, c)
		return i + 2
	}
	r, end := unicodeEscape(b, i)
	if end == 0 {
		if unit(b, i) < 0 {
			return s.fail(CodeJSONInvalid, msgEscape, i)
		}
		return s.fail(CodeJSONInvalid, msgSurrogate, i)
	}
	s.decoded = utf8.AppendRune(s.decoded, r)
	return end
}

// unicodeEscape reads the character written as \uXXXX at b[i], or as two of them, and returns the position after it: 0 when it
// is none.
func unicodeEscape(b []byte, i int) (r rune, end int) {
	switch r = unit(b, i); {
	case r < 0:
		return r, 0
	case !utf16.IsSurrogate(r):
		return r, i + 6
	}
	if r = utf16.DecodeRune(r, unit(b, i+6)); r == utf8.RuneError {
		return r, 0
	}
	return r, i + 12
}

// unit reads \uXXXX at b[i]; -1 when it is something else.
func unit(b []byte, i int) rune {
	if b[i] != '\\' || b[i+1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[i+2 : i+6] {
		d := hexDigit[c]
		if d < 0 {
			return -1
		}
		r = r<<4 | rune(d)
	}
	return r
}

// hexDigit is the value of a hexadecimal digit, -1 for every other byte.
var hexDigit = func() (table [256]int8) {
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
