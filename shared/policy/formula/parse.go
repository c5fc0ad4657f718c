package formula

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"
)

// ParseError says where a text is not a formula, and why. Its text is safe for clients.
type ParseError struct {
	// Offset is the number of code points before the place of the error.
	Offset int
	// Message explains the error.
	Message string
}

// Error returns the place and the message.
func (e *ParseError) Error() string { return fmt.Sprintf("at offset %d: %s", e.Offset, e.Message) }

// Parse parses a formula. An error is a *ParseError.
func Parse(text string) (*Formula, error) {
	switch {
	case len(text) > MaxLength*utf8.UTFMax || utf8.RuneCountInString(text) > MaxLength:
		return nil, &ParseError{MaxLength, fmt.Sprintf("a formula has at most %d characters", MaxLength)}
	case !utf8.ValidString(text):
		return nil, &ParseError{validRunes(text), "the text is not valid UTF-8"}
	}
	p := parser{text: text, formula: &Formula{text: text}, numbers: map[string]int{}, keys: map[string]int{}}
	if err := p.parse(); err != nil {
		return nil, err
	}
	return p.formula, nil
}

// validRunes returns the number of code points before the first byte that is not UTF-8.
func validRunes(text string) int {
	n := 0
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			break
		}
		n++
	}
	return n
}

// parser turns the infix notation into the postfix one. Operators wait until what follows them binds less tightly.
type parser struct {
	text string
	// position is the number of bytes that have been read.
	position int
	formula  *Formula
	// waiting are the operators and parentheses that are not yet in the program.
	waiting []opcode
	// depth is the number of parentheses in waiting.
	depth int
	nodes int
	// stack is the number of operands on the stack after the program so far.
	stack int
	// numbers and keys are the indexes of the constants by their texts, and of the variables by their data keys.
	numbers, keys map[string]int
}

// parse reads operands and operators in turn.
func (p *parser) parse() error {
	for {
		if err := p.operand(); err != nil {
			return err
		}
		if more, err := p.operator(); err != nil || !more {
			return err
		}
	}
}

// operand reads a number or a field, and the signs and open parentheses that precede it.
func (p *parser) operand() error {
	for {
		p.skipSpace()
		switch c := p.next(); {
		case c == '-':
			if err := p.count(); err != nil {
				return err
			}
			p.waiting = append(p.waiting, negate)
			p.position++
		case c == '(':
			if p.depth++; p.depth > MaxDepth {
				return p.errorf("parentheses are nested deeper than %d", MaxDepth)
			}
			p.waiting = append(p.waiting, parenthesis)
			p.position++
		case c == '{':
			return p.field()
		case isDigit(c):
			return p.number()
		default:
			return p.unexpected(`a number, a field in {}, "-" or "("`)
		}
	}
}

// operator reads the closing parentheses that follow an operand, and the next operator. It reports whether there is
// one.
func (p *parser) operator() (more bool, err error) {
	for {
		p.skipSpace()
		switch c := p.next(); {
		case c == 0 && p.position == len(p.text) && p.depth == 0:
			p.release(0)
			return false, nil
		case c == ')' && p.depth > 0:
			p.release(0)
			p.waiting = p.waiting[:len(p.waiting)-1]
			p.depth--
			p.position++
		case operators[c] != 0:
			do := operators[c]
			if err := p.count(); err != nil {
				return false, err
			}
			p.release(do.binding())
			p.waiting = append(p.waiting, do)
			p.position++
			return true, nil
		case p.depth > 0:
			return false, p.unexpected(`"+", "-", "*", "/" or ")"`)
		default:
			return false, p.unexpected(`"+", "-", "*", "/" or the end`)
		}
	}
}

// operators are the operators between two operands.
var operators = map[byte]opcode{'+': add, '-': subtract, '*': multiply, '/': divide}

// binding is the precedence of an operator. Operators of equal precedence are applied from the left.
func (o opcode) binding() int {
	switch o {
	case add, subtract:
		return 1
	case multiply, divide:
		return 2
	case negate:
		return 3
	default:
		return -1
	}
}

// release moves the waiting operators that bind at least so tightly to the program, up to the last open parenthesis.
func (p *parser) release(binding int) {
	for n := len(p.waiting) - 1; n >= 0 && p.waiting[n].binding() >= binding; n-- {
		do := p.waiting[n]
		p.waiting = p.waiting[:n]
		p.formula.program = append(p.formula.program, instruction{do: do})
		if do != negate {
			p.stack--
		}
	}
}

// push adds the instruction that pushes an operand.
func (p *parser) push(do opcode, index int) {
	p.formula.program = append(p.formula.program, instruction{do, index})
	p.stack++
	p.formula.stackSize = max(p.formula.stackSize, p.stack)
}

// count counts one more operation, number or field.
func (p *parser) count() error {
	if p.nodes++; p.nodes > MaxNodes {
		return p.errorf("a formula has at most %d operations, numbers and fields", MaxNodes)
	}
	return nil
}

// number reads a number.
func (p *parser) number() error {
	if err := p.count(); err != nil {
		return err
	}
	start, end := p.position, p.position
	for end < len(p.text) && isDigit(p.text[end]) {
		end++
	}
	if end < len(p.text) && p.text[end] == '.' {
		p.position = end + 1
		if !isDigit(p.next()) {
			return p.unexpected("a digit")
		}
		for end++; end < len(p.text) && isDigit(p.text[end]); {
			end++
		}
		p.position = start
	}
	text := p.text[start:end]
	if len(text) > MaxNumberLength {
		return p.errorf("a number has at most %d characters", MaxNumberLength)
	}
	index, known := p.numbers[text]
	if !known {
		index = len(p.formula.constants)
		p.numbers[text] = index
		p.formula.constants = append(p.formula.constants, apd.Decimal{})
		parseNumber(&p.formula.constants[index], text) // it is a number
	}
	p.push(pushConstant, index)
	p.position = end
	return nil
}

// field reads a data key in braces.
func (p *parser) field() error {
	if err := p.count(); err != nil {
		return err
	}
	key, _, closed := strings.Cut(p.text[p.position+1:], "}")
	switch {
	case !closed:
		return p.errorf(`the field is not closed by "}"`)
	case key == "":
		return p.errorf("the field has no data key")
	case utf8.RuneCountInString(key) > MaxKeyLength:
		return p.errorf("a data key has at most %d characters", MaxKeyLength)
	}
	index, known := p.keys[key]
	if !known {
		index = len(p.formula.variables)
		p.keys[key] = index
		p.formula.variables = append(p.formula.variables, key)
	}
	p.push(pushVariable, index)
	p.position += len(key) + 2
	return nil
}

// next returns the next byte, 0 at the end.
func (p *parser) next() byte {
	if p.position == len(p.text) {
		return 0
	}
	return p.text[p.position]
}

// skipSpace skips white space.
func (p *parser) skipSpace() {
	for p.position < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.position]) >= 0 {
		p.position++
	}
}

// errorf returns an error at the position.
func (p *parser) errorf(format string, args ...any) error {
	return &ParseError{utf8.RuneCountInString(p.text[:p.position]), fmt.Sprintf(format, args...)}
}

// unexpected returns the error for unexpected text at the position.
func (p *parser) unexpected(expected string) error {
	if p.position == len(p.text) {
		return p.errorf("expected %s, got the end", expected)
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.position:])
	return p.errorf("expected %s, got %q", expected, string(r))
}

// isDigit reports whether a byte is one of 0 to 9.
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
