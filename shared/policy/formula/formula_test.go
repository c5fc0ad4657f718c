package formula

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// lookup returns the function that gives the values of fields.
func lookup(values map[string]string) func(string) (string, bool) {
	return func(key string) (string, bool) {
		text, present := values[key]
		return text, present
	}
}

// evaluate parses and evaluates a text.
func evaluate(t *testing.T, text string, values map[string]string, decimals int) (string, error) {
	t.Helper()
	f, err := Parse(text)
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return f.Evaluate(lookup(values), decimals)
}

func TestEvaluate(t *testing.T) {
	values := map[string]string{
		"a": "3", "b": "-0.25", "annual turnover (EUR)": "1250000.50", "é": "2", " a ": "7", "{": "8",
		"plus": "+4.20", "zeros": "000.00",
		"long": strings.Repeat("9", 35), "half": "0.5",
	}
	for _, test := range []struct {
		name, text string
		decimals   int
		want       string
	}{
		{"number", "42", 10, "42"},
		{"leading zeros", "0042.10", 10, "42.1"},
		{"trailing zeros", "1.500", 10, "1.5"},
		{"zeros before the point", "1200.0", 10, "1200"},
		{"product before sum", "1+2*3", 10, "7"},
		{"parentheses", "(1+2)*3", 10, "9"},
		{"from the left: minus", "10-4-3", 10, "3"},
		{"from the left: divided by", "100/5/2", 10, "10"},
		{"quotient of a product", "2*3/4*5", 10, "7.5"},
		{"negative factor", "2*-3", 10, "-6"},
		{"negative difference", "2--3", 10, "5"},
		{"many signs", "---2", 10, "-2"},
		{"sign before parentheses", "-(1+2)", 10, "-3"},
		{"field", "{a}", 10, "3"},
		{"negative value", "{a}*{b}", 10, "-0.75"},
		{"value with a plus", "{plus}", 10, "4.2"},
		{"key with anything", "{annual turnover (EUR)}/2", 10, "625000.25"},
		{"key in other scripts", "{é}+1", 10, "3"},
		{"key with white space", "{ a }", 10, "7"},
		{"key is a brace", "{{}", 10, "8"},
		{"white space", " \t{a}\r\n + 1 ", 10, "4"},
		{"negative zero", "-{zeros}", 10, "0"},
		{"rounded to negative zero", "-0.004", 2, "0"},
		{"zero of many places", "0.000*5", 10, "0"},
		{"third", "1/3", 10, "0.3333333333"},
		{"third of everything", "1/3", 34, "0." + strings.Repeat("3", 34)},
		{"third, then three times", "1/3*3", 10, "1"},
		{"no binary fractions", "0.1+0.2", 34, "0.3"},
		{"33 digits", "9" + strings.Repeat("0", 31) + "1+1", 10, "9" + strings.Repeat("0", 31) + "2"},
		{"34 digits", "9" + strings.Repeat("0", 32) + "1+1", 10, "9" + strings.Repeat("0", 32) + "2"},
		{"35 digits, tie to even below", "1" + strings.Repeat("0", 33) + "5", 10, "1" + strings.Repeat("0", 34)},
		{"35 digits, tie to even above", "1" + strings.Repeat("0", 32) + "15", 10,
			"1" + strings.Repeat("0", 32) + "20"},
		{"35 digits, over a tie", "1" + strings.Repeat("0", 33) + "51", 10, "1" + strings.Repeat("0", 32) + "100"},
		{"35 nines", "{long}", 10, "1" + strings.Repeat("0", 35)},
		{"value is rounded like a number", "{long}-" + strings.Repeat("9", 35), 10, "0"},
		{"tie to even: down", "0.5", 0, "0"},
		{"tie to even: up", "1.5", 0, "2"},
		{"tie to even: down again", "2.5", 0, "2"},
		{"tie of a negative number", "-2.5", 0, "-2"},
		{"below a tie", "2.4999", 0, "2"},
		{"above a tie", "2.5001", 0, "3"},
		{"tie in the last decimal", "{half}+0.125", 2, "0.62"},
		{"tie in the last decimal, up", "{half}+0.135", 2, "0.64"},
		{"n-1 decimals", "1.1234", 5, "1.1234"},
		{"n decimals", "1.12345", 5, "1.12345"},
		{"n+1 decimals, tie", "1.123445", 5, "1.12344"},
		{"n+1 decimals", "1.1234451", 5, "1.12345"},
		{"all nines roll over", "9.99999", 4, "10"},
		{"rolls over from nothing", "0.6", 0, "1"},
		{"far below the last decimal", "0." + strings.Repeat("0", 190) + "1", 34, "0"},
		{"large", "1" + strings.Repeat("0", 150) + "*1" + strings.Repeat("0", 150), 10, "1" + strings.Repeat("0", 300)},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := errtest.Must(evaluate(t, test.text, values, test.decimals))(t)
			difftest.Equal(t, fmt.Sprintf("%q with %d decimals", test.text, test.decimals), test.want, got)
		})
	}
}

