package scanner

import (
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
	"sluice/shared/ingest/transaction/swar"
)

// instant is a point in time: seconds since 1970 in UTC, and nanoseconds.
type instant struct {
	sec  int64
	nano int
}

func (t instant) isBefore(u instant) bool {
	return t.sec < u.sec || t.sec == u.sec && t.nano < u.nano
}

// checkDateTime returns the code of the rule that a date-time breaks, or "".
func (s *Scanner) checkDateTime(text []byte, f *field) transaction.Code {
	var b [maxDateTimeBytes + padding]byte
	if copy(b[:maxDateTimeBytes], text) < len(text) {
		return transaction.CodeDateTime
	}
	switch t := parseDateTime(b[:], 0); {
	case t.end == 0 || t.end != len(text):
		return transaction.CodeDateTime
	case f.Kind == schema.KindCreatedAt && !s.isInWindow(b[:], t):
		return transaction.CodeCreatedAtOutOfRange
	default:
		return ""
	}
}

// isInWindow reports whether the rules allow a transaction to be created at the date-time t, which was parsed from b.
func (s *Scanner) isInWindow(b []byte, t dateTime) bool {
	if s.earliest.sec < t.sec && t.sec < s.latest.sec {
		return true
	}
	at := instant{t.sec, nanoseconds(b[t.fraction:t.fractionEnd])}
	return !at.isBefore(s.earliest) && !s.latest.isBefore(at)
}

// maxDateTimeBytes is the length of the longest date-time, such as 2006-01-02T15:04:05.999999999+07:00.
const maxDateTimeBytes = 35

// dateTime is a parsed date-time.
type dateTime struct {
	// sec counts seconds since 1970 in UTC.
	sec int64

	// fraction and fractionEnd are the positions of the first digit of the fraction and after its last one.
	fraction, fractionEnd int

	// end is the position after the date-time, or 0 if there is no date-time.
	end int
}

// The fixed part of a date-time has three words of eight bytes. dateTimeZeros are its separators and zeros: the
// exclusive or with the text leaves the values of the digits, and zero for each separator. Added to these,
// dateTimeLimits sets the high bit of each byte that is more than nine (v is 0x80-10) or, for separators, more than
// zero (0x80-1).
var (
	dateTimeZeros  = dateTimeWords("0000-00-", "00T00:00", ":00\x00\x00\x00\x00\x00")
	dateTimeLimits = dateTimeWords("vvvv\x7fvv\x7f", "vv\x7fvv\x7fvv", "\x7fvv\x00\x00\x00\x00\x00")
)

func dateTimeWords(first, second, third string) [3]uint64 {
	return [3]uint64{swar.Load8([]byte(first), 0), swar.Load8([]byte(second), 0), swar.Load8([]byte(third), 0)}
}

// parseDateTime parses the RFC 3339 date-time at b[i]. The offset may be left out for UTC, T and Z must be in upper
// case, seconds go up to 59, and the fraction has at most nine digits.
func parseDateTime(b []byte, i int) (t dateTime) {
	first := swar.Load8(b, i) ^ dateTimeZeros[0]
	second := swar.Load8(b, i+8) ^ dateTimeZeros[1]
	third := swar.Load8(b, i+16)&0xffffff ^ dateTimeZeros[2]
	excess := (first&^swar.HighBits + dateTimeLimits[0]) |
		(second&^swar.HighBits + dateTimeLimits[1]) |
		(third&^swar.HighBits + dateTimeLimits[2])
	if (first|second|third|excess)&swar.HighBits != 0 {
		return t
	}
	// Each byte becomes ten times itself plus the next one.
	first, second, third = first*10+first>>8, second*10+second>>8, third*10+third>>8
	year, month, day := int(first&0xff*100+first>>16&0xff), int(first>>40&0xff), int(second&0xff)
	hour, minute, sec := int(second>>24&0xff), int(second>>48&0xff), int(third>>8&0xff)
	if hour > 23 || minute > 59 || sec > 59 ||
		month < 1 || month > 12 || day < 1 || day > 28 && day > daysIn(year, month) {
		return t
	}
	end := i + 19
	if b[end] == '.' {
		t.fraction = end + 1
		if end = swar.SkipDigits(b, t.fraction); end == t.fraction || end > t.fraction+9 {
			return t
		}
		t.fractionEnd = end
	}
	offset, end := parseOffset(b, end)
	t.sec = int64(daysSince1970(year, month, day)*86400 + hour*3600 + minute*60 + sec - offset)
	t.end = end
	return t
}

// nanoseconds returns the value of the digits of a fraction, at most nine.
func nanoseconds(digits []byte) (n int) {
	for i := range 9 {
		if n *= 10; i < len(digits) {
			n += int(digits[i] - '0')
		}
	}
	return n
}

// parseOffset parses the offset from UTC at b[i], if there is one. It returns it in seconds, with the position after
// it, or 0 instead of the position if it is not valid.
func parseOffset(b []byte, i int) (offset, end int) {
	if b[i] == 'Z' {
		return 0, i + 1
	}
	if b[i] != '+' && b[i] != '-' {
		return 0, i
	}
	hours, minutes := twoDigits(b, i+1), twoDigits(b, i+4)
	if b[i+3] != ':' || hours|minutes < 0 || hours > 23 || minutes > 59 {
		return 0, 0
	}
	offset = hours*3600 + minutes*60
	if b[i] == '-' {
		offset = -offset
	}
	return offset, i + 6
}

// twoDigits returns the value of the two digits at b[i], or -1 if they are not digits.
func twoDigits(b []byte, i int) int {
	tens, ones := int(b[i])-'0', int(b[i+1])-'0'
	if tens > 9 || ones > 9 || tens < 0 || ones < 0 {
		return -1
	}
	return 10*tens + ones
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	default:
		return 31
	}
}

// daysSince1970 counts days in the Gregorian calendar. It lets years begin in March, so that the leap day comes last.
func daysSince1970(year, month, day int) int {
	sinceMarch := (month + 9) % 12
	if year -= sinceMarch / 10; year < 0 { // January and February of the year 0000
		return daysSince1970(year+401, month, day) - 146097
	}
	return 365*year + year/4 - year/100 + year/400 + (153*sinceMarch+2)/5 + day - 719469
}
