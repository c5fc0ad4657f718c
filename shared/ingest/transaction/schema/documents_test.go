package schema

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/errtest"
)

var update = flag.Bool("update", false, "rewrite the documents that are made from the schema table")

func TestPublishedSchemaIsTheTable(t *testing.T) {
	document(t, "line.schema.json", string(JSONSchema()))
}

func TestFieldListIsTheTable(t *testing.T) {
	document(t, "line-fields.md", fieldList())
}

func TestEveryFieldIsDescribed(t *testing.T) {
	known := map[string]bool{}
	for _, o := range Objects {
		for i := range o.Fields {
			known[o.Name+"."+o.Fields[i].Name] = true
			if o.Description(&o.Fields[i]) == "" {
				t.Errorf("the field %s.%s has no description: add one to descriptions.go", o.Name, o.Fields[i].Name)
			}
		}
	}
	for name := range descriptions {
		if !known[name] {
			t.Errorf("descriptions.go describes %s, which is not a field of the table", name)
		}
	}
}

func document(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join("..", "..", "..", "..", "docs", name)
	if *update {
		errtest.Fatal(t, os.WriteFile(path, []byte(want), 0o644))
	}
	got := errtest.Must(os.ReadFile(path))(t)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		const format = "schema table (-), docs/%s (+); run go test ./shared/ingest/transaction/schema -update:\n%s"
		t.Fatalf(format, name, diff)
	}
}

// fieldList is the schema table for people.
func fieldList() string {
	var b strings.Builder
	b.WriteString(`# The fields of a line

Made from the table in shared/ingest/transaction/schema. line.schema.json is the same for programs; errors.md
explains the codes.

A line is one Transaction as a JSON object of at most 256 KiB. A null as the value of a key counts as absent. No object
may have a key twice, and nothing may be nested deeper than 64 levels. Required fields are in bold. A text is any
string; [Lines](contract/transaction-lines.md#values) has the rules of IDs, UUIDs, numbers, date-times, countries,
currencies, IP addresses and BICs.
`)
	fmt.Fprintf(&b, "\n## An example\n\nIn a file it is one line. It is valid if the sender is onboarded.\n\n"+
		"```json\n%s```\n", ExampleLine)
	for _, o := range Objects {
		extra := "Other keys are allowed and ignored."
		if o.Closed {
			extra = "Other keys are errors."
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", o.Name, extra)
		for i := range o.Fields {
			f := &o.Fields[i]
			name := f.Name
			if f.Required {
				name = "**" + name + "**"
			}
			fmt.Fprintf(&b, "- %s (%s): %s.\n", name, valueRule(f), o.Description(f))
		}
	}
	return b.String()
}

func valueRule(f *Field) string {
	switch f.Kind {
	case KindString:
		if f.Max == Unlimited {
			return "text"
		}
		return strings.TrimSuffix(f.LengthRule(), " are allowed")
	case KindID:
		if f.Min != 1 || f.Max != 255 {
			panic("the contract gives another length of IDs")
		}
		return "ID"
	case KindUUID:
		return "UUID"
	case KindEnum:
		return f.EnumList()
	case KindEntityType:
		return "unknown"
	case KindCountry:
		return "country"
	case KindCurrency:
		return "currency"
	case KindDateTime, KindCreatedAt:
		return "date-time"
	case KindIP:
		return "IP address, " + strings.TrimSuffix(f.LengthRule(), " are allowed")
	case KindBIC:
		return "BIC"
	case KindNumber:
		if rule := f.RangeRule(); rule != "it must fit a 64-bit floating-point number" {
			return "number, " + rule
		}
		return "number"
	case KindInteger:
		return "whole number; " + f.RangeRule()
	case KindObject, KindEntity:
		return f.Object.Name
	case KindObjects:
		return "array of " + f.Object.Name
	case KindStrings:
		return "array of strings"
	case KindStringMap:
		return "object of any keys with string values"
	case KindForbidden:
		return "must be absent"
	}
	panic("this kind has no rule")
}
