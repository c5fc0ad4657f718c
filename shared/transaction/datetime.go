package transaction

// moment is a point in time: seconds since 1970 in UTC, and nanoseconds.
type moment struct {
	sec  int64
	nano int
}

func (m moment) before(o moment) bool {
	return m.sec < o.sec || m.sec == o.sec && m.nano < o.nano
}

func (s *Scanner) judgeDateTime(text []byte, f *field) Code {
	var b [maxDateTimeBytes + padding]byte
	if copy(b[:maxDateTimeBytes], text) < len(text) {
		return CodeDateTime
	}
	switch t := dateTimeAt(b[:], 0); {
	case t.end == 0 || t.end != len(text):
		return CodeDateTime
	case f.kind == kindCreatedAt && !s.inWindow(b[:], t):
		return CodeCreatedAtOutOfRange
	default:
		return ""
	}
}

// inWindow reports whether a date-time in b is one at which a transaction may be created.
func (s *Scanner) inWindow(b []byte, t dateTime) bool {
	if s.earliest.sec < t.sec && t.sec < s.latest.sec {
		return true
	}
	m := moment{t.sec, nanoseconds(b[t.fraction:t.fractionEnd])}
	return !m.before(s.earliest) && !s.latest.before(m)
}

// maxDateTimeBytes is the length of 2006-01-02T15:04:05.999999999+07:00.
const maxDateTimeBytes = 35

// dateTime is a date-time as it is read: seconds since 1970 in UTC, and places in the line.
type dateTime struct {
	sec                   int64
	fraction, fractionEnd int // the digits of the fraction
	end                   int // 0: there is no date-time
}

// The fixed part of a date-time in words of eight bytes: its text with digits of zero, and what to add to each byte of the
// difference so that its high bit shows a digit above nine (v is 0x80-10), or another separator (0x80-1).
var (
	dateTimeZeros = [3]uint64{load8([]byte("0000-00-"), 0), load8([]byte("00T00:00"), 0), load8([]byte(":00\x00\x00\x00\x00\x00"), 0)}
	dateTimeAdds  = [3]uint64{load8([]byte("vvvv\x7fvv\x7f"), 0), load8([]byte("vv\x7fvv\x7fvv"), 0), load8([]byte("\x7fvv\x00\x00\x00\x00\x00"), 0)}
)

// dateTimeAt reads an RFC 3339 date-time whose offset may be left out for UTC: T and Z in upper case, seconds up to 59, at
// most nine digits of fraction.
func dateTimeAt(b []byte, i int) (t dateTime) {
	first := load8(b, i) ^ dateTimeZeros[0]
	second := load8(b, i+8) ^ dateTimeZeros[1]
	third := load8(b, i+16)&0xffffff ^ dateTimeZeros[2]
	if (first|(first&^highBits+dateTimeAdds[0])|second|(second&^highBits+dateTimeAdds[1])|third|(third&^highBits+dateTimeAdds[2]))&highBits != 0 {
		return t
	}
	// Each byte becomes ten times itself and the next one.
	first, second, third = first*10+first>>8, second*10+second>>8, third*10+third>>8
	year, month, day := int(first&0xff*100+first>>16&0xff), int(first>>40&0xff), int(second&0xff)
	hour, minute, sec := int(second>>24&0xff), int(second>>48&0xff), int(third>>8&0xff)
	if hour > 23 || minute > 59 || sec > 59 || month < 1 || month > 12 || day < 1 || day > 28 && day > daysIn(year, month) {
		return t
	}
	end := i + 19
	if b[end] == '.' {
		t.fraction = end + 1
		if end = digits(b, t.fraction); end == t.fraction || end > t.fraction+9 {
			return t
		}
		t.fractionEnd = end
	}
	offset, end := zone(b, end)
	t.sec = int64(daysSince1970(year, month, day)*86400 + hour*3600 + minute*60 + sec - offset)
	t.end = end
	return t
}

// nanoseconds reads the digits of a fraction, nine at most.
func nanoseconds(digits []byte) (n int) {
	for i := range 9 {
		if n *= 10; i < len(digits) {
			n += int(digits[i] - '0')
		}
	}
	return n
}

// zone reads the offset from UTC, in seconds, as far as there is one, and returns the position after it, or 0.
func zone(b []byte, i int) (offset, end int) {
	if b[i] == 'Z' {
		return 0, i + 1
	}
	if b[i] != '+' && b[i] != '-' {
		return 0, i
	}
	hours, minutes := pair(b, i+1), pair(b, i+4)
	if b[i+3] != ':' || hours|minutes < 0 || hours > 23 || minutes > 59 {
		return 0, 0
	}
	offset = hours*3600 + minutes*60
	if b[i] == '-' {
		offset = -offset
	}
	return offset, i + 6
}

// pair reads two digits at b[i]; negative when they are none.
func pair(b []byte, i int) int {
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

// daysSince1970 counts days in the Gregorian calendar, with years that begin in March, so that the leap day comes last.
func daysSince1970(year, month, day int) int {
	sinceMarch := (month + 9) % 12
	if year -= sinceMarch / 10; year < 0 { // January and February of the year 0000
		return daysSince1970(year+401, month, day) - 146097
	}
	return 365*year + year/4 - year/100 + year/400 + (153*sinceMarch+2)/5 + day - 719469
}
