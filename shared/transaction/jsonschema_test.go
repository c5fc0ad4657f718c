package transaction

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the documents that are made from the schema table anew")

func TestPublishedSchemaIsTheTable(t *testing.T) {
	document(t, "line.schema.json", string(JSONSchema()))
}

func TestFieldListIsTheTable(t *testing.T) {
	document(t, "line-fields.md", fieldList())
}

func document(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", name)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Fatalf("schema table (-), docs/%s (+); go test ./shared/transaction -update writes it anew:\n%s", name, diff)
	}
}

// fieldList is the schema table for people.
func fieldList() string {
	var b strings.Builder
	b.WriteString(`# The fields of a line

Made from the schema table of shared/transaction; line.schema.json is the same for programs, errors.md explains the codes.

A line is one Transaction as a JSON object of at most 256 KiB. null stands for absent, everywhere. No object may have a key
twice, and nothing may be nested deeper than 64 levels. Lengths are in characters, of IDs in bytes of UTF-8.
`)
	for _, o := range schemaObjects {
		extra := "Other keys are allowed and ignored."
		if o.closed {
			extra = "Other keys are errors."
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| Field | Required | Value |\n|---|---|---|\n", o.name, extra)
		for i := range o.fields {
			f := &o.fields[i]
			required := ""
			if f.required {
				required = "yes"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", f.name, required, valueRule(f))
		}
	}
	return b.String()
}

func valueRule(f *field) string {
	switch f.kind {
	case kindText:
		if f.max == unlimited {
			return "string"
		}
		return "string; " + f.lengthRule()
	case kindID:
		return "string; " + f.lengthRule()
	case kindUUID:
		return "string; a UUID, 8-4-4-4-12 hexadecimal digits"
	case kindEnum:
		return "string; " + listed(f.enum)
	case kindEntityType:
		return "string; unknown"
	case kindCountry:
		return "string; ISO 3166 alpha-2 in upper case, XK and codes withdrawn since 1999 included"
	case kindCurrency:
		return "string; ISO 4217 in upper case, codes withdrawn since 1999 included"
	case kindDateTime, kindCreatedAt:
		return "string; RFC 3339 date-time, the offset may be left out for UTC"
	case kindIP:
		return "string; an IPv4 or IPv6 address, " + f.lengthRule()
	case kindBIC:
		return "string; 8 or 11 letters and digits"
	case kindNumber:
		return "number; " + f.rangeRule()
	case kindInteger:
		return "whole number; " + f.rangeRule()
	case kindObject, kindEntity:
		return f.object.name
	case kindObjects:
		return "array of " + f.object.name
	case kindTexts:
		return "array of strings"
	case kindTextMap:
		return "object of any keys with string values"
	case kindNotHere:
		return "must be absent"
	}
	panic("a kind without a rule")
}
