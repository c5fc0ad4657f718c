package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"sluice/client"
)

func TestSizesAndNumbers(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 999_949: "999.9 kB", 999_950: "1.0 MB", 2_147_483_647: "2.1 GB", 5e12: "5000.0 GB",
	} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123"} {
		if got := number(n); got != want {
			t.Errorf("number(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		done, whole int64
		want        string
	}{{0, 10, "[----]"}, {4, 10, "[#---]"}, {5, 10, "[##--]"}, {10, 10, "[####]"}, {11, 10, "[####]"}, {-1, 10, "[----]"}, {0, 0, "[####]"}} {
		if got := bar(c.done, c.whole, 4); got != c.want {
			t.Errorf("bar(%d, %d) = %s, want %s", c.done, c.whole, got, c.want)
		}
	}
}

func TestTheChangingLineStaysBelow(t *testing.T) {
	var out bytes.Buffer
	c := &console{w: &out, width: 10}
	c.show("one")
	c.show("one")
	c.printf("text\n")
	c.show("longer than the terminal")
	c.show("")
	c.printf("%s\n", c.paint(red, "end"))
	const clear = "\r\x1b[2K"
	want := clear + "one" + clear + "text\none" + clear + "longer th" + clear + "end\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if c.color = true; c.paint(red, "x") != "\x1b[31mx\x1b[0m" || c.paint(red, "") != "" {
		t.Error(c.paint(red, "x"))
	}
}

func TestWithoutATerminalNothingChanges(t *testing.T) {
	var out bytes.Buffer
	c := newConsole(&out)
	c.show("bar")
	c.printf("line\n")
	if out.String() != "line\n" {
		t.Errorf("%q", out.String())
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("a", 600)
	for name, c := range map[string]struct {
		file   string
		offset int64
		width  int
		text   string
		mark   int
	}{
		"first byte":         {"{}\n{}\n", 0, 20, "{}", 0},
		"second line":        {"{}\n[1]\n{}", 4, 20, "[1]", 1},
		"end of a line":      {"{\"a\":\r\n{}", 5, 20, `{"a":`, 5},
		"end of the file":    {"{\"a\":", 5, 20, `{"a":`, 5},
		"beyond the file":    {"{}", 3, 20, "", 0},
		"controls":           {"\x1b[31m\t\x00", 0, 20, "␛[31m␉␀", 0},
		"after a control":    {"\x1b[31m\t\x00", 5, 20, "␛[31m␉␀", 5},
		"invalid UTF-8":      {"caf\xe9!", 3, 20, "caf\uFFFD!", 3},
		"wide characters":    {"東京都!", 9, 20, "東京都!", 6},
		"hidden characters":  {"a\u202eb", 4, 20, "a·b", 2},
		"long before":        {long + "!", 600, 20, "aaaaaaaaaaaaaaaaaaa!", 19},
		"long after":         {"!" + long, 0, 20, "!" + long[:19], 0},
		"long on both sides": {long + "!" + long, 600, 20, "aaaaaaaaaa!aaaaaaaaa", 10},
		"cut in a character": {strings.Repeat("é", 400) + "!", 800, 11, "éééééééééé!", 10},
	} {
		text, mark := excerpt(strings.NewReader(c.file), c.offset, c.width)
		if text != c.text || mark != c.mark {
			t.Errorf("%s: %q, mark %d; want %q, %d", name, text, mark, c.text, c.mark)
		}
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add([]byte("{\"a\":\x1b}\n{}"), int64(5), 40)
	f.Add([]byte("東京\xff\n"), int64(3), 3)
	f.Fuzz(func(t *testing.T, file []byte, offset int64, width int) {
		if offset < 0 || offset > 1<<40 || width < 0 || width > 1000 {
			return
		}
		text, mark := excerpt(bytes.NewReader(file), offset, width)
		if columns(text) > width || mark > width {
			t.Errorf("%d columns, mark %d, width %d", columns(text), mark, width)
		}
		for _, r := range text {
			if unicode.IsControl(r) {
				t.Errorf("control character in %q", text)
			}
		}
	})
}

func TestWrap(t *testing.T) {
	for want, items := range map[string][]string{
		"all:":                               nil,
		"all: 1 one":                         {"1 one"},
		"all: 1 one,\n  2 two, 3 three":      {"1 one", "2 two", "3 three"},
		"all: much longer than the width":    {"much longer than the width"},
		"all: much longer than the,\n  a, b": {"much longer than the", "a", "b"},
	} {
		title := "all: "
		if got := strings.TrimRight(wrap(title, items, 17), " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestReadErrors(t *testing.T) {
	report := `{"line":1,"errors":[{"type":"missing","loc":["a"]},{"type":"enum","loc":["b",0]}]}
{"line":7,"errors":[{"type":"missing","loc":["c"]}]}
`
	first := int64(strings.Index(report, "\n"))
	for limit, want := range map[int64]map[string]int64{
		first - 1:              {},
		first:                  {"missing": 1, "enum": 1},
		int64(len(report)) - 2: {"missing": 1, "enum": 1},
		int64(len(report)) - 1: {"missing": 2, "enum": 1},
	} {
		seen, err := readErrors(strings.NewReader(report), limit)
		if err != nil || seen.cut != (limit < int64(len(report))-1) {
			t.Errorf("%d bytes: %v, cut %v", limit, err, seen.cut)
		}
		if diff := cmp.Diff(want, seen.counts); diff != "" || len(seen.first) != len(want) {
			t.Errorf("%d bytes: %s %+v", limit, diff, seen.first)
		}
	}
	for _, broken := range []string{"{\n", "{\"line\":\n", "[]\n"} {
		if _, err := readErrors(strings.NewReader(broken), 1000); err == nil {
			t.Errorf("%q was read", broken)
		}
	}
}

func TestOthers(t *testing.T) {
	for want, e := range map[string]client.ReportError{
		"2":                        {OtherLines: []int64{2}, OtherLinesTotal: 1},
		"1, 2, 3, 4, 5":            {OtherLines: []int64{1, 2, 3, 4, 5}, OtherLinesTotal: 5},
		"1, 2, 3, 4, 5 and 1 more": {OtherLines: []int64{1, 2, 3, 4, 5, 6}, OtherLinesTotal: 6},
		"1,000 and 1,999 more":     {OtherLines: []int64{1000}, OtherLinesTotal: 2000},
	} {
		if got := others(e); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
