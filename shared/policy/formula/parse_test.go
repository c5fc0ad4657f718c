package formula

import (
	"errors"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
)

func TestParseErrors(t *testing.T) {
	const operand = `expected a number, a field in {}, "-" or "(", got `
	for _, test := range []struct {
		text   string
		offset int
		want   string
	}{
		{"", 0, operand + "the end"},
		{"  ", 2, operand + "the end"},
		{"1+", 2, operand + "the end"},
		{"+1", 0, operand + `"+"`},
		{"1+*2", 2, operand + `"*"`},
		{"()", 1, operand + `")"`},
		{".5", 0, operand + `"."`},
		{"{é}+ü", 4, operand + `"ü"`},
		{"1\x00", 1, `expected "+", "-", "*", "/" or the end, got "\x00"`},
		{"1 2", 2, `expected "+", "-", "*", "/" or the end, got "2"`},
		{"1)", 1, `expected "+", "-", "*", "/" or the end, got ")"`},
		{"1e5", 1, `expected "+", "-", "*", "/" or the end, got "e"`},
		{"1,000", 1, `expected "+", "-", "*", "/" or the end, got ","`},
		{"2^8", 1, `expected "+", "-", "*", "/" or the end, got "^"`},
		{"(1", 2, `expected "+", "-", "*", "/" or ")", got the end`},
		{"(1}", 2, `expected "+", "-", "*", "/" or ")", got "}"`},
		{"5.", 2, `expected a digit, got the end`},
		{"1..2", 2, `expected a digit, got "."`},
		{"1+{a", 2, `the field is not closed by "}"`},
		{"1+{}", 2, "the field has no data key"},
		{"{é}\xff", 3, "the text is not valid UTF-8"},
		{"\ufffd\xff", 1, "the text is not valid UTF-8"},
	} {
		f, err := Parse(test.text)
		var at *ParseError
		if f != nil || !errors.As(err, &at) || at.Offset != test.offset || at.Message != test.want {
			t.Errorf("Parse(%q) = %v, %v; want at offset %d: %s", test.text, f, err, test.offset, test.want)
		}
	}
	_, err := Parse("1+")
	if want := "at offset 2: " + operand + "the end"; err.Error() != want {
		t.Errorf("the error is %q, want %q", err, want)
	}
}

// Each bound admits its value and refuses one more.
func TestBounds(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("(", n) + "1" + strings.Repeat(")", n) }
	sum := func(n int) string { return strings.Repeat("1+", n) + "1" } // 2n+1 nodes
	for _, test := range []struct {
		name   string
		at     string
		over   string
		offset int
		want   string
	}{
		{"length", "1" + strings.Repeat(" ", MaxLength-1), "1" + strings.Repeat(" ", MaxLength), MaxLength,
			"a formula has at most 4000 characters"},
		{"length in code points", "{" + strings.Repeat("é", MaxKeyLength) + "}" + strings.Repeat(" ",
			MaxLength-MaxKeyLength-2),
			strings.Repeat("\U0001f600", MaxLength+1), MaxLength, "a formula has at most 4000 characters"},
		{"depth", nested(MaxDepth), nested(MaxDepth + 1), MaxDepth, "parentheses are nested deeper than 64"},
		{"depth of siblings", strings.Repeat(nested(MaxDepth)+"+", 20) + "1", "1+" + nested(MaxDepth+1), MaxDepth + 2,
			"parentheses are nested deeper than 64"},
		{"nodes", "-" + sum(MaxNodes/2-1), sum(MaxNodes / 2), MaxNodes,
			"a formula has at most 1000 operations, numbers and fields"},
		{"signs", strings.Repeat("-", MaxNodes-1) + "1", strings.Repeat("-", MaxNodes) + "1", MaxNodes,
			"a formula has at most 1000 operations, numbers and fields"},
		{"digits", strings.Repeat("1", MaxNumberLength), "1+" + strings.Repeat("1", MaxNumberLength+1), 2,
			"a number has at most 200 characters"},
		{"decimals", "0." + strings.Repeat("1", MaxNumberLength-2), "0." + strings.Repeat("1", MaxNumberLength-1), 0,
			"a number has at most 200 characters"},
		{"key", "{" + strings.Repeat("é", MaxKeyLength) + "}", "1*{" + strings.Repeat("é", MaxKeyLength+1) + "}", 2,
			"a data key has at most 700 characters"},
	} {
		t.Run(test.name, func(t *testing.T) {
			errtest.Is(t, "the bound is refused", errtest.Of(Parse(test.at)), nil)
			_, err := Parse(test.over)
			var at *ParseError
			if !errors.As(err, &at) || at.Offset != test.offset || at.Message != test.want {
				t.Errorf("over the bound: %v; want at offset %d: %s", err, test.offset, test.want)
			}
		})
	}
	errtest.Fails(t, "10 MB of parentheses are a formula", errtest.Of(Parse(strings.Repeat("(", 10<<20))))
}
