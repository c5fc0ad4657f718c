// Package formula parses and evaluates the formulas of calculated fields (formulaString). It knows nothing of policies:
// a caller supplies the values of fields as texts and the number of decimals of the result.
//
// # Syntax
//
//	formula    = term { ( "+" | "-" ) term } .
//	term       = factor { ( "*" | "/" ) factor } .
//	factor     = number | field | "(" formula ")" | "-" factor .
//	number     = digit { digit } [ "." digit { digit } ] .
//	field      = "{" key "}" .
//
// Spaces, tabs and line ends between these are ignored. A key is the data key of a field: 1 to 700 code points, taken
// as they are, white space included. A key cannot contain "}", and there is no escape for it: a field with such a data
// key cannot be used in formulas. There is no unary plus, no exponent and no separator of thousands.
//
// # Arithmetic
//
// Numbers are decimal. Each number, value and intermediate result is rounded to Precision significant digits, and the
// result to the decimals that the caller asks for; all of this is half to even. The value of a field is a number as
// above with an optional sign, "-" or "+"; an empty text is a missing value.
//
// # Bounds
//
// Formulas come from users, so everything about them is bounded: the length of the text, of a number and of a key, the
// depth of parentheses, the operations and operands together, and the size of every intermediate result. Neither
// parsing nor evaluation recurses. The worst formula that is admitted takes about a millisecond.
package formula

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// Bounds of a formula.
const (
	// MaxLength is the largest number of code points in a formula.
	MaxLength = 4000
	// MaxDepth is how deep parentheses may be nested.
	MaxDepth = 64
	// MaxNodes is the largest number of operations, numbers and fields in a formula, counting each use.
	MaxNodes = 1000
	// MaxKeyLength is the largest number of code points in a data key.
	MaxKeyLength = 700
	// MaxNumberLength is the largest number of characters in a number or the value of a field, sign and point included.
	MaxNumberLength = 200
)

// Formula is a parsed formula. It is immutable and safe for concurrent use.
type Formula struct {
	text      string
	variables []string
	constants []apd.Decimal
	// program is the formula in postfix notation. It has no jumps: each instruction runs once.
	program []instruction
	// stackSize is the largest number of operands that wait while program runs.
	stackSize int
}

// instruction is one operation on the stack of operands.
type instruction struct {
	do opcode
	// index is the number of the constant or of the variable that is pushed.
	index int
}

// opcode is the operation of an instruction.
type opcode byte

const (
	pushConstant opcode = iota
	pushVariable
	negate
	add
	subtract
	multiply
	divide
	// parenthesis marks an open parenthesis while a formula is parsed; it is in no program.
	parenthesis
)

// Variables returns the data keys that the formula uses, each once, in the order of their first use.
func (f *Formula) Variables() []string { return slices.Clone(f.variables) }

// Size returns the number of operations, numbers and fields, from 1 to MaxNodes. A caller that keeps many formulas
// bounds the sum.
func (f *Formula) Size() int { return len(f.program) }

// String returns the text of the formula.
func (f *Formula) String() string { return f.text }

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
