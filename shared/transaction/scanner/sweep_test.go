package scanner

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/shared/transaction"
	"sluice/shared/transaction/schema"
)

// Values that are read in words of several bytes at a time, each damaged at every byte in every way that matters to
// such words: replaced, removed, and with something put in before it. The oracle says what it is then.
func TestEveryByteOfAValue(t *testing.T) {
	values := []string{
		`"2026-01-31T10:00:00.123"`, `"2026-01-31T10:00:00+01:00"`, `"0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e11"`,
		`"192.168.0.1"`,
		`"2001:db8::1"`, `"settlement"`, `"label":"sender"`, `"Y"`, `-12.5`, `"id":7`, `"card_number":42`, `"XK"`,
		`"EUR"`,
		`"ABCDDEFF"`, `"DE89"`, `"external_entity_type":"unknown"`, `"known-1"`, `"Zoë Ωmega"`,
		`"payment_category":"goods"`,
	}
	const bytes = "/09:AGZgz.-+e \"\\\x00\x1f\x7f\x80\xc3"
	rules := everyRule()[1]
	s := New(rules)
	for _, value := range values {
		compare := func(damaged string) {
			if diff := disagreement(s, []byte(lineWith(t, value, damaged)), rules); diff != "" {
				t.Fatalf("%s: oracle (-), scanner (+):\n%s", damaged, diff)
			}
		}
		for i := range value {
			compare(value[:i] + value[i+1:])
			for _, c := range []byte(bytes) {
				compare(value[:i] + string([]byte{c}) + value[i+1:])
			}
			for _, c := range []byte("0a. \"\\") {
				compare(value[:i] + string([]byte{c}) + value[i:])
			}
		}
	}
}

// Boundaries of what a fast reading takes: numbers of many digits, the ends of months, fractions of every length.
func TestLongAndLastValues(t *testing.T) {
	var cases [][2]string
	for n := range 24 {
		nines := strings.Repeat("9", n)
		cases = append(cases, [2]string{`"id":7`, `"id":1` + nines}, [2]string{`"id":7`, `"id":-` + nines + "1"},
			[2]string{`"card_number":42`, `"card_number":0` + nines}, [2]string{`-12.5`, "-0." + nines},
			[2]string{`-12.5`, nines + ".5"},
			[2]string{`"2026-01-31T10:00:00.123"`, `"2026-01-31T10:00:00.` + nines + `"`})
	}
	for _, id := range []string{"2147483647", "2147483648", "-2147483648", "-2147483649", "-0", "00", "-", "1e2", "1.0",
		"1."} {
		cases = append(cases, [2]string{`"id":7`, `"id":` + id})
	}
	for n := range 66 {
		cases = append(cases, [2]string{`"2026-01-31T10:00:00.123"`, fmt.Sprintf(`"2026-01-31T%02d:00:00"`, n)},
			[2]string{`"2026-01-31T10:00:00.123"`, fmt.Sprintf(`"2026-01-31T00:%02d:%02dZ"`, n, min(n, 59))},
			[2]string{`"2026-01-31T10:00:00.123"`, fmt.Sprintf(`"2026-01-31T00:00:%02d"`, n)},
			[2]string{`"2026-01-31T10:00:00.123"`, fmt.Sprintf(`"2026-01-31T00:00:00-%02d:00"`, n)},
			[2]string{`"2026-01-31T10:00:00.123"`, fmt.Sprintf(`"2026-01-31T00:00:00+00:%02d"`, n)})
	}
	for _, year := range []int{0, 1, 1900, 1999, 2000, 2024, 2025, 2100, 9999} {
		for month := range 14 {
			for _, day := range []int{0, 1, 28, 29, 30, 31, 32} {
				cases = append(cases, [2]string{`"2026-01-31T10:00:00.123"`, fmt.Sprintf(`"%04d-%02d-%02dT23:59:59Z"`,
					year, month, day)})
			}
		}
	}
	rules := everyRule()[1]
	s := New(rules)
	for _, c := range cases {
		if diff := disagreement(s, []byte(lineWith(t, c[0], c[1])), rules); diff != "" {
			t.Fatalf("%s: oracle (-), scanner (+):\n%s", c[1], diff)
		}
	}
}

func TestDaysSince1970(t *testing.T) {
	day := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	for ; day.Year() < 2500; day = day.AddDate(0, 0, 1) {
		year, month, n := day.Date()
		if got, want := daysSince1970(year, int(month), n), int(day.Unix()/86400); got != want || n > daysIn(year,
			int(month)) {
			t.Fatalf("%s: day %d, want %d; its month has %d days", day, got, want, daysIn(year, int(month)))
		}
	}
}

