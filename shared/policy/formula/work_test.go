package formula

import (
	"strings"
	"testing"

	"github.com/cockroachdb/apd/v3"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// worstFormulas are the formulas that cost most among those that are admitted, each with the value of its field.
func worstFormulas() map[string][2]string {
	big, small := "1"+strings.Repeat("0", 199), "0."+strings.Repeat("0", 197)+"7"
	const digits = "1234567890123456789012345678901234"
	huge, tiny := "("+strings.Repeat("{a}*", 4)+"{a})", "(1/{a}/{a}/{a}/{a}/{a})"
	return map[string][2]string{
		"sums of numbers far apart":  {strings.Repeat("("+huge+"+"+tiny+")-", 45) + "1", big},
		"products of zeros":          {"0" + strings.Repeat("*{a}", 499), "0." + strings.Repeat("0", 198)},
		"quotients":                  {"{a}" + strings.Repeat("/3", 499), digits},
		"products that grow and not": {"{a}" + strings.Repeat("*{a}/{a}", 249), digits},
		"sums of long numbers":       {"{a}" + strings.Repeat("+"+digits+"*0.1", 90), small},
		"signs":                      {strings.Repeat("-", 999) + "{a}", digits},
		"nesting":                    {strings.Repeat("(1+{a}*(1/", 32) + "{a}" + strings.Repeat("))", 32), digits},
	}
}

// Work is bounded, which needs no clock: every instruction runs once, and its operands have a bounded number of digits
// and lie within a bounded range, so that aligning two of them is bounded, too.
func TestWorkIsBounded(t *testing.T) {
	const maxDigitsAligned = 2*maxExponent + 2*Precision
	for name, worst := range worstFormulas() {
		t.Run(name, func(t *testing.T) {
			f := errtest.Must(Parse(worst[0]))(t)
			if len(f.program) > MaxNodes || f.stackSize > 3*MaxDepth+3 {
				t.Errorf("%d instructions on a stack of %d, want at most %d and %d", len(f.program), f.stackSize,
					MaxNodes, 3*MaxDepth+3)
			}
			m := machine{
				formula: f, values: make([]apd.Decimal, len(f.variables)),
				stack: make([]*apd.Decimal, f.stackSize), results: make([]apd.Decimal, f.stackSize),
			}
			errtest.Fatal(t, m.readValues(lookup(map[string]string{"a": worst[1]})))
			for i, in := range f.program {
				if err := m.step(in); err != nil {
					t.Fatalf("instruction %d: %v", i, err)
				}
				d := m.stack[m.size-1]
				if n := d.NumDigits(); n > Precision {
					t.Fatalf("after instruction %d a number has %d digits, want at most %d", i, n, Precision)
				}
				if e := int(d.Exponent); e > maxExponent || e < -maxExponent-Precision {
					t.Fatalf("after instruction %d a number has the exponent %d", i, e)
				}
				if m.size > 1 {
					if gap := int(d.Exponent) - int(m.stack[m.size-2].Exponent); max(gap, -gap) > maxDigitsAligned {
						t.Fatalf("after instruction %d two operands are %d digits apart, want at most %d", i, gap,
							maxDigitsAligned)
					}
				}
			}
			difftest.Equal(t, "operands remain", 1, m.size)
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for name, worst := range worstFormulas() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				errtest.Fatal(b, errtest.Of(Parse(worst[0])))
			}
		})
	}
}

func BenchmarkEvaluate(b *testing.B) {
	for name, worst := range worstFormulas() {
		f := errtest.Must(Parse(worst[0]))(b)
		value := lookup(map[string]string{"a": worst[1]})
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				errtest.Fatal(b, errtest.Of(f.Evaluate(value, DefaultDecimals)))
			}
		})
	}
}
