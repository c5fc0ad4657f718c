package scanner

import (
	"bytes"
	"strconv"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
	"sluice/shared/ingest/transaction/swar"
)

// numberForm has the properties of a number that its text shows without computing its value.
type numberForm struct {
	// isWhole is set if the number has neither a fraction nor an exponent.
	isWhole     bool
	hasExponent bool

	// digits is how many digits precede the fraction.
	digits int
}

// readNumber reads a number by the grammar of JSON.
func (s *Scanner) readNumber(b []byte, i int) (int, numberForm) {
	form := numberForm{isWhole: true}
	if b[i] == '-' {
		i++
	}
	start := i
	switch {
	case b[i] == '0':
		i++
	case b[i]-'1' <= 8:
		i = swar.SkipDigits(b, i)
	default:
		return s.failNumber(i), form
	}
	form.digits = i - start
	if b[i] == '.' {
		form.isWhole = false
		if i++; b[i]-'0' > 9 {
			return s.failNumber(i), form
		}
		i = swar.SkipDigits(b, i)
	}
	if b[i]|0x20 == 'e' {
		form.isWhole, form.hasExponent = false, true
		if i++; b[i] == '+' || b[i] == '-' {
			i++
		}
		if b[i]-'0' > 9 {
			return s.failNumber(i), form
		}
		i = swar.SkipDigits(b, i)
	}
	return i, form
}

// failNumber fails at a character that cannot continue a number, or at the end of the line.
func (s *Scanner) failNumber(i int) int {
	if s.isEnd(i) {
		return s.failUnexpected(i)
	}
	return s.fail(transaction.CodeJSONInvalid, schema.MessageNumber, i)
}

// readNumberValue reads the value of a number or integer field.
func (s *Scanner) readNumberValue(b []byte, i int, f *field) int {
	start := i
	if b[i] != '-' && b[i]-'0' > 9 {
		if f.Kind == schema.KindInteger {
			s.addFieldFinding(transaction.CodeIntegerType, f, start)
		} else {
			s.addFieldFinding(transaction.CodeNumberType, f, start)
		}
		return s.skipValueOf(b, i, f.key)
	}
	i, form := s.readNumber(b, i)
	switch {
	case i < 0:
	case f.Kind == schema.KindNumber:
		if !isFinite(b[start:i], form) {
			s.addFieldFinding(transaction.CodeNumberRange, f, start)
		}
	case !form.isWhole:
		s.addFieldFinding(transaction.CodeIntegerType, f, start)
	case !isBetween(b[start:i], form, f.Min, f.Max):
		s.addFieldFinding(transaction.CodeNumberRange, f, start)
	}
	return i
}

// The largest double is about 1.8e308.
const (
	// maxFiniteDigits is the number of digits up to which every number without an exponent is finite.
	maxFiniteDigits = 308

	// maxFiniteExponent is the power of ten at which it depends on the digits whether a number is finite.
	maxFiniteExponent = 308
)

// isFinite reports whether a number fits a double. If its form does not show it, the power of ten of the first digit
// that is not zero decides; at the last power below infinity, the standard library does.
func isFinite(text []byte, form numberForm) bool {
	if !form.hasExponent && form.digits <= maxFiniteDigits {
		return true
	}
	switch exponent := decimalExponent(text); {
	case exponent != maxFiniteExponent:
		return exponent < maxFiniteExponent
	default:
		_, err := strconv.ParseFloat(string(text), 64)
		return err == nil
	}
}

// decimalExponent returns the power of ten of a number's first digit that is not zero, or a very small one for zero.
func decimalExponent(text []byte) int {
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
	power, hasBegun, inFraction := -1, false, false
	for _, c := range text {
		switch {
		case c == '-':
		case c == '.':
			inFraction = true
		case c == '0' && !hasBegun:
			if inFraction {
				power--
			}
		default:
			if hasBegun = true; !inFraction {
				power++
			}
		}
	}
	if !hasBegun {
		return -1 << 60
	}
	return power + exponent
}

// isBetween reports whether a whole number is between min and max, which have at most 32 bits.
func isBetween(text []byte, form numberForm, min, max int) bool {
	if form.digits > 10 {
		return false
	}
	v, negative := 0, text[0] == '-'
	for _, c := range text[len(text)-form.digits:] {
		v = v*10 + int(c-'0')
	}
	if negative {
		v = -v
	}
	return min <= v && v <= max
}
