package transaction

import "encoding/binary"

// UUIDBytes and UUIDText are the lengths of a UUID as a value and as a text, in bytes.
const UUIDBytes, UUIDText = 16, 36

const hexDigits = "0123456789abcdef"

// uuidPairs are the places of the pairs of digits in the text of a UUID.
var uuidPairs = [UUIDBytes]int{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34}

// ParseUUID returns the value of a UUID with lower-case digits and dashes, which AppendUUID makes the same text of;
// false for any other text.
func ParseUUID(text []byte) (value [UUIDBytes]byte, ok bool) {
	if len(text) != UUIDText || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return value, false
	}
	word, half := binary.LittleEndian.Uint64, func(b []byte) uint64 { return uint64(binary.LittleEndian.Uint32(b)) }
	a, bad1 := parseHex(word(text))
	b, bad2 := parseHex(half(text[9:]) | half(text[14:])<<32)
	c, bad3 := parseHex(half(text[19:]) | half(text[24:])<<32)
	d, bad4 := parseHex(word(text[28:]))
	if bad1|bad2|bad3|bad4 != 0 {
		return value, false
	}
	binary.LittleEndian.PutUint64(value[:], a|b<<32)
	binary.LittleEndian.PutUint64(value[8:], c|d<<32)
	return value, true
}

// parseHex returns the four bytes of eight lower-case hexadecimal digits, the first byte and digit in the lowest bits,
// and 0 if each of the eight is such a digit.
func parseHex(digits uint64) (value, bad uint64) {
	const each = 0x0101010101010101
	v := digits&(0x0f*each) + digits>>6&each*9 // the values, if they are digits
	text := v + '0'*each + (v+6*each)>>4&each*('a'-'0'-10)
	bad = v&(0xf0*each) | (text ^ digits)
	v = (v<<4 | v>>8) & 0x00ff00ff00ff00ff
	v = (v | v>>8) & 0x0000ffff0000ffff
	return (v | v>>16) & 0xffffffff, bad
}

// AppendUUID appends the text of a UUID, whose value has UUIDBytes bytes.
func AppendUUID(b, value []byte) []byte {
	text := [UUIDText]byte{8: '-', 13: '-', 18: '-', 23: '-'}
	for i, at := range uuidPairs {
		text[at], text[at+1] = hexDigits[value[i]>>4], hexDigits[value[i]&15]
	}
	return append(b, text[:]...)
}
