package output

import (
	"bytes"
	"fmt"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// Objects become rows with a column for each member that any of them has; everything else keeps its place.
func TestNewRows(t *testing.T) {
	for _, c := range []struct {
		printed string
		want    [][]string
	}{
		{`null`, nil},
		{`[]`, nil},
		{`"a, b"`, [][]string{{"a, b"}}},
		{`[1, null, true, "x"]`, [][]string{{"1"}, {""}, {"true"}, {"x"}}},
		{`[["a", {"b": 1}], []]`, [][]string{{"a", `{"b":1}`}, nil}},
		{`{"b": 1, "a": {"c": [1, 2], "d": {}}}`, [][]string{{"b", "a.c"}, {"1", "[1,2]"}}},
		{`[{"b": 1e400}, {"a": "x"}, {"b": null, "a": 12345678901234567890}]`,
			[][]string{{"b", "a"}, {"1e400", ""}, {"", "x"}, {"", "12345678901234567890"}}},
	} {
		difftest.Equal(t, c.printed, c.want, errtest.Must(newRows([]byte(c.printed)))(t))
	}
}

// What a terminal would not show as it is arrives escaped, in however many pieces it is written.
func TestEscaper(t *testing.T) {
	const text, want = "{\n\t\"a\": \"é\u202e\u009b\U000e0041\u2028中\"}\n",
		"{\n\t\"a\": \"é\\u202e\\u009b\\udb40\\udc41\\u2028中\"}\n"
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		e := &escaper{w: &out}
		for i := 0; i < len(text); i += size {
			_, err := e.Write([]byte(text[i:min(i+size, len(text))]))
			errtest.Fatal(t, err)
		}
		difftest.Equal(t, fmt.Sprintf("in pieces of %d bytes", size), want, out.String())
	}
}
