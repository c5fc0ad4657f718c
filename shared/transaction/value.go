package transaction

// value reads the value of a field, which is not null, and finds what its rule forbids. A string is
// judged with all its escapes resolved.
func (s *Scanner) value(b []byte, i int, f *field) int {
	switch f.kind {
	case kindNumber, kindInteger:
		return s.numberValue(b, i, f)
	case kindObject:
		i, _ = s.nested(b, i, f)
		return i
	case kindEntity:
		return s.entityValue(b, i, f)
	case kindObjects, kindTexts:
		return s.list(b, i, f)
	case kindTextMap:
		return s.textMap(b, i, f)
	case kindNotHere:
		s.find(CodeEntityAmbiguous, f, i)
		return s.skipUnder(b, i, f.key)
	}
	if b[i] != '"' {
		s.find(CodeStringType, f, i)
		return s.skipUnder(b, i, f.key)
	}
	text, end := s.text(b, i)
	if end < 0 || f.plain {
		return end
	}
	if code := s.judgeText(text, f); code != "" {
		s.find(code, f, i)
	}
	s.keep(text, i, f)
	return end
}

// judgeText returns the code of the rule that a string breaks, or "".
func (s *Scanner) judgeText(text []byte, f *field) Code {
	switch f.kind {
	case kindText:
		return length(text, f)
	case kindID:
		if len(text) == 0 {
			return CodeStringTooShort
		}
		if len(text) > MaxIDBytes {
			return CodeStringTooLong
		}
	case kindUUID:
		if !isUUID(text) {
			return CodeUUID
		}
	case kindEnum:
		if !oneOf(text, f.enum) {
			return CodeEnum
		}
	case kindCountry:
		if !isCountry(text) {
			return CodeCountry
		}
	case kindCurrency:
		if !isCurrency(text) {
			return CodeCurrency
		}
	case kindDateTime, kindCreatedAt:
		return s.judgeDateTime(text, f)
	case kindIP:
		if code := length(text, f); code != "" {
			return code
		}
		if !isIP(text) {
			return CodeIPAddress
		}
	case kindBIC:
		if code := length(text, f); code != "" {
			return code
		}
		if !isBIC(text) {
			return CodeBIC
		}
	case kindEntityType:
		if string(text) != "unknown" {
			return CodeEntityTypeInvalid
		}
	}
	return ""
}

// keep puts a string where its field's slot says.
func (s *Scanner) keep(text []byte, at int, f *field) {
	switch f.slot {
	case slotNone:
	case slotPaymentType:
		s.payment = text
	case slotEntityType:
		if string(text) == "unknown" {
			s.entity.unknown = true
		}
	case slotByExternalID:
		if len(text) > 0 && len(text) <= MaxIDBytes {
			s.entity.id, s.entity.at = text, at
		}
	default:
		if len(text) == 0 {
			return
		}
		switch f.slot {
		case slotRequestUUID:
			s.result.RequestUUID = text
		case slotTransactionID:
			s.result.TransactionExternalID = text
		case slotModificationID:
			s.result.ModificationID, s.result.ModificationOffset = text, at
		}
	}
}

// length holds a string against its length rule, in code points.
func length(text []byte, f *field) Code {
	if len(text) >= f.min && len(text) <= f.max && f.min <= 1 {
		return ""
	}
	n := 0
	for _, c := range text {
		if c&0xc0 != 0x80 { // the text is valid UTF-8: every byte but these begins a code point
			n++
		}
	}
	switch {
	case n < f.min:
		return CodeStringTooShort
	case n > f.max:
		return CodeStringTooLong
	default:
		return ""
	}
}

func oneOf(text []byte, words []string) bool {
	for _, w := range words {
		if string(text) == w {
			return true
		}
	}
	return false
}

// isUUID reports whether text is 8-4-4-4-12 hexadecimal digits: five words of eight bytes, some of which overlap, hold all 36.
func isUUID(text []byte) bool {
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return false
	}
	// In the second and third word a hyphen stands at bytes 4, and 2 and 7; it counts as good.
	good := hexBytes(load8(text, 0)) &
		(hexBytes(load8(text, 9)) | 0x80<<32) &
		(hexBytes(load8(text, 16)) | 0x80<<16 | 0x80<<56) &
		hexBytes(load8(text, 24)) & hexBytes(load8(text, 28))
	return good == highBits
}

// hexBytes sets the high bit of each byte of w that is a hexadecimal digit.
func hexBytes(w uint64) uint64 { return lettersUpTo(w, 'f') }

// lettersUpTo sets the high bit of each byte of w that is a decimal digit or a letter, of either case, up to the last one.
func lettersUpTo(w, last uint64) uint64 {
	letter := w&^highBits | everyByte*0x20
	letters := (letter + everyByte*(0x80-'a')) &^ (letter + everyByte*(0x80-last-1))
	return digitBytes(w) | letters&^w&highBits
}

// isBIC reports whether text is 8 or 11 letters and digits: two words of eight bytes, which may overlap, hold all of them.
func isBIC(text []byte) bool {
	if len(text) != 8 && len(text) != 11 {
		return false
	}
	return lettersUpTo(load8(text, 0), 'z')&lettersUpTo(load8(text, len(text)-8), 'z') == highBits
}
