package transaction

// The commonest writings of values, by kind. A function that finds another one returns 0 and leaves the value to the walk in
// object.go, which reads the member from its start, with all its findings; -1 is a failure, as everywhere.

//go:generate go test -run TestMembersAreMadeFromTheTable -update .

// members reads members of an object from b[i] by the straight way that is made from the schema table. It returns in front of
// the first one that it leaves to the walk, with more; behind the last one; or after a failure. All that it has seen have
// values that are not null.
func (s *Scanner) members(o *object, b []byte, i int, seen uint64) (next int, nowSeen uint64, more bool) {
	switch o {
	case lineObject:
		return s.membersTransaction(b, i, seen)
	case entityObject:
		return s.membersEntity(b, i, seen)
	case unknownObject:
		return s.membersUnknown(b, i, seen)
	case modificationObject:
		return s.membersModification(b, i, seen)
	case paymentOptionObject:
		return s.membersPaymentOption(b, i, seen)
	default:
		return s.membersAddress(b, i, seen)
	}
}

// leave is how members ends without a value: in front of a member that it cannot take, or after a failure.
func leave(i, end int, seen uint64) (int, uint64, bool) {
	if end < 0 {
		return -1, seen, false
	}
	return i, seen, true
}

// plain reads a string without a rule.
func (s *Scanner) plain(b []byte, i int) int {
	if b[i] != '"' {
		return 0
	}
	_, end := s.text(b, i)
	return end
}

// ascii reads a string of least to most characters, all of them ASCII and none escaped.
func ascii(b []byte, i, least, most int) int {
	if b[i] != '"' {
		return 0
	}
	end, high := plainText(b, i+1)
	if n := end - i - 1; high || b[end] != '"' || n < least || n > most {
		return 0
	}
	return end + 1
}

func (s *Scanner) identifier(b []byte, i int, f *field) int {
	end := ascii(b, i, 1, MaxIDBytes)
	if end > 0 {
		s.keep(b[i+1:end-1], i, f)
	}
	return end
}

func (s *Scanner) uuid(b []byte, i int, f *field) int {
	if b[i] != '"' || b[i+37] != '"' || !isUUID(b[i+1:i+37]) {
		return 0
	}
	s.keep(b[i+1:i+37], i, f)
	return i + 38
}

func (s *Scanner) word(b []byte, i int, f *field) int {
	end := f.words.read(b, i)
	if end > 0 {
		s.keep(b[i+1:end-1], i, f)
	}
	return end
}

func country(b []byte, i int) int {
	if b[i] != '"' || b[i+3] != '"' || !isCountry(b[i+1:i+3]) {
		return 0
	}
	return i + 4
}

func currency(b []byte, i int) int {
	if b[i] != '"' || b[i+4] != '"' || !isCurrency(b[i+1:i+4]) {
		return 0
	}
	return i + 5
}

// decimal reads a number without an exponent, of so few digits that it is finite.
func decimal(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	end := digits(b, i)
	if end == i || b[i] == '0' && end > i+1 || end > i+308 {
		return 0
	}
	if b[end] == '.' {
		point := end
		if end = digits(b, point+1); end == point+1 {
			return 0
		}
	}
	if b[end]|0x20 == 'e' {
		return 0
	}
	return end
}

// integer reads a whole number of at most 18 digits.
func integer(b []byte, i, least, most int) int {
	negative := b[i] == '-'
	if negative {
		i++
	}
	end := digits(b, i)
	if n := end - i; n == 0 || n > 18 || b[i] == '0' && n > 1 || b[end] == '.' || b[end]|0x20 == 'e' {
		return 0
	}
	v := 0
	for _, c := range b[i:end] {
		v = v*10 + int(c-'0')
	}
	if negative {
		v = -v
	}
	if v < least || v > most {
		return 0
	}
	return end
}

func (s *Scanner) dateTime(b []byte, i int, f *field) int {
	if b[i] != '"' {
		return 0
	}
	t := dateTimeAt(b, i+1)
	if t.end == 0 || b[t.end] != '"' || f.kind == kindCreatedAt && !s.inWindow(b, t) {
		return 0
	}
	return t.end + 1
}

func ip(b []byte, i, least, most int) int {
	if b[i] != '"' {
		return 0
	}
	if end := ipv4(b, i+1); end > 0 && b[end] == '"' && end-i-1 >= least && end-i-1 <= most {
		return end + 1
	}
	end := ascii(b, i, least, most)
	if end == 0 || !isIP(b[i+1:end-1]) {
		return 0
	}
	return end
}

func (s *Scanner) party(b []byte, i int, f *field) int {
	if end := s.knownEntity(b, i, f); end > 0 {
		return end
	}
	return s.other(b, i, f)
}

// other reads a value of any kind, by all its rules.
func (s *Scanner) other(b []byte, i int, f *field) int {
	if b[i] == 'n' {
		return 0
	}
	return s.value(b, i, f)
}