// The table of an enumeration matches each of its values, and nothing that differs from one in a byte.
func TestEnumTables(t *testing.T) {
	for _, o := range schema.Objects {
		for i := range o.Fields {
			f := &compile(o).fields[i]
			for _, value := range f.Enum {
				t.Run(o.Name+"."+f.Name+"/"+value, func(t *testing.T) {
					testEnumValue(t, f, value)
				})
			}
		}
	}
}

func testEnumValue(t *testing.T, f *field, value string) {
	text := append([]byte(`"`+value+`"`), make([]byte, padding)...)
	for at := range len(value) + 2 {
		original := text[at]
		for c := range 256 {
			text[at] = byte(c)
			want := declined
			if quoted, _, closed := strings.Cut(string(text[1:]), `"`); text[0] == '"' && closed &&
				slices.Contains(f.Enum, quoted) {
				want = len(quoted) + 2
			}
			if got := f.enum.match(text, 0); got != want {
				t.Fatalf("match(%q) = %d, want %d", text[:len(value)+2], got, want)
			}
		}
		text[at] = original
	}
}

// A key that is there twice is found wherever the two are, among few keys and among many, and only within one object.
func TestDuplicateAmongKeys(t *testing.T) {
	s := New(defaultRules())
	for _, within := range []string{`"additional_fields":{"payment_category":"goods"}`, `"x":[1,{"y":null}]`,
		`"k":"v"`} {
		for _, n := range []int{1, 2, maxLinearKeys - 1, maxLinearKeys, maxLinearKeys + 1, maxLinearKeys + 2} {
			for twice := range n {
				for at := range n + 1 {
					var keys []string
					for k := range n {
						if k == at {
							keys = append(keys, fmt.Sprintf(`"k%d":"again"`, twice))
						}
						keys = append(keys, fmt.Sprintf(`"k%d":"","n%d":{"k0":"inner","k%d":""}`, k, k, n))
					}
					for text, want := range map[string]transaction.Code{strings.Join(keys,
						","): transaction.CodeJSONDuplicateKey, keys[n-1]: ""} {
						if at == n && want != "" {
							continue // the key was left out
						}
						text := map[byte]string{'a': `"additional_fields":{` + text + `}`, 'x': `"x":{` + text + `}`,
							'k': text}[within[1]]
						if diff := disagreement(s, []byte(lineWith(t, within, text)), defaultRules()); diff != "" {
							t.Fatalf("%s: oracle (-), scanner (+):\n%s", text, diff)
						}
						if broken := len(s.result.Findings) > 0 &&
							s.result.Findings[0].Code == transaction.CodeJSONDuplicateKey; broken != (want != "") {
							t.Fatalf("%s: %v", text, s.result.Findings)
						}
					}
				}
			}
		}
	}
}

// White space of any kind, wherever a writer may put it and wherever he may not.
func TestWhiteSpaceAnywhere(t *testing.T) {
	s := New(defaultRules())
	for i := range len(goodLine) + 1 {
		for _, space := range []string{" ", "  ", "\t", " \r "} {
			line := goodLine[:i] + space + goodLine[i:]
			if diff := disagreement(s, []byte(line), defaultRules()); diff != "" {
				t.Fatalf("%q at %d: oracle (-), scanner (+):\n%s", space, i, diff)
			}
		}
	}
}

// A null stands for a field that is not there: for each field of each object, whether it is there besides or not.
func TestNullForEachField(t *testing.T) {
	s := New(defaultRules())
	for _, c := range []struct {
		o       *schema.Object
		opening string
	}{
		{schema.Transaction, "{"}, {schema.Entity, `"receiver":{`}, {schema.Entity, `"sender":{`}, {schema.Unknown,
			`"unknown":{`}, {schema.Modification, `"modification":{`},
		{schema.Address, `"addresses":[{`}, {schema.PaymentOption, `"payment_options":[{`},
	} {
		before, after, _ := strings.Cut(goodLine, c.opening)
		for i := range c.o.Fields {
			for _, null := range []string{"null", " null", "nul", "nulls", "Null"} {
				member := `"` + c.o.Fields[i].Name + `":` + null
				_, rest, _ := strings.Cut(after, "}") // the object with this member alone
				for _, line := range []string{before + c.opening + member + "," + after, before + c.opening + member +
					"}" + rest} {
					if diff := disagreement(s, []byte(line), defaultRules()); diff != "" {
						t.Fatalf("%s: oracle (-), scanner (+):\n%s", line, diff)
					}
				}
			}
		}
	}
}
