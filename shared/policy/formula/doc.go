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
