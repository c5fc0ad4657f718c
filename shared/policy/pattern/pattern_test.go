package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		text            string
		isCaseSensitive bool
		value           string
		want            bool
	}{
		{`^[A-Z]{2}\d{2}$`, true, "DE12", true},
		{`^[A-Z]{2}\d{2}$`, true, "de12", false},
		{`^[A-Z]{2}\d{2}$`, false, "de12", true},
		{`^[A-Z]{2}\d{2}$`, true, "DE12\n", false},
		{`[A-Z]{2}`, true, "1DE2", true},
		{`^é+$`, false, "ÉÉ", true},
		{`^\p{L}+$`, true, "Zoë", true},
		{`a|(?-i)B`, false, "A", true},
		{``, true, "", true},
		{`.`, true, strings.Repeat("x", MaxValueLength), true},
		{`.`, true, strings.Repeat("x", MaxValueLength+1), false},
		{`.`, true, strings.Repeat("é", MaxValueLength), true},
		{`^(a|aa)+$`, true, strings.Repeat("a", MaxValueLength-1) + "b", false},
	} {
		p, err := Compile(test.text, test.isCaseSensitive)
		if err != nil {
			t.Errorf("Compile(%q): %v", test.text, err)
			continue
		}
		difftest.Equal(t,
			fmt.Sprintf("%q (case sensitive: %v) matches %.20q", test.text, test.isCaseSensitive, test.value),
			test.want, p.Match(test.value))
	}
}

func TestRefused(t *testing.T) {
	const lead = "the pattern is not in RE2 syntax: "
	for text, want := range map[string]string{
		`a(?=b)`:    lead + `invalid or unsupported Perl syntax: "(?=": lookahead is not supported`,
		`a(?!b)`:    lead + `invalid or unsupported Perl syntax: "(?!": lookahead is not supported`,
		`(?<=a)b`:   lead + `invalid named capture: "(?<=a)b": lookbehind is not supported`,
		`(?<!a)b`:   lead + `invalid named capture: "(?<!a)b": lookbehind is not supported`,
		`(?>a)b`:    lead + `invalid or unsupported Perl syntax: "(?>": atomic groups are not supported`,
		`(a)\1`:     lead + `invalid escape sequence: "\\1": references to groups are not supported`,
		`(?P<a>)\k`: lead + `invalid escape sequence: "\\k": references to groups are not supported`,
		`a++`: lead + `invalid nested repetition operator: "++": ` +
			`possessive and repeated repetitions are not supported`,
		`\u00e9`:  lead + `invalid escape sequence: "\\u": write a character by its number as \x{00E9}`,
		`(a`:      lead + `missing closing ): "(a"`,
		`[z-a]`:   lead + `invalid character class range: "z-a"`,
		`a{1001}`: lead + `invalid repeat count: "{1001}"`,
		"\xff":    lead + `invalid UTF-8: "\xff"`,
		"(\x00":   lead + `missing closing ): "(\x00"`,
	} {
		for _, isCaseSensitive := range []bool{true, false} {
			_, err := Compile(text, isCaseSensitive)
			var refused *Error
			if !errors.As(err, &refused) || err.Error() != want {
				t.Errorf("Compile(%q, %v): %v\nwant %s", text, isCaseSensitive, err, want)
			}
		}
	}
}

// Each bound admits its value and refuses one more.
func TestBounds(t *testing.T) {
	for _, test := range []struct{ name, at, over, want string }{
		{"length", strings.Repeat("é", MaxLength), strings.Repeat("é", MaxLength+1),
			"a pattern has at most 1000 characters"},
		{"repetition", `[ab]{1000}`, `[ab]{1001}`, "invalid repeat count"},
		{"size", `[ab]{1000}`, `[ab]{1000}[ab]`, "the pattern is too large"},
		{"size of a part", `(?:[ab]c){666}`, `(?:[ab]c){667}`, "the pattern is too large"},
		{"nested repetitions", `([ab]{20}){30}`, `([ab]{20}){50}`, "the pattern is too large"},
		{"product of repetitions", `(?:[ab]{20}){47}`, `([ab]{100}){11}`, "invalid repeat count"},
		{"open repetition", `([ab]{20,}){30}`, `([ab]{20,}){50,}`, "the pattern is too large"},
		{"depth", strings.Repeat("(", 300) + strings.Repeat(")", 300), strings.Repeat("(", 1001),
			"at most 1000 characters"},
	} {
		t.Run(test.name, func(t *testing.T) {
			errtest.Is(t, "the bound is refused", errtest.Of(Compile(test.at, true)), nil)
			errtest.Fails(t, "over the bound", errtest.Of(Compile(test.over, true)), test.want)
		})
	}
}

// Any text is compiled to a program of a bounded size that matches as package regexp does, or refused with a reason.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		`^[A-Z]{2}\d{2}$`, `(?i)a|b`, `(a)\1`, `(?=a)`, `a{1000}`, `(a{30}){30}`, `((a*)*)*`, `(a?){50}a{50}`,
		`\p{Greek}{900}`,
		`[^\x00-\x{10FFFF}]`,
		`(|a){200}`, `((a{1,9}){1,9}){1,9}`, `(?:(?:x{2,}){2,}){2,}`, "\xff", `\Q...\E`, `(?U)a+`,
		`a{,3}`, `(((((`, `x**`, `\C`, `[[:alpha:]]`,
	} {
		f.Add(seed, "aab DE12", true)
		f.Add(seed, "", false)
	}
	f.Fuzz(func(t *testing.T, text, value string, isCaseSensitive bool) {
		p, err := Compile(text, isCaseSensitive)
		if err != nil {
			var refused *Error
			if !errors.As(err, &refused) || !utf8.ValidString(err.Error()) {
				t.Fatalf("Compile(%q) = %#v", text, err)
			}
			return
		}
		if len(value) > 200 {
			return
		}
		whole := text
		if !isCaseSensitive {
			whole = "(?i)" + text
		}
		tree := errtest.Must(syntax.Parse(whole, syntax.Perl))(t)
		program := errtest.Must(syntax.Compile(tree.Simplify()))(t)
		if n := len(program.Inst); n > 2*MaxSize {
			t.Fatalf("%q becomes %d instructions, want at most %d", text, n, 2*MaxSize)
		}
		difftest.Equal(t, fmt.Sprintf("%q matches %q", text, value), regexp.MustCompile(whole).MatchString(value),
			p.Match(value))
	})
}
