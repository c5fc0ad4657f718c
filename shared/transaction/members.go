package transaction

// The commonest writings of values, by kind, for the functions of members_*.go. A function that finds another one returns 0
// and leaves the member to object.go, which reads it from its start, with all its findings; -1 is a failure, as everywhere.

//go:generate go test -run TestMembersAreMadeFromTheTable -update .

// object reads the object of the schema whose brace is at b[i], and says which of its fields are there and not null.
func (s *Scanner) object(b []byte, i int, o *object) (end int, present uint64) {
	switch o {
	case modificationObject:
		return s.objectModification(b, i)
	case unknownObject:
		return s.objectUnknown(b, i)
	case paymentOptionObject:
		return s.objectPaymentOption(b, i)
	case addressObject:
		return s.objectAddress(b, i)
	case entityObject:
		return s.objectEntity(b, i)
	default:
		return s.objectTransaction(b, i)
	}
}

// oneSpace is the position of a value behind a colon: where a writer puts white space there, it is one space.
func oneSpace(b []byte, i int) int {
	if b[i] == ' ' {
		i++
	}
	return i
}

// plain reads a string without a rule.
func (s *Scanner) plain(b []byte, i int) int {
	if b[i] != '"' {
		return 0
	}
	return s.skipText(b, i)
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

func uuid(b []byte, i int) int {
	if b[i] != '"' || b[i+37] != '"' || !isUUID(b[i+1:i+37]) {
		return 0
	}
	return i + 38
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

func bic(b []byte, i int) int {
	end := ascii(b, i, 8, 11)
	if end == 0 || !isBIC(b[i+1:end-1]) {
		return 0
	}
	return end
}

func (s *Scanner) party(b []byte, i int, f *field) int {
	if end := s.knownEntity(b, i, f); end > 0 {
		return end
	}
	if b[i] != '{' {
		return 0
	}
	return s.entityValue(b, i, f)
}

func (s *Scanner) entityType(b []byte, i int) int {
	const unknown = `"unknown"`
	if string(b[i:i+len(unknown)]) != unknown {
		return 0
	}
	s.entity.unknown = true
	return i + len(unknown)
}

// child reads an object of the schema.
func (s *Scanner) child(b []byte, i int, f *field) int {
	if b[i] != '{' {
		return 0
	}
	end, _ := s.nested(b, i, f)
	return end
}

// array reads the items of a list.
func (s *Scanner) array(b []byte, i int, f *field) int {
	if b[i] != '[' {
		return 0
	}
	return s.list(b, i, f)
}

// texts reads an object of strings.
func (s *Scanner) texts(b []byte, i int, f *field) int {
	if b[i] != '{' {
		return 0
	}
	return s.textMap(b, i, f)
}
