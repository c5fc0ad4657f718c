package scanner

import (
	"math"

	"sluice/shared/ingest/transaction/schema"
	"sluice/shared/ingest/transaction/swar"
)

//go:generate go run ./genfastpath

// The functions of this file read values in their usual form, for the generated code of fastpath_gen.go. For any other
// form they return declined without having changed anything, and the slow path reads the member from its beginning. The
// quick check comes first in each, so that most of them can be inlined.

// skipOneSpace returns the position of a value after a colon. Writers that put white space there put one space.
func skipOneSpace(b []byte, i int) int {
	if b[i] == ' ' {
		i++
	}
	return i
}

// fastString reads a string without a rule.
func (s *Scanner) fastString(b []byte, i int) int {
	if b[i] != '"' {
		return declined
	}
	return s.skipString(b, i)
}

// fastASCII reads a string of least to most characters, all of them ASCII and none of them escaped.
func fastASCII(b []byte, i, least, most int) int {
	if b[i] != '"' {
		return declined
	}
	end, nonASCII := swar.SkipPlainText(b, i+1)
	if n := end - i - 1; nonASCII || b[end] != '"' || n < least || n > most {
		return declined
	}
	return end + 1
}

// fastUnknownID reads the ID of an unknown entity, and keeps it if names are collected.
func (s *Scanner) fastUnknownID(b []byte, i, least, most int) int {
	end := fastASCII(b, i, least, most)
	if s.rules.CollectNames && end != declined {
		s.entity.unknownID = b[i+1 : end-1]
	}
	return end
}

// fastFullName reads the name of an unknown entity. If names are collected, it reads and keeps one that is in ASCII.
func (s *Scanner) fastFullName(b []byte, i int) int {
	if b[i] != '"' {
		return declined
	}
	if !s.rules.CollectNames {
		return s.skipString(b, i)
	}
	end := fastASCII(b, i, 0, math.MaxInt)
	if end != declined {
		s.entity.fullName, s.entity.fullNameOffset = b[i+1:end-1], i
	}
	return end
}

// fastUUID reads a UUID.
func fastUUID(b []byte, i int) int {
	if b[i] != '"' || b[i+37] != '"' || !isUUID(b[i+1:i+37]) {
		return declined
	}
	return i + 38
}

// fastCountry reads a country code.
func fastCountry(b []byte, i int) int {
	if b[i] != '"' || b[i+3] != '"' || !isCountry(b[i+1:i+3]) {
		return declined
	}
	return i + 4
}

// fastCurrency reads a currency code.
func fastCurrency(b []byte, i int) int {
	if b[i] != '"' || b[i+4] != '"' || !isCurrency(b[i+1:i+4]) {
		return declined
	}
	return i + 5
}

// fastNumber reads a number without an exponent and with so few digits that it is finite.
func fastNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	end := swar.SkipDigits(b, i)
	if end == i || b[i] == '0' && end > i+1 || end > i+maxFiniteDigits {
		return declined
	}
	if b[end] == '.' {
		point := end
		if end = swar.SkipDigits(b, point+1); end == point+1 {
			return declined
		}
	}
	if b[end]|0x20 == 'e' {
		return declined
	}
	return end
}

// fastInteger reads a whole number of at most 18 digits, from least to most.
func fastInteger(b []byte, i, least, most int) int {
	negative := b[i] == '-'
	if negative {
		i++
	}
	end := swar.SkipDigits(b, i)
	if n := end - i; n == 0 || n > 18 || b[i] == '0' && n > 1 || b[end] == '.' || b[end]|0x20 == 'e' {
		return declined
	}
	v := 0
	for _, c := range b[i:end] {
		v = v*10 + int(c-'0')
	}
	if negative {
		v = -v
	}
	if v < least || v > most {
		return declined
	}
	return end
}

// fastDateTime reads a date-time.
func (s *Scanner) fastDateTime(b []byte, i int, f *field) int {
	if b[i] != '"' {
		return declined
	}
	t := parseDateTime(b, i+1)
	if t.end == 0 || b[t.end] != '"' || f.Kind == schema.KindCreatedAt && !s.isInWindow(b, t) {
		return declined
	}
	return t.end + 1
}

// fastIP reads an IP address of least to most characters.
func fastIP(b []byte, i, least, most int) int {
	if b[i] != '"' {
		return declined
	}
	if end := matchIPv4(b, i+1); end > 0 && b[end] == '"' && end-i-1 >= least && end-i-1 <= most {
		return end + 1
	}
	end := fastASCII(b, i, least, most)
	if end == declined || !isIP(b[i+1:end-1]) {
		return declined
	}
	return end
}

// fastBIC reads a BIC.
func fastBIC(b []byte, i int) int {
	end := fastASCII(b, i, 8, 11)
	if end == declined || !isBIC(b[i+1:end-1]) {
		return declined
	}
	return end
}

// fastEntity reads one of the four entities.
func (s *Scanner) fastEntity(b []byte, i int, f *field) int {
	if end := s.fastKnownEntity(b, i, f); end > 0 {
		return end
	}
	if b[i] != '{' {
		return declined
	}
	return s.readEntityField(b, i, f)
}

// fastEntityType reads the type of an unknown entity.
func (s *Scanner) fastEntityType(b []byte, i int) int {
	const unknown = `"unknown"`
	if string(b[i:i+len(unknown)]) != unknown {
		return declined
	}
	s.entity.isUnknown = true
	return i + len(unknown)
}

// fastObject reads an object of the schema.
func (s *Scanner) fastObject(b []byte, i int, f *field) int {
	if b[i] != '{' {
		return declined
	}
	end, _ := s.readObjectField(b, i, f)
	return end
}

// fastArray reads an array.
func (s *Scanner) fastArray(b []byte, i int, f *field) int {
	if b[i] != '[' {
		return declined
	}
	return s.readArray(b, i, f)
}

// fastStringMap reads an object of strings.
func (s *Scanner) fastStringMap(b []byte, i int, f *field) int {
	if b[i] != '{' {
		return declined
	}
	return s.readStringMap(b, i, f)
}
