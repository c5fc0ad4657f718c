package transaction

import (
	"bytes"
	"math/bits"
)

// The library's parser of addresses makes a string of each, so the project has its own; a test holds it against the library.

// isIP reports whether text is an IPv4 or IPv6 address. Zones are left out: they name an interface of one machine and mean
// nothing elsewhere.
func isIP(text []byte) bool {
	if bytes.IndexByte(text, ':') < 0 {
		return isIPv4(text)
	}
	return isIPv6(text)
}

// maxIPv4Bytes is the length of 255.255.255.255.
const maxIPv4Bytes = 15

func isIPv4(text []byte) bool {
	var b [maxIPv4Bytes + padding]byte
	return copy(b[:maxIPv4Bytes], text) == len(text) && len(text) > 0 && ipv4(b[:], 0) == len(text)
}

// ipv4 reads four numbers up to 255 without leading zeros at b[i]. It returns the position after them, or 0.
func ipv4(b []byte, i int) int {
	for part := range 4 {
		end := digits(b, i)
		n := min(end-i, len(decimalBytes)-1)
		number := bits.ReverseBytes32(load4(b, i)) >> (32 - 8*n) // as text
		if limits := decimalBytes[n]; number < limits.least || number > limits.most {
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

// decimalBytes are the bounds of a number up to 255 of so many digits, as text; there is none of no digit, or of four or more.
var decimalBytes = [5]struct{ least, most uint32 }{
	{1, 0},
	{'0', '9'},
	{'1'<<8 | '0', '9'<<8 | '9'},
	{'1'<<16 | '0'<<8 | '0', '2'<<16 | '5'<<8 | '5'},
	{1, 0},
}

// isIPv6 reads eight groups of one to four hexadecimal digits; one :: may stand for one group or more, and an IPv4 address
// for the last two.
func isIPv6(text []byte) bool {
	groups, shortened := 0, false
	if bytes.HasPrefix(text, []byte("::")) {
		shortened, text = true, text[2:]
	}
	for len(text) > 0 {
		n := 0
		for n < len(text) && n < 4 && hexDigit[text[n]] >= 0 {
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
