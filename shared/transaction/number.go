package transaction

import (
	"bytes"
	"math/bits"
	"strconv"
)

// shape is what the text of a number shows without its value.
type shape struct {
	whole    bool // neither fraction nor exponent
	exponent bool
	digits   int // before the fraction
}

// number reads a number by the grammar of JSON.
func (s *Scanner) number(b []byte, i int) (int, shape) {
	sh := shape{whole: true}
	if b[i] == '-' {
		i++
	}
	start := i
	switch {
	case b[i] == '0':
		i++
	case b[i]-'1' <= 8:
		i = digits(b, i)
	default:
		return s.badNumber(i), sh
	}
	sh.digits = i - start
	if b[i] == '.' {
		sh.whole = false
		if i++; b[i]-'0' > 9 {
			return s.badNumber(i), sh
		}
		i = digits(b, i)
	}
	if b[i]|0x20 == 'e' {
		sh.whole, sh.exponent = false, true
		if i++; b[i] == '+' || b[i] == '-' {
			i++
		}
		if b[i]-'0' > 9 {
			return s.badNumber(i), sh
		}
		i = digits(b, i)
	}
	return i, sh
}

// digitBytes sets the high bit of each byte of w that is a decimal digit. The additions cannot carry, because they are made to
// seven bits.
func digitBytes(w uint64) uint64 {
	c := w &^ highBits
	return (c + everyByte*(0x80-'0')) &^ (c + everyByte*(0x80-'9'-1)) &^ w & highBits
}

// digits returns the position of the first byte that is no digit.
func digits(b []byte, i int) int {
	for {
		if others := ^digitBytes(load8(b, i)) & highBits; others != 0 {
			return i + bits.TrailingZeros64(others)/8
		}
		i += 8
	}
}

func (s *Scanner) badNumber(i int) int {
	if s.ends(i) {
		return s.unexpected(i)
	}
	return s.fail(CodeJSONInvalid, msgNumber, i)
}

// finite reports whether a number in good form fits a double. Up to 308 digits without exponent always do; otherwise the power
// of ten of the first digit that is not zero decides, but for the last power below infinity, which the library judges.
func finite(text []byte, sh shape) bool {
	if !sh.exponent && sh.digits <= 308 {
		return true
	}
	switch power := magnitude(text); {
	case power != 308:
		return power < 308
	default:
		_, err := strconv.ParseFloat(string(text), 64)
		return err == nil
	}
}

// magnitude is the power of ten of the first digit of a number that is not zero; very small for zero.
func magnitude(text []byte) int {
	exponent := 0
	if e := bytes.IndexAny(text, "eE"); e >= 0 {
		for _, c := range bytes.TrimLeft(text[e+1:], "+-") {
			exponent = min(exponent*10+int(c-'0'), 1<<40)
		}
		if text[e+1] == '-' {
			exponent = -exponent
		}
		text = text[:e]
	}
	power, begun, fraction := -1, false, false
	for _, c := range text {
		switch {
		case c == '-':
		case c == '.':
			fraction = true
		case c == '0' && !begun:
			if fraction {
				power--
			}
		default:
			if begun = true; !fraction {
				power++
			}
		}
	}
	if !begun {
		return -1 << 60
	}
	return power + exponent
}

// numberValue reads the value of a number or integer field.
func (s *Scanner) numberValue(b []byte, i int, f *field) int {
	at := i
	if b[i] != '-' && b[i]-'0' > 9 {
		if f.kind == kindInteger {
			s.find(CodeIntegerType, f, at)
		} else {
			s.find(CodeNumberType, f, at)
		}
		return s.skipUnder(b, i, f.key)
	}
	i, sh := s.number(b, i)
	switch {
	case i < 0:
	case f.kind == kindNumber:
		if !finite(b[at:i], sh) {
			s.find(CodeNumberRange, f, at)
		}
	case !sh.whole:
		s.find(CodeIntegerType, f, at)
	case !within(b[at:i], sh, f.min, f.max):
		s.find(CodeNumberRange, f, at)
	}
	return i
}

// within reports whether a whole number lies between min and max, both at most 32 bits wide.
func within(text []byte, sh shape, min, max int) bool {
	if sh.digits > 10 {
		return false
	}
	v, negative := 0, text[0] == '-'
	for _, c := range text[len(text)-sh.digits:] {
		v = v*10 + int(c-'0')
	}
	if negative {
		v = -v
	}
	return min <= v && v <= max
}
