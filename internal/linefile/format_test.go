package linefile

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"sluice/shared/kit/difftest"
)

// inUTF16 encodes text, with a byte-order mark or without.
func inUTF16(order binary.AppendByteOrder, mark bool, text string) string {
	var out []byte
	if mark {
		out = order.AppendUint16(out, 0xFEFF)
	}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

// elements are the elements of an array, more than a sample holds.
func elements(separator string) string {
	var items []string
	for i := range 3000 {
		items = append(items, fmt.Sprintf(`{"transaction_external_id":"t%d","modification":{"id":"m%d"}}`, i, i))
	}
	return strings.Join(items, separator)
}

// recognize returns the name of the format of a file, or "".
func recognize(file []byte) string {
	format := Recognize(file[:min(len(file), SampleBytes)], len(file) <= SampleBytes)
	if format == nil {
		return ""
	}
	return format.Name
}

func TestForeignFormatsAreRecognized(t *testing.T) {
	const array, spread = "one JSON array", "JSON whose objects extend over several lines"
	const csv, little = "CSV (fields separated by ", "UTF-16 (little-endian) text"
	for name, c := range map[string]struct{ file, want string }{
		"gzip":                     {"\x1F\x8B\x08\x00\x00\x00", "compressed with gzip"},
		"zstd":                     {"\x28\xB5\x2F\xFD\x04", "compressed with zstd"},
		"zstd, skippable frame":    {"\x52\x2A\x4D\x18\x04", "compressed with zstd"},
		"bzip2":                    {"BZh91AY&SY\x00", "compressed with bzip2"},
		"xz":                       {"\xFD7zXZ\x00\x00", "compressed with xz"},
		"zip":                      {"PK\x03\x04\x14", "a ZIP archive (or a document of an office program)"},
		"tar":                      {"a.jsonl" + strings.Repeat("\x00", 250) + "ustar", "a tar archive"},
		"Parquet":                  {"PAR1\x15\x04", "a Parquet file"},
		"ELF":                      {"\x7FELF\x02", "an executable program"},
		"exe":                      {"MZ\x90\x00\x03", "an executable program"},
		"array":                    {`[{"a":1},{"a":2}]`, array},
		"array with a mark":        {"\xEF\xBB\xBF" + `[{"a":1},{"a":2}]` + "\n", array},
		"array of lines":           {"[{\"a\":1},\n{\"a\":2}\n]\n", array},
		"pretty array":             {"[\n  {\n    \"a\": 1\n  }\n]\n", array},
		"large array":              {"[" + elements(",") + "]", array},
		"large pretty array":       {"[\n" + elements(",\n") + "\n]", array},
		"pretty objects":           {"{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}\n", spread},
		"large object":             {"{\n\"items\": [\n" + elements(",\n") + "]\n}", spread},
		"UTF-16 with a mark":       {inUTF16(binary.LittleEndian, true, "{}\n"), "UTF-16 text"},
		"UTF-16 BE with a mark":    {inUTF16(binary.BigEndian, true, "{}\n"), "UTF-16 text"},
		"UTF-16":                   {inUTF16(binary.LittleEndian, false, "{\"ü\":1}\n"), little},
		"UTF-16 BE":                {inUTF16(binary.BigEndian, false, "{\"a\":1}\n"), "UTF-16 (big-endian) text"},
		"UTF-16, array":            {inUTF16(binary.LittleEndian, false, "[{}]"), little},
		"UTF-32 with a mark":       {"\xFF\xFE\x00\x00{\x00\x00\x00", "UTF-32 text"},
		"UTF-32":                   {"{\x00\x00\x00", "UTF-32 (little-endian) text"},
		"CSV":                      {"id,amount\nt1,5\nt2,6\n", csv + "commas)"},
		"CSV with CRLF and quotes": {"id,\"a, b\"\r\nt1,\"x\"\"\ny\"\r\n", csv + "commas)"},
		"CSV, semicolons":          {"id;amount\nt1;5,00\n", csv + "semicolons)"},
		"CSV, tabs":                {"id\tamount\nt1\t5\n", csv + "tabs)"},
		"CSV, header only":         {"id,amount,currency\n", csv + "commas)"},
		"CSV, large":               {strings.Repeat("t1,5,EUR\n", 20_000), csv + "commas)"},
		"XML":                      {"<?xml version=\"1.0\"?>\n<a/>", "XML or HTML"},
	} {
		t.Run(name, func(t *testing.T) {
			difftest.Equal(t, "recognized as", c.want, recognize([]byte(c.file)))
		})
	}
}

// What has lines that may be valid is left to validation, whatever is wrong with the others.
func TestJSONLinesAreNotRefused(t *testing.T) {
	for name, file := range map[string]string{
		"empty":                       "",
		"blank":                       " \n\n",
		"a line":                      `{"a":1}`,
		"lines":                       "{\"a\":1}\n{\"a\":2}\n",
		"a mark":                      "\xEF\xBB\xBF{\"a\":1}\n",
		"blank lines first":           "\r\n \t\r\n{\"a\":1}\r\n",
		"a long line":                 `{"a":"` + strings.Repeat("x", SampleBytes) + "\"}\n{}\n",
		"a long line with brackets":   `{"a":[` + strings.Repeat("[1,2],", SampleBytes/6) + "1]}\n",
		"a broken first line":         "{\"a\":1,}\n{\"a\":2}\n",
		"a cut first line":            "{\"a\":1\n{\"a\":2}\n{\"a\":3}\n",
		"a cut first line, long":      "{\"a\":\n" + elements("\n"),
		"an array first":              "[1,2]\n{\"a\":2}\n",
		"an array of objects first":   "[{\"a\":1}]\n{\"a\":2}\n",
		"an open array first":         "[{\"a\":1},\n" + elements("\n"),
		"arrays as lines":             "[{\"a\":1}]\n[{\"a\":2}]\n",
		"a comment first":             "# a, b, c\n{\"a\":2}\n",
		"a CSV header before objects": "id,amount\n{\"a\":2}\n",
		"values":                      "1\n2\n",
		"text":                        "hello\n",
		"ustar in a line":             `{"a":"` + strings.Repeat("x", 251) + "ustar\"}\n",
	} {
		t.Run(name, func(t *testing.T) {
			difftest.Equal(t, "recognized as", "", recognize([]byte(file)))
		})
	}
}

// isObject reports whether a line is a JSON object.
func isObject(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 0 && line[0] == '{' && json.Valid(line)
}

// FuzzRecognizeFormat checks that no file is refused whose first line, or whose every line, is a JSON object, whatever
// follows it and wherever the sample ends.
func FuzzRecognizeFormat(f *testing.F) {
	for _, seed := range []string{
		"{\"a\":1}\n[{\"a\":2}]",
		"\xEF\xBB\xBF{\"a\":\"\\u0000\"}\r\n\x1F\x8B\x08", " {}\n,,\n,,", "[\n{}\n]", "a,b\nc,d",
		"\x1F\x8B\x08", "{\n}", "{\"a\":[\n{}]}\n", inUTF16(binary.LittleEndian, false, "{}"), "PK\x03\x04",
		"MZ\x00", "<a>",
	} {
		f.Add([]byte(seed), len(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte, cut int) {
		sample, whole := file, true
		if cut >= 0 && cut < len(file) {
			sample, whole = file[:cut], false
		}
		format := Recognize(sample, whole)
		if format == nil {
			return
		}
		first := true
		for line := range bytes.Lines(bytes.TrimPrefix(file, []byte("\xEF\xBB\xBF"))) {
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			if first && isObject(line) {
				t.Fatalf("%q, cut to %q, is recognized as %s, but its first line is an object",
					file, sample, format.Name)
			}
			first = false
		}
	})
}

// FuzzValidLines makes files of objects only, and never has them refused.
func FuzzValidLines(f *testing.F) {
	f.Add("key", "value", 3, 100)
	f.Add("a\nb", "[{\"a\":1},", 100, 7)
	f.Fuzz(func(t *testing.T, key, value string, lines, cut int) {
		line, err := json.Marshal(map[string]any{key: value, "n": []any{map[string]any{key: value}}})
		if err != nil || lines < 0 || lines > 1000 {
			return
		}
		file := bytes.Repeat(append(line, '\n'), lines)
		sample, whole := file, true
		if cut >= 0 && cut < len(file) {
			sample, whole = file[:cut], false
		}
		if format := Recognize(sample, whole); format != nil {
			t.Fatalf("%q is recognized as %s", sample, format.Name)
		}
	})
}

func TestShellQuote(t *testing.T) {
	for arg, want := range map[string]string{
		"batch.jsonl.gz": "batch.jsonl.gz", "a b": "'a b'", "it's": `'it'\''s'`, "": "''", "-x": "'-x'",
		"$HOME":   "'$HOME'",
		"dir/a,b": "dir/a,b",
	} {
		difftest.Equal(t, fmt.Sprintf("ShellQuote(%q)", arg), want, ShellQuote(arg))
	}
}
