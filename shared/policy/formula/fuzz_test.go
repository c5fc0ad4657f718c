package formula

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// print prints the program of a formula with as few parentheses as possible.
func print(f *Formula) string {
	type part struct {
		text    string
		binding int
	}
	const atom = 4
	within := func(p part, binding int) string {
		if p.binding < binding {
			return "(" + p.text + ")"
		}
		return p.text
	}
	var stack []part
	for _, in := range f.program {
		n := len(stack)
		switch in.do {
		case pushConstant:
			stack = append(stack, part{f.constants[in.index].Text('f'), atom})
		case pushVariable:
			stack = append(stack, part{"{" + f.variables[in.index] + "}", atom})
		case negate:
			stack[n-1] = part{"-" + within(stack[n-1], negate.binding()), negate.binding()}
		default:
			binding := in.do.binding()
			sign := map[opcode]string{add: "+", subtract: "-", multiply: "*", divide: "/"}[in.do]
			text := within(stack[n-2], binding) + sign + within(stack[n-1], binding+1)
			stack = append(stack[:n-2], part{text, binding})
		}
	}
	return stack[0].text
}

// seeds are formulas, and texts that are nearly formulas.
var seeds = []string{
	"1", "{a}+{b}*2", "({a}-{b})/({a}-{a})", "-(-{a})", "--1.50", "2--3", "1/3*3", "{a}{b}", "1e5", "(1", "1)", "{",
	"{}",
	"1..2",
	".5", "5.", "+1", "{a", "(-({a}/{b})-1)*0.001", "{ key with } brace}", "99999999999999999999999999999999995+5",
	"\x00", "\xff", "{\xff}", "1 +\t2\r\n",
	"{é\U0001f600}", "{a}//{b}", "{c}*{c}*{d}", "{c}/{d}", "{e}-{c}", "0.00-0", "{f}/{f}", "١+٢", strings.Repeat("(",
		65), strings.Repeat("-", 30) + "1",
}

// fuzzedValues are the values of the fields in seeds.
var fuzzedValues = map[string]string{
	"a": "3", "b": "-0.25", "c": "1" + strings.Repeat("0", 199), "d": "0." + strings.Repeat("0", 197) + "7",
	"e": strings.Repeat("9", 60), "f": "+0.000",
}

// A formula that is printed and parsed again has the same program and the same result.
func FuzzParse(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := Parse(text)
		if err != nil {
			var at *ParseError
			if !errors.As(err, &at) || at.Offset < 0 || at.Offset > utf8.RuneCountInString(text) || at.Message == "" ||
				!utf8.ValidString(err.Error()) {
				t.Fatalf("Parse(%q) = %#v", text, err)
			}
			return
		}
		if len(first.program) > MaxNodes || first.stackSize > 4*MaxDepth ||
			!slices.Equal(first.Variables(), distinct(first.variables)) {
			t.Fatalf("Parse(%q) has %d instructions, a stack of %d and the variables %q", text, len(first.program),
				first.stackSize, first.variables)
		}
		printed := print(first)
		second, err := Parse(printed)
		if err != nil {
			t.Fatalf("%q is printed as %q, which is refused: %v", text, printed, err)
		}
		if again := print(second); again != printed || !slices.Equal(first.variables, second.variables) {
			t.Fatalf("%q is printed as %q, and that as %q", text, printed, again)
		}
		want, wantErr := first.Evaluate(lookup(fuzzedValues), DefaultDecimals)
		got, err := second.Evaluate(lookup(fuzzedValues), DefaultDecimals)
		if got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%q is %q, %v, and %q is %q, %v", text, want, wantErr, printed, got, err)
		}
	})
}

func distinct(keys []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		was := seen[key]
		seen[key] = true
		return was
	})
}
