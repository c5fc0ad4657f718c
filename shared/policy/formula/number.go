package formula

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// parseNumber sets d to the number that a text is, rounded to Precision digits. It returns ErrNotNumber or
// ErrOutOfRange.
func parseNumber(d *apd.Decimal, text string) error {
	if len(text) > MaxNumberLength {
		if isNumber(text) {
			return ErrOutOfRange
		}
		return ErrNotNumber
	}
	if !isNumber(text) {
		return ErrNotNumber
	}
	if _, _, err := d.SetString(text); err != nil {
		return fmt.Errorf("%w: %w", ErrNotNumber, err)
	}
	if _, err := arithmetic.Round(d, d); err != nil {
		return fmt.Errorf("%w: %w", ErrOutOfRange, err)
	}
	return checkRange(d)
}

// isNumber reports whether a text is a number as values are: with an optional sign and without an exponent.
func isNumber(text string) bool {
	if text != "" && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	whole, fraction, hasPoint := strings.Cut(text, ".")
	return hasOnlyDigits(whole) && (!hasPoint || hasOnlyDigits(fraction))
}

// hasOnlyDigits reports whether a text consists of one digit or more.
func hasOnlyDigits(text string) bool {
	for i := range len(text) {
		if !isDigit(text[i]) {
			return false
		}
	}
	return text != ""
}

// format rounds a number to decimals and prints it in plain notation.
func format(d *apd.Decimal, decimals int) (string, error) {
	var rounded apd.Decimal
	if int(d.Exponent) < -decimals {
		if _, err := arithmetic.Quantize(&rounded, d, int32(-decimals)); err != nil {
			return "", fmt.Errorf("%w: %w", ErrOutOfRange, err)
		}
	} else {
		rounded.Set(d)
	}
	if rounded.IsZero() {
		return "0", nil
	}
	rounded.Reduce(&rounded)
	return rounded.Text('f'), nil
}
