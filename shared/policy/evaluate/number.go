package evaluate

import (
	"cmp"
	"strings"
)

// maxNumberLength is the largest number of characters in a number, sign and point included.
const maxNumberLength = 200

// number is a decimal number, exact, as parts of its text. The zero number is 0.
type number struct {
	isNegative bool
	// whole has no leading zeros and fraction no trailing ones.
	whole, fraction string
}

// parseNumber reads a number as values are in formulas too: digits with an optional sign before them and an optional
// point with more digits after them. There is no exponent.
func parseNumber(text string) (number, bool) {
	if text == "" || len(text) > maxNumberLength {
		return number{}, false
	}
	unsigned := text
	if text[0] == '-' || text[0] == '+' {
		unsigned = text[1:]
	}
	whole, fraction, hasPoint := strings.Cut(unsigned, ".")
	if !hasOnlyDigits(whole) || hasPoint && !hasOnlyDigits(fraction) {
		return number{}, false
	}
	n := number{whole: strings.TrimLeft(whole, "0"), fraction: strings.TrimRight(fraction, "0")}
	n.isNegative = text[0] == '-' && (n.whole != "" || n.fraction != "")
	return n, true
}

// hasOnlyDigits reports whether a text consists of one digit or more.
func hasOnlyDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// compare returns a negative number if n is less than other, 0 if they are equal and a positive one otherwise.
func (n number) compare(other number) int {
	switch {
	case n.isNegative && !other.isNegative:
		return -1
	case !n.isNegative && other.isNegative:
		return 1
	case n.isNegative:
		n, other = other, n
	}
	return cmp.Or(cmp.Compare(len(n.whole), len(other.whole)), cmp.Compare(n.whole, other.whole),
		cmp.Compare(n.fraction, other.fraction))
}
