package terminal

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"sluice/shared/kit/difftest"
)

func TestFormatBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 999_949: "999.9 kB", 999_950: "1.0 MB", 2_147_483_647: "2.1 GB",
		5e12: "5000.0 GB",
	} {
		difftest.Equal(t, fmt.Sprintf("formatBytes(%d)", n), want, FormatBytes(n))
	}
}

func TestFormatNumber(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123",
	} {
		difftest.Equal(t, fmt.Sprintf("formatNumber(%d)", n), want, FormatNumber(n))
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("a", 600)
	for name, c := range map[string]struct {
		file   string
		offset int64
		width  int
		text   string
		column int
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
		t.Run(name, func(t *testing.T) {
			text, column := excerpt(strings.NewReader(c.file), c.offset, c.width)
			difftest.Equal(t, "excerpt", []any{c.text, c.column}, []any{text, column})
		})
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add([]byte("{\"a\":\x1b}\n{}"), int64(5), 40)
	f.Add([]byte("東京\xff\n"), int64(3), 3)
	f.Fuzz(func(t *testing.T, file []byte, offset int64, width int) {
		if offset < 0 || offset > 1<<40 || width < 0 || width > 1000 {
			return
		}
		text, column := excerpt(bytes.NewReader(file), offset, width)
		if Columns(text) > width || column > width {
			t.Errorf("%d columns, byte in column %d; want at most %d", Columns(text), column, width)
		}
		for _, r := range text {
			if unicode.IsControl(r) {
				t.Errorf("control character in %q", text)
			}
		}
	})
}

func TestWrapList(t *testing.T) {
	for want, items := range map[string][]string{
		"all:":                               nil,
		"all: 1 one":                         {"1 one"},
		"all: 1 one,\n  2 two, 3 three":      {"1 one", "2 two", "3 three"},
		"all: much longer than the width":    {"much longer than the width"},
		"all: much longer than the,\n  a, b": {"much longer than the", "a", "b"},
	} {
		difftest.Equal(t, fmt.Sprintf("wrapList(%q)", items), want,
			strings.TrimRight(WrapList("all: ", items, 17), " "))
	}
}

func TestWrapWords(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		width int
		want  string
	}{
		"nothing":           {"", 5, ""},
		"just fits":         {"ab cd", 5, "ab cd"},
		"one too wide":      {"ab cd", 4, "ab\n>cd"},
		"a long word":       {"a bcdefgh i", 3, "a\n>bcdefgh\n>i"},
		"wide characters":   {"日本 日本", 8, "日本\n>日本"},
		"several breaks":    {"a b c d e", 3, "a b\n>c d\n>e"},
		"the first is long": {"abcdef g", 3, "abcdef\n>g"},
	} {
		t.Run(name, func(t *testing.T) {
			difftest.Equal(t, "WrapWords", c.want, WrapWords(c.text, ">", c.width))
		})
	}
}
