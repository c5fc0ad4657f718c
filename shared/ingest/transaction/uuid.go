package transaction

// UUIDBytes and UUIDText are the lengths of a UUID as a value and as a text, in bytes.
const UUIDBytes, UUIDText = 16, 36

const hexDigits = "0123456789abcdef"

// hexValues has the value of each lower-case hexadecimal digit, and 0xff for every other byte.
var hexValues = func() (v [256]byte) {
	for i := range v {
		v[i] = 0xff
	}
	for i, c := range []byte(hexDigits) {
		v[c] = byte(i)
	}
	return v
}()

// uuidPairs are the places of the pairs of digits in the text of a UUID.
var uuidPairs = [UUIDBytes]int{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34}

// ParseUUID returns the value of a UUID with lower-case digits and dashes, which AppendUUID makes the same text of;
// false for any other text.
func ParseUUID(text []byte) (value [UUIDBytes]byte, ok bool) {
	if len(text) != UUIDText || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return value, false
	}
	for i, at := range uuidPairs {
		high, low := hexValues[text[at]], hexValues[text[at+1]]
		if high|low > 15 {
			return value, false
		}
		value[i] = high<<4 | low
	}
	return value, true
}

// AppendUUID appends the text of a UUID, whose value has UUIDBytes bytes.
func AppendUUID(b, value []byte) []byte {
	text := [UUIDText]byte{8: '-', 13: '-', 18: '-', 23: '-'}
	for i, at := range uuidPairs {
		text[at], text[at+1] = hexDigits[value[i]>>4], hexDigits[value[i]&15]
	}
	return append(b, text[:]...)
}
