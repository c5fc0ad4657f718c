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
	got, err := os.ReadFile(path)
	errtest.Fatal(t, err)
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
may have a key twice, and nothing may be nested deeper than 64 levels. Lengths are in characters; those of IDs in bytes
of UTF-8.
`)
	fmt.Fprintf(&b, "\n## An example\n\nIn a file it is one line. It is valid if the sender is onboarded: "+
		"`sluice validate` says so for a file and a list of entities.\n\n```json\n%s```\n", ExampleLine)
	for _, o := range Objects {
		extra := "Other keys are allowed and ignored."
		if o.Closed {
			extra = "Other keys are errors."
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| Field | Required | Value | Meaning |\n|---|---|---|---|\n", o.Name, extra)
		for i := range o.Fields {
			f := &o.Fields[i]
			required := ""
			if f.Required {
				required = "yes"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.Name, required, valueRule(f), o.Description(f))
		}
	}
	return b.String()
}

func valueRule(f *Field) string {
	switch f.Kind {
	case KindString:
		if f.Max == Unlimited {
			return "string"
		}
		return "string; " + f.LengthRule()
	case KindID:
		return "string; " + f.LengthRule()
	case KindUUID:
		return "string; a UUID, 8-4-4-4-12 hexadecimal digits"
	case KindEnum:
		return "string; " + f.EnumList()
	case KindEntityType:
		return "string; unknown"
	case KindCountry:
		return "string; ISO 3166 alpha-2 in upper case, XK and codes withdrawn since 1999 included"
	case KindCurrency:
		return "string; ISO 4217 in upper case, codes withdrawn since 1999 included"
	case KindDateTime, KindCreatedAt:
		return "string; RFC 3339 date-time, the offset may be left out for UTC"
	case KindIP:
		return "string; an IPv4 or IPv6 address, " + f.LengthRule()
	case KindBIC:
		return "string; 8 or 11 letters and digits"
	case KindNumber:
		return "number; " + f.RangeRule()
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
