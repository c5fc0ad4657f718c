package transaction

import "bytes"

// The library's parser of addresses makes a string of each, so the project has its own; a test holds it against the library.

// isIP reports whether text is an IPv4 or IPv6 address. Zones are left out: they name an interface of one machine and mean
// nothing elsewhere.
func isIP(text []byte) bool {
	if bytes.IndexByte(text, ':') < 0 {
		return isIPv4(text)
	}
	return isIPv6(text)
}

// isIPv4 reads four numbers up to 255 without leading zeros.
func isIPv4(text []byte) bool {
	parts, number, digits := 0, 0, 0
	for _, c := range text {
		switch {
		case c == '.' && digits > 0 && parts < 3:
			parts, number, digits = parts+1, 0, 0
		case c-'0' <= 9 && (digits == 0 || number > 0):
			if number, digits = number*10+int(c-'0'), digits+1; number > 255 {
				return false
			}
		default:
			return false
		}
	}
	return parts == 3 && digits > 0
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
