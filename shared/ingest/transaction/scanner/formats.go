package scanner

import (
	"bytes"
	"math/bits"

	"sluice/shared/ingest/transaction/schema"
	"sluice/shared/ingest/transaction/swar"
)

// The checks of strings that have a fixed format.

// isUUID reports whether text is 8-4-4-4-12 hexadecimal digits. Five words of eight bytes, some of which overlap, hold
// all 36.
func isUUID(text []byte) bool {
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return false
	}
	// The hyphens inside the second word, at byte 4, and the third word, at bytes 2 and 7, count as digits.
	good := markHexDigits(swar.Load8(text, 0)) &
		(markHexDigits(swar.Load8(text, 9)) | 0x80<<32) &
		(markHexDigits(swar.Load8(text, 16)) | 0x80<<16 | 0x80<<56) &
		markHexDigits(swar.Load8(text, 24)) & markHexDigits(swar.Load8(text, 28))
	return good == swar.HighBits
}

func markHexDigits(w uint64) uint64 { return swar.MarkAlphanumerics(w, 'f') }

// isBIC reports whether text is 8 or 11 letters and digits. Two words of eight bytes, which may overlap, hold all of
// them.
func isBIC(text []byte) bool {
	if len(text) != 8 && len(text) != 11 {
		return false
	}
	first, last := swar.Load8(text, 0), swar.Load8(text, len(text)-8)
	return swar.MarkAlphanumerics(first, 'z')&swar.MarkAlphanumerics(last, 'z') == swar.HighBits
}

// The code lists as sets of bits: one bit for each last letter, in a word for the letters before it. A letter is a
// number of five bits, from 0.
var (
	countries  = [1 << 5]uint32(codeSet(1<<5, schema.Countries()))
	currencies = [1 << 10]uint32(codeSet(1<<10, schema.Currencies()))
)

func codeSet(size int, codes []string) []uint32 {
	set := make([]uint32, size)
	for _, code := range codes {
		n := 0
		for _, c := range code {
			n = n<<5 | int(c-'A')
		}
		set[n>>5] |= 1 << (n & 31)
	}
	return set
}

// isCountry reports whether text is one of schema.Countries.
func isCountry(text []byte) bool {
	if len(text) != 2 {
		return false
	}
	first, last := text[0]-'A', text[1]-'A'
	return first|last < 1<<5 && countries[first]>>last&1 != 0
}

// isCurrency reports whether text is one of schema.Currencies.
func isCurrency(text []byte) bool {
	if len(text) != 3 {
		return false
	}
	first, second, last := text[0]-'A', text[1]-'A', text[2]-'A'
	return first|second|last < 1<<5 && currencies[uint(first)<<5|uint(second)]>>last&1 != 0
}

// isIP reports whether text is an IPv4 or IPv6 address. Zones are not allowed: they name an interface of one machine.
// The standard library's parser allocates a string for each address.
func isIP(text []byte) bool {
	if bytes.IndexByte(text, ':') < 0 {
		return isIPv4(text)
	}
	return isIPv6(text)
}

// maxIPv4Bytes is the length of the longest IPv4 address, such as 255.255.255.255.
const maxIPv4Bytes = 15

func isIPv4(text []byte) bool {
	var b [maxIPv4Bytes + padding]byte
	return copy(b[:maxIPv4Bytes], text) == len(text) && len(text) > 0 && matchIPv4(b[:], 0) == len(text)
}

// matchIPv4 reads four numbers up to 255 without leading zeros at b[i]. It returns the position after them, or 0 if
// there is something else.
func matchIPv4(b []byte, i int) int {
	for part := range 4 {
		end := swar.SkipDigits(b, i)
		n := min(end-i, len(byteLimits)-1)
		number := bits.ReverseBytes32(swar.Load4(b, i)) >> (32 - 8*n) // its digits as text
		if limits := byteLimits[n]; number < limits.least || number > limits.most {
			return 0
		}
		if i = end; part < 3 {
			if b[i] != '.' {
				return 0
			}
			i++
		}
	}
	return i
}

// byteLimits are, by the number of digits, the smallest and the largest number up to 255, as text. There is none
// without a digit, or of four digits and more.
var byteLimits = [5]struct{ least, most uint32 }{
	{1, 0},
	{'0', '9'},
	{'1'<<8 | '0', '9'<<8 | '9'},
	{'1'<<16 | '0'<<8 | '0', '2'<<16 | '5'<<8 | '5'},
	{1, 0},
}

// isIPv6 reports whether text is eight groups of one to four hexadecimal digits. One :: may replace one group or more,
// and an IPv4 address the last two.
func isIPv6(text []byte) bool {
	groups, shortened := 0, false
	if bytes.HasPrefix(text, []byte("::")) {
		shortened, text = true, text[2:]
	}
	for len(text) > 0 {
		n := 0
		for n < len(text) && n < 4 && hexDigits[text[n]] >= 0 {
			n++
		}
		if n < len(text) && text[n] == '.' {
			groups += 2
			return isIPv4(text) && (groups == 8 && !shortened || groups < 8 && shortened)
		}
		if groups++; n == 0 || groups > 8 {
			return false
		}
		if text = text[n:]; len(text) == 0 {
			break
		}
		if text[0] != ':' || len(text) == 1 {
			return false
		}
		if text = text[1:]; text[0] == ':' {
			if shortened {
				return false
			}
			shortened, text = true, text[1:]
		}
	}
	return groups == 8 && !shortened || groups < 8 && shortened
}
