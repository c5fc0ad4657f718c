// Package pattern compiles the regular expressions of validation rules. They come from users, so their cost is
// bounded: the length of a pattern, the size of the program that it becomes, and the length of the values that it is
// matched with. The syntax is RE2 as in package regexp, which matches in time linear to the value; patterns
// in other syntax are refused, with the reason. The worst pattern that is admitted takes the longest value about 0.1 s,
// so callers that match many values observe their deadline between them.
package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// Bounds of patterns and values.
const (
	// MaxLength is the largest number of code points in a pattern.
	MaxLength = 1000
	// MaxSize is the largest size of a pattern: about one for each character and class, times its repetitions. Nested
	// repetitions multiply.
	MaxSize = 2000
	// MaxValueLength is the largest number of code points in a value. Longer values match no pattern.
	MaxValueLength = 4000
)

// Error is the reason why a text is not a pattern. Its text is safe for clients.
type Error struct{ message string }

// Error returns the reason.
func (e *Error) Error() string { return e.message }

// Pattern is a compiled pattern. It is immutable and safe for concurrent use.
type Pattern struct {
	compiled *regexp.Regexp
	size     int
}

// Size returns the size of the pattern, from 0 to MaxSize. A caller that keeps many patterns bounds the sum.
func (p *Pattern) Size() int { return p.size }

// Compile compiles a pattern. Without isCaseSensitive, upper and lower case are alike. An error is an *Error.
func Compile(text string, isCaseSensitive bool) (*Pattern, error) {
	if len(text) > MaxLength*utf8.UTFMax || utf8.RuneCountInString(text) > MaxLength {
		return nil, &Error{fmt.Sprintf("a pattern has at most %d characters", MaxLength)}
	}
	flags := syntax.Perl
	if !isCaseSensitive {
		flags |= syntax.FoldCase // errors quote the text as it was given
	}
	tree, err := syntax.Parse(text, flags)
	if err != nil {
		return nil, &Error{describe(err)}
	}
	size := sizeOf(tree)
	if size > MaxSize {
		return nil, &Error{fmt.Sprintf(
			"the pattern is too large: its characters times their repetitions are more than %d", MaxSize)}
	}
	if !isCaseSensitive {
		text = "(?i)" + text
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, &Error{describe(err)}
	}
	return &Pattern{compiled, size}, nil
}

// Match reports whether the pattern matches a part of a value, which is the whole one if the pattern begins with "^"
// and ends with "$". It does not match values longer than MaxValueLength.
func (p *Pattern) Match(value string) bool {
	if len(value) > MaxValueLength*utf8.UTFMax || utf8.RuneCountInString(value) > MaxValueLength {
		return false
	}
	return p.compiled.MatchString(value)
}

// sizeOf returns about the number of instructions of the program that an expression becomes, and MaxSize+1 for all that
// are larger than MaxSize.
func sizeOf(e *syntax.Regexp) int {
	size := 0
	for _, sub := range e.Sub {
		if size += sizeOf(sub); size > MaxSize {
			return MaxSize + 1
		}
	}
	switch e.Op {
	case syntax.OpConcat:
	case syntax.OpLiteral:
		size = len(e.Rune)
	case syntax.OpRepeat:
		size = (size + 1) * max(e.Min, e.Max, 1)
	default:
		size += max(len(e.Sub), 1)
	}
	return min(size, MaxSize+1)
}

// advice has messages for constructs of other syntaxes.
var advice = map[string]string{
	"(?=":  "lookahead is not supported",
	"(?!":  "lookahead is not supported",
	"(?<=": "lookbehind is not supported",
	"(?<!": "lookbehind is not supported",
	"(?<":  "lookbehind is not supported",
	"(?>":  "atomic groups are not supported",
	"(?(":  "conditional groups are not supported",
	"(?#":  "comments are not supported",
	`\u`:   `write a character by its number as \x{00E9}`,
	`\Z`:   `write the end of the text as $ or \z`,
	`\G`:   "the end of the last match is not supported",
	`\R`:   `write line ends as \r?\n`,
	`\h`:   `write spaces and tabs as [ \t]`,
}

// describe returns the client-safe text of an error of package syntax.
func describe(err error) string {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return "the pattern is not valid"
	}
	text := fmt.Sprintf("the pattern is not in RE2 syntax: %s: %q", e.Code, e.Expr)
	if reason := adviceOn(e); reason != "" {
		text += ": " + reason
	}
	return text
}

// adviceOn returns the reason why an expression is refused that other syntaxes have, "" if it is just wrong.
func adviceOn(e *syntax.Error) string {
	isDigit := func(c byte) bool { return '1' <= c && c <= '9' }
	switch {
	case e.Code == syntax.ErrInvalidEscape && len(e.Expr) > 1 && (isDigit(e.Expr[1]) || e.Expr[1] == 'k'):
		return "references to groups are not supported"
	case e.Code == syntax.ErrInvalidRepeatOp:
		return "possessive and repeated repetitions are not supported"
	}
	for n := min(len(e.Expr), len("(?<=")); n > 1; n-- {
		if reason := advice[e.Expr[:n]]; reason != "" {
			return reason
		}
	}
	return ""
}
