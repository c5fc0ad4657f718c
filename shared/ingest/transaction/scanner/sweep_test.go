package scanner

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
	"sluice/shared/kit/difftest"
)

// Values that are read several bytes at a time are damaged at every byte: it is removed, replaced, and something is
// inserted before it. The scanner must agree with the oracle about each of them.
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
	rules := comparedRules()[1]
	s := New(rules)
	for _, value := range values {
		compare := func(damaged string) {
			if diff := oracleDiff(s, []byte(lineWith(t, value, damaged)), rules); diff != "" {
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

// The fast path and the slow path meet at these values: numbers of many digits, ends of months, fractions of every
// length.
func TestLongAndLastValues(t *testing.T) {
	var cases [][2]string
	for n := range 24 {
		nines := strings.Repeat("9", n)
		cases = append(cases, [2]string{`"id":7`, `"id":1` + nines}, [2]string{`"id":7`, `"id":-` + nines + "1"},
			[2]string{`"card_number":42`, `"card_number":0` + nines}, [2]string{`-12.5`, "-0." + nines},
			[2]string{`-12.5`, nines + ".5"},
			[2]string{`"2026-01-31T10:00:00.123"`, `"2026-01-31T10:00:00.` + nines + `"`})
	}
	for _, id := range []string{
		"2147483647", "2147483648", "-2147483648", "-2147483649", "-0", "00", "-", "1e2", "1.0", "1.",
	} {
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
				date := fmt.Sprintf(`"%04d-%02d-%02dT23:59:59Z"`, year, month, day)
				cases = append(cases, [2]string{`"2026-01-31T10:00:00.123"`, date})
			}
		}
	}
	rules := comparedRules()[1]
	s := New(rules)
	for _, c := range cases {
		if diff := oracleDiff(s, []byte(lineWith(t, c[0], c[1])), rules); diff != "" {
			t.Fatalf("%s: oracle (-), scanner (+):\n%s", c[1], diff)
		}
	}
}

func TestDaysSince1970(t *testing.T) {
	day := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	for ; day.Year() < 2500; day = day.AddDate(0, 0, 1) {
		year, month, n := day.Date()
		difftest.Equal(t, fmt.Sprintf("daysSince1970 of %s", day), int(day.Unix()/86400),
			daysSince1970(year, int(month), n))
		if got := daysIn(year, int(month)); n > got {
			t.Fatalf("daysIn the month of %s = %d, want at least %d", day, got, n)
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
			quoted, _, isClosed := strings.Cut(string(text[1:]), `"`)
			if text[0] == '"' && isClosed && slices.Contains(f.Enum, quoted) {
				want = len(quoted) + 2
			}
			difftest.Equal(t, fmt.Sprintf("match(%q)", text[:len(value)+2]), want, f.enum.match(text, 0))
		}
		text[at] = original
	}
}

// A duplicate key is found wherever its two places are, among few keys and among many, and only within one object.
func TestDuplicateAmongKeys(t *testing.T) {
	for _, place := range []struct {
		name string

		// old is the text of goodLine that format replaces; format has the members as its only argument.
		old, format string
	}{
		{"string map", `"additional_fields":{"payment_category":"goods"}`, `"additional_fields":{%s}`},
		{"object that is not in the schema", `"x":[1,{"y":null}]`, `"x":{%s}`},
		{"object of the schema", `"k":"v"`, `%s`},
	} {
		t.Run(place.name, func(t *testing.T) {
			s := New(defaultRules())
			for _, n := range []int{1, 2, maxLinearKeys - 1, maxLinearKeys, maxLinearKeys + 1, maxLinearKeys + 2} {
				for repeated := range n {
					for at := range n + 1 {
						members := membersWithRepeat(n, repeated, at)
						text := fmt.Sprintf(place.format, strings.Join(members, ","))
						testDuplicate(t, s, lineWith(t, place.old, text), at < n)
						one := fmt.Sprintf(place.format, members[n-1])
						testDuplicate(t, s, lineWith(t, place.old, one), false)
					}
				}
			}
		})
	}
}

// membersWithRepeat returns n pairs of members, the keys of the first ones being k0, k1 and so on. The key with the
// number repeated comes again before the pair with the number at, if there is one.
func membersWithRepeat(n, repeated, at int) (members []string) {
	for k := range n {
		if k == at {
			members = append(members, fmt.Sprintf(`"k%d":"again"`, repeated))
		}
		members = append(members, fmt.Sprintf(`"k%d":"","n%d":{"k0":"inner","k%d":""}`, k, k, n))
	}
	return members
}

func testDuplicate(t *testing.T, s *Scanner, line string, want bool) {
	t.Helper()
	if diff := oracleDiff(s, []byte(line), defaultRules()); diff != "" {
		t.Fatalf("%s: oracle (-), scanner (+):\n%s", line, diff)
	}
	findings := s.result.Findings
	if got := len(findings) > 0 && findings[0].Code == transaction.CodeJSONDuplicateKey; got != want {
		t.Fatalf("%s: got %v, want a duplicate key: %v", line, findings, want)
	}
}

// White space of any kind is put at every place, where JSON allows it and where it does not.
func TestWhiteSpaceAnywhere(t *testing.T) {
	s := New(defaultRules())
	for i := range len(goodLine) + 1 {
		for _, space := range []string{" ", "  ", "\t", " \r "} {
			line := goodLine[:i] + space + goodLine[i:]
			if diff := oracleDiff(s, []byte(line), defaultRules()); diff != "" {
				t.Fatalf("%q at %d: oracle (-), scanner (+):\n%s", space, i, diff)
			}
		}
	}
}

// A field that is null counts as absent: for each field of each object, whether the line has it besides or not.
func TestNullForEachField(t *testing.T) {
	for _, c := range []struct {
		object  *schema.Object
		opening string
	}{
		{schema.Transaction, `{`},
		{schema.Entity, `"receiver":{`},
		{schema.Entity, `"sender":{`},
		{schema.Unknown, `"unknown":{`},
		{schema.Modification, `"modification":{`},
		{schema.Address, `"addresses":[{`},
		{schema.PaymentOption, `"payment_options":[{`},
	} {
		t.Run(c.object.Name+" in "+c.opening, func(t *testing.T) {
			s := New(defaultRules())
			before, after, _ := strings.Cut(goodLine, c.opening)
			_, afterObject, _ := strings.Cut(after, "}")
			for i := range c.object.Fields {
				for _, null := range []string{"null", " null", "nul", "nulls", "Null"} {
					member := `"` + c.object.Fields[i].Name + `":` + null
					added := before + c.opening + member + "," + after
					alone := before + c.opening + member + "}" + afterObject
					for _, line := range []string{added, alone} {
						if diff := oracleDiff(s, []byte(line), defaultRules()); diff != "" {
							t.Fatalf("%s: oracle (-), scanner (+):\n%s", line, diff)
						}
					}
				}
			}
		})
	}
}
