package formula

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/apd/v3"
)

// Arithmetic of formulas.
const (
	// Precision is the number of significant digits of every number.
	Precision = 34
	// DefaultDecimals is the number of decimals of the result where the field does not say another.
	DefaultDecimals = 10
	// MaxDecimals is the largest number of decimals of a result.
	MaxDecimals = 34
	// maxExponent bounds intermediate results: absolute values other than 0 are at least 10^-maxExponent and less than
	// 10^(maxExponent+1). It also bounds the work of an addition, which aligns its operands.
	maxExponent = 999
)

// Errors of Evaluate.
var (
	// ErrDivisionByZero is returned where a divisor is 0.
	//lint:ignore ST1005 the text is part of the interface
	ErrDivisionByZero = errors.New("Division by zero")
	// ErrMissingValue is the cause of a ValueError of a field that has no value.
	ErrMissingValue = errors.New("no value")
	// ErrNotNumber is the cause of a ValueError of a field whose value is not a number.
	ErrNotNumber = errors.New("the value is not a number")
	// ErrOutOfRange means that a value or an intermediate result is too large or too close to 0 to be calculated with.
	ErrOutOfRange = errors.New("a number is out of range")
)

// ValueError means that the value of a field cannot be used. It does not contain the value, which may be confidential.
type ValueError struct {
	// Key is the data key of the field.
	Key string
	// Err is ErrMissingValue, ErrNotNumber or ErrOutOfRange.
	Err error
}

// Error returns the field and the cause.
func (e *ValueError) Error() string { return fmt.Sprintf("field %q: %v", e.Key, e.Err) }

// Unwrap returns the cause.
func (e *ValueError) Unwrap() error { return e.Err }

// arithmetic rounds to Precision digits. Its exponents are wider than the range of intermediate results, which are
// checked after each operation, so that no operation comes near its limits.
var arithmetic = apd.Context{
	Precision: Precision, Rounding: apd.RoundHalfEven, Traps: apd.DefaultTraps,
	MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent,
}

// Evaluate calculates the formula. It asks for the value of each field once, in the order of Variables, and rounds the
// result to a number of decimals from 0 to MaxDecimals. The result is in plain notation without an exponent, without
// trailing zeros after the point, and never "-0".
//
// It returns a *ValueError with ErrMissingValue for the first field without a value, then one for the first field whose
// value cannot be used, and otherwise ErrDivisionByZero or ErrOutOfRange for the first operation that fails.
func (f *Formula) Evaluate(value func(key string) (text string, present bool), decimals int) (string, error) {
	if decimals < 0 || decimals > MaxDecimals {
		return "", fmt.Errorf("a result has 0 to %d decimals, not %d", MaxDecimals, decimals)
	}
	m := machine{
		formula: f, values: make([]apd.Decimal, len(f.variables)),
		stack: make([]*apd.Decimal, f.stackSize), results: make([]apd.Decimal, f.stackSize),
	}
	if err := m.readValues(value); err != nil {
		return "", err
	}
	for _, in := range f.program {
		if err := m.step(in); err != nil {
			return "", err
		}
	}
	return format(m.stack[0], decimals)
}

// machine runs the program of a formula.
type machine struct {
	formula *Formula
	values  []apd.Decimal
	// stack points to the operands: constants, values and results. The first size of them are in use.
	stack []*apd.Decimal
	size  int
	// results holds the result of an operation whose place on the stack is the same.
	results []apd.Decimal
}

// readValues asks for the values of all fields.
func (m *machine) readValues(value func(key string) (text string, present bool)) error {
	var unusable error
	for i, key := range m.formula.variables {
		text, present := value(key)
		if !present || text == "" {
			return &ValueError{key, ErrMissingValue}
		}
		if err := parseNumber(&m.values[i], text); err != nil && unusable == nil {
			unusable = &ValueError{key, err}
		}
	}
	return unusable
}

// step runs one instruction.
func (m *machine) step(in instruction) error {
	switch in.do {
	case pushConstant:
		m.push(&m.formula.constants[in.index])
		return nil
	case pushVariable:
		m.push(&m.values[in.index])
		return nil
	case negate:
		top := m.size - 1
		m.results[top].Neg(m.stack[top])
		m.stack[top] = &m.results[top]
		return nil
	}
	m.size--
	top := m.size - 1
	// The result may share its memory with the left operand, as apd allows.
	result, left, right := &m.results[top], m.stack[top], m.stack[top+1]
	if err := calculate(in.do, result, left, right); err != nil {
		return err
	}
	m.stack[top] = result
	return nil
}

func (m *machine) push(operand *apd.Decimal) {
	m.stack[m.size] = operand
	m.size++
}

// calculate sets result to the result of an operation on two operands.
func calculate(do opcode, result, left, right *apd.Decimal) error {
	var err error
	switch do {
	case add:
		_, err = arithmetic.Add(result, left, right)
	case subtract:
		_, err = arithmetic.Sub(result, left, right)
	case multiply:
		_, err = arithmetic.Mul(result, left, right)
	case divide:
		if right.IsZero() {
			return ErrDivisionByZero
		}
		_, err = arithmetic.Quo(result, left, right)
	default:
		err = fmt.Errorf("operation %d is unknown", do)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrOutOfRange, err)
	}
	return checkRange(result)
}

// checkRange returns ErrOutOfRange unless a number may be calculated with. It removes the exponent of 0, which means
// nothing and would exceed all bounds in a product of many zeros.
func checkRange(d *apd.Decimal) error {
	if d.IsZero() {
		d.SetInt64(0)
		return nil
	}
	exponent := int64(d.Exponent) + d.NumDigits() - 1
	if d.Form != apd.Finite || exponent > maxExponent || exponent < -maxExponent {
		return ErrOutOfRange
	}
	return nil
}
