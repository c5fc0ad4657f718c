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
	m, ok := parseDateTime(text)
	switch {
	case !ok:
		return CodeDateTime
	case f.kind == kindCreatedAt && (m.before(s.earliest) || s.latest.before(m)):
		return CodeCreatedAtOutOfRange
	default:
		return ""
	}
}

// parseDateTime reads an RFC 3339 date-time whose offset may be left out for UTC: T and Z in upper case, seconds up to 59, at
// most nine digits of fraction.
func parseDateTime(t []byte) (m moment, ok bool) {
	if len(t) < 19 || t[4] != '-' || t[7] != '-' || t[10] != 'T' || t[13] != ':' || t[16] != ':' {
		return m, false
	}
	century, year, month, day := pair(t, 0), pair(t, 2), pair(t, 5), pair(t, 8)
	hour, minute, second := pair(t, 11), pair(t, 14), pair(t, 17)
	// A pair that is not two digits is negative, and so is the OR of all.
	if century|year|month|day|hour|minute|second < 0 || hour > 23 || minute > 59 || second > 59 {
		return m, false
	}
	year += 100 * century
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return m, false
	}
	rest := t[19:]
	if len(rest) > 0 && rest[0] == '.' {
		var n int
		if m.nano, n = fraction(rest[1:]); n == 0 {
			return m, false
		}
		rest = rest[1+n:]
	}
	offset, ok := zone(rest)
	m.sec = int64(daysSince1970(year, month, day))*86400 + int64(hour*3600+minute*60+second-offset)
	return m, ok
}

// pair reads two digits at t[i]; negative when they are none.
func pair(t []byte, i int) int {
	tens, ones := int(t[i])-'0', int(t[i+1])-'0'
	if tens > 9 || ones > 9 || tens < 0 || ones < 0 {
		return -1
	}
	return 10*tens + ones
}

// fraction reads one to nine digits: nanoseconds and the number of digits, 0 when there are none or too many.
func fraction(t []byte) (nano, n int) {
	for n < len(t) && t[n]-'0' <= 9 {
		if n == 9 {
			return 0, 0
		}
		nano = nano*10 + int(t[n]-'0')
		n++
	}
	for i := n; i < 9; i++ {
		nano *= 10
	}
	return nano, n
}

// zone reads the offset from UTC in seconds.
func zone(t []byte) (offset int, ok bool) {
	if len(t) == 0 || len(t) == 1 && t[0] == 'Z' {
		return 0, true
	}
	if len(t) != 6 || t[0] != '+' && t[0] != '-' || t[3] != ':' {
		return 0, false
	}
	hours, minutes := pair(t, 1), pair(t, 4)
	if hours|minutes < 0 || hours > 23 || minutes > 59 {
		return 0, false
	}
	offset = hours*3600 + minutes*60
	if t[0] == '-' {
		offset = -offset
	}
	return offset, true
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
	if month <= 2 {
		year--
		month += 12
	}
	if year < 0 { // January and February of the year 0000
		return daysSince1970(year+400, month, day) - 146097
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 719469
}