func TestEvaluateFails(t *testing.T) {
	values := map[string]string{
		"zero": "0.00", "empty": "", "word": "twelve", "exponent": "1e3", "comma": "1,5", "spaces": " 1",
		"sign": "-", "point": "1.", "nan": "NaN", "infinity": "Infinity", "hex": "0x1",
		"underscore": "1_0", "arabic": "١",
		"two": "2", "nul": "1\x00", "signs": "--1",
		"longest": strings.Repeat("1", MaxNumberLength), "longer": strings.Repeat("1",
			MaxNumberLength+1), "longWord": strings.Repeat("x", 10_000),
		"big": "1" + strings.Repeat("0", 199), "small": "0." + strings.Repeat("0", 197) + "1",
	}
	power := func(key string, n int) string { return strings.Repeat("{"+key+"}*", n-1) + "{" + key + "}" }
	for _, test := range []struct {
		text string
		want error
		// key is the field that the error names.
		key string
	}{
		{"1/0", ErrDivisionByZero, ""},
		{"{two}/{zero}", ErrDivisionByZero, ""},
		{"{zero}/{zero}", ErrDivisionByZero, ""},
		{"1/({two}-{two})", ErrDivisionByZero, ""},
		{"0/{two}", nil, ""},
		{"{nothing}", ErrMissingValue, "nothing"},
		{"{empty}", ErrMissingValue, "empty"},
		{"1/0+{nothing}", ErrMissingValue, "nothing"},
		{"{word}+{nothing}", ErrMissingValue, "nothing"},
		{"1/0+{word}", ErrNotNumber, "word"},
		{"{sign}+{word}", ErrNotNumber, "sign"},
		{"{exponent}", ErrNotNumber, "exponent"},
		{"{comma}", ErrNotNumber, "comma"},
		{"{spaces}", ErrNotNumber, "spaces"},
		{"{point}", ErrNotNumber, "point"},
		{"{nan}", ErrNotNumber, "nan"},
		{"{infinity}", ErrNotNumber, "infinity"},
		{"{hex}", ErrNotNumber, "hex"},
		{"{underscore}", ErrNotNumber, "underscore"},
		{"{arabic}", ErrNotNumber, "arabic"},
		{"{nul}", ErrNotNumber, "nul"},
		{"{signs}", ErrNotNumber, "signs"},
		{"{longWord}", ErrNotNumber, "longWord"},
		{"{longest}", nil, ""},
		{"{longer}", ErrOutOfRange, "longer"},
		{power("big", 5), nil, ""},
		{power("big", 5) + "*9999", nil, ""},
		{power("big", 5) + "*10000*10", ErrOutOfRange, ""},
		{power("big", 6), ErrOutOfRange, ""},
		{power("small", 5), nil, ""},
		{power("small", 6), ErrOutOfRange, ""},
		{"{two}/(" + power("small", 6) + ")", ErrOutOfRange, ""},
		{"0" + strings.Repeat("*0."+strings.Repeat("0", 3), 400), nil, ""},
	} {
		got, err := evaluate(t, test.text, values, DefaultDecimals)
		if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
			t.Errorf("%.60q is %.60q, %v; want the error %v", test.text, got, err, test.want)
		}
		var ofField *ValueError
		if errors.As(err, &ofField) != (test.key != "") || test.key != "" && ofField.Key != test.key {
			t.Errorf("%.60q: %v; want it to name the field %q", test.text, err, test.key)
		}
		if err != nil && got != "" {
			t.Errorf("%.60q is %q although it failed: %v", test.text, got, err)
		}
	}
	if ErrDivisionByZero.Error() != "Division by zero" {
		t.Errorf("ErrDivisionByZero is %q", ErrDivisionByZero)
	}
}

// Errors about values do not repeat them: they may be confidential.
func TestErrorsKeepValuesSecret(t *testing.T) {
	_, err := evaluate(t, "{a}", map[string]string{"a": "secret"}, 2)
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got the error %v, want one without the value", err)
	}
}

func TestDecimalsOutOfRange(t *testing.T) {
	for _, decimals := range []int{-1, MaxDecimals + 1} {
		errtest.Fails(t, fmt.Sprintf("%d decimals are accepted", decimals), errtest.Of(evaluate(t, "1", nil, decimals)))
	}
}

func TestVariables(t *testing.T) {
	f := errtest.Must(Parse("{b}+{a}*{b}-{ b}"))(t)
	want := []string{"b", "a", " b"}
	if got := f.Variables(); !slices.Equal(got, want) {
		t.Errorf("Variables() = %q, want %q", got, want)
	}
	f.Variables()[0] = "changed"
	if got := f.Variables(); !slices.Equal(got, want) {
		t.Errorf("Variables() = %q after a caller has changed its copy, want %q", got, want)
	}
	if f.String() != "{b}+{a}*{b}-{ b}" {
		t.Errorf("String() = %q", f)
	}
	var asked []string
	errtest.Fatal(t,
		errtest.Of(f.Evaluate(func(key string) (string, bool) { asked = append(asked, key); return "1", true }, 2)))
	if !slices.Equal(asked, want) {
		t.Errorf("Evaluate asked for %q, want %q", asked, want)
	}
}

// One parsed formula serves many evaluations at once.
func TestConcurrentUse(t *testing.T) {
	f := errtest.Must(Parse("({a}+0.1)*-" + strings.Repeat("7", 40) + "/3"))(t)
	evaluateFor := func(n int) string {
		result, err := f.Evaluate(lookup(map[string]string{"a": fmt.Sprint(n)}), 2)
		if err != nil {
			return err.Error()
		}
		return result
	}
	const workers, rounds = 4, 50
	var want [rounds]string
	for n := range want {
		want[n] = evaluateFor(n)
	}
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for n := range want {
				difftest.Equal(t, fmt.Sprintf("with %d", n), want[n], evaluateFor(n))
			}
		})
	}
	wait.Wait()
}
