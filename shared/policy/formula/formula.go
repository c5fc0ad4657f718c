package formula

import (
	"slices"

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
