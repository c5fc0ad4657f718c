package formula

import (
	"errors"
	"math/big"
	"strings"
)

// errSyntax is what the oracle says of every text that is not a formula.
var errSyntax = errors.New("not a formula")

// oracle is a second implementation of formulas, by recursive descent and exact fractions. It knows none of the bounds
// on texts, so it is for short ones.
type oracle struct {
	rest   string
	values map[string]string
	// err is the first error of arithmetic; errors of syntax are panics.
	err error
}

// evaluateByOracle evaluates a text. The error is errSyntax, or one of those of Evaluate.
func evaluateByOracle(text string, values map[string]string, decimals int) (result string, err error) {
	defer func() {
		if r := recover(); r != nil {
			if r != errSyntax {
				panic(r)
			}
			err = errSyntax
		}
	}()
	o := &oracle{rest: text, values: values}
	x := o.sum()
	if o.skip(); o.rest != "" {
		return "", errSyntax
	}
	if o.err != nil {
		return "", o.err
	}
	rounded := new(big.Rat).SetFrac(roundHalfEven(new(big.Rat).Mul(x, power(decimals))), big.NewInt(1))
	printed := rounded.Quo(rounded, power(decimals)).FloatString(decimals)
	if strings.Contains(printed, ".") {
		printed = strings.TrimSuffix(strings.TrimRight(printed, "0"), ".")
	}
	return printed, nil
}

func (o *oracle) skip() { o.rest = strings.TrimLeft(o.rest, " \t\r\n") }

// take reports whether the next character is one of those given, and removes it.
func (o *oracle) take(characters string) byte {
	if o.skip(); o.rest == "" || !strings.Contains(characters, o.rest[:1]) {
		return 0
	}
	c := o.rest[0]
	o.rest = o.rest[1:]
	return c
}

func (o *oracle) sum() *big.Rat {
	x := o.product()
	for {
		switch o.take("+-") {
		case '+':
			x = o.round(new(big.Rat).Add(x, o.product()))
		case '-':
			x = o.round(new(big.Rat).Sub(x, o.product()))
		default:
			return x
		}
	}
}

func (o *oracle) product() *big.Rat {
	x := o.factor()
	for {
		switch o.take("*/") {
		case '*':
			x = o.round(new(big.Rat).Mul(x, o.factor()))
		case '/':
			y := o.factor()
			if y.Sign() == 0 {
				o.fail(ErrDivisionByZero)
				y = big.NewRat(1, 1)
			}
			x = o.round(new(big.Rat).Quo(x, y))
		default:
			return x
		}
	}
}

func (o *oracle) factor() *big.Rat {
	switch o.take("-({") {
	case '-':
		return new(big.Rat).Neg(o.factor())
	case '(':
		x := o.sum()
		if o.take(")") == 0 {
			panic(errSyntax)
		}
		return x
	case '{':
		key, rest, closed := strings.Cut(o.rest, "}")
		if !closed || key == "" {
			panic(errSyntax)
		}
		o.rest = rest
		return o.read(o.values[key])
	}
	digits := len(o.rest) - len(strings.TrimLeft(o.rest, "0123456789"))
	if fraction, isPoint := strings.CutPrefix(o.rest[digits:], "."); isPoint {
		n := len(fraction) - len(strings.TrimLeft(fraction, "0123456789"))
		if n == 0 {
			panic(errSyntax)
		}
		digits += 1 + n
	}
	if digits == 0 || o.rest[0] == '.' {
		panic(errSyntax)
	}
	text := o.rest[:digits]
	o.rest = o.rest[digits:]
	return o.read(text)
}

// read returns the number that a text is.
func (o *oracle) read(text string) *big.Rat {
	x, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("the oracle has no value")
	}
	return o.round(x)
}

func (o *oracle) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

// round rounds x to Precision digits, and fails if it is out of range.
func (o *oracle) round(x *big.Rat) *big.Rat {
	if x.Sign() == 0 {
		return x
	}
	exponent := magnitude(x)
	shift := power(Precision - 1 - exponent)
	x = new(big.Rat).SetInt(roundHalfEven(new(big.Rat).Mul(x, shift)))
	x.Quo(x, shift)
	if exponent = magnitude(x); exponent > maxExponent || exponent < -maxExponent {
		o.fail(ErrOutOfRange)
		return big.NewRat(1, 1)
	}
	return x
}

// magnitude returns the exponent of the first digit of x, which is not 0.
func magnitude(x *big.Rat) int {
	x = new(big.Rat).Abs(x)
	exponent := len(x.Num().String()) - len(x.Denom().String())
	for x.Cmp(power(exponent)) < 0 {
		exponent--
	}
	for x.Cmp(power(exponent+1)) >= 0 {
		exponent++
	}
	return exponent
}

// power returns 10^n.
func power(n int) *big.Rat {
	whole := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n, -n))), nil)
	if x := new(big.Rat).SetInt(whole); n >= 0 {
		return x
	} else {
		return x.Inv(x)
	}
}

// roundHalfEven returns the integer that is nearest to x, of two the even one.
func roundHalfEven(x *big.Rat) *big.Int {
	below, remainder := new(big.Int).DivMod(x.Num(), x.Denom(), new(big.Int)) // the remainder is not negative
	switch twice := remainder.Lsh(remainder, 1); twice.Cmp(x.Denom()) {
	case 1:
		below.Add(below, big.NewInt(1))
	case 0:
		if below.Bit(0) == 1 {
			below.Add(below, big.NewInt(1))
		}
	}
	return below
}
