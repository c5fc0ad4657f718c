package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"sluice/shared/batch"
)

// sampleBytes is how much of a file is read to recognize its format.
const sampleBytes = 64 << 10

// foreignFormat is a format of files that cannot be a batch.
type foreignFormat struct {
	// name completes "the file is ...".
	name string
	// filter is the shell command that turns such a file, its last argument or its standard input, into JSON Lines; ""
	// if there is none.
	filter string
	// advice says what to do if there is no filter.
	advice string
}

// checkFormat returns an error that says what a file is and what to do, if it is recognized as something else than JSON
// Lines. Path is the name that the user gave. Reader is the command that reads the file from standard input.
func checkFormat(file io.ReaderAt, size int64, path, reader string) error {
	sample := make([]byte, min(size, sampleBytes))
	n, err := file.ReadAt(sample, 0)
	if err != nil && err != io.EOF {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return recognizeFormat(sample[:n], size <= sampleBytes).explain(path, reader, batch.Identity)
}

// explain returns the error for a file of the format, nil for a format that is nil. If the file is packed, the format is
// that of its content.
func (f *foreignFormat) explain(path, reader string, packed batch.Encoding) error {
	if f == nil {
		return nil
	}
	name, input := printable(path), shellQuote(path)
	switch {
	case path == stdName:
		name = "standard input"
	case path[0] == '-':
		input = shellQuote("./" + path) // not an option
	}
	command := f.filter + " " + input
	switch unpacking := unpackFilters[packed]; {
	case unpacking != "" && path == stdName:
		name, command = name+", unpacked,", "... | "+unpacking+" | "+f.filter
	case unpacking != "":
		name, command = name+", unpacked,", unpacking+" "+input+" | "+f.filter
	case path == stdName:
		command = "... | " + f.filter
	}
	text := name + " is " + f.name + ", not JSON Lines (one JSON object a line)"
	if f.filter == "" {
		return errors.New(text + "; " + f.advice)
	}
	return fmt.Errorf("%s; convert it: %s | %s", text, command, reader)
}

// shellQuote writes an argument for a POSIX shell.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_./:=@%+,-", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" && s[0] != '-' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// recognizeFormat returns the format of the file that begins with sample, or nil if it may be JSON Lines. Whole means
// that sample is the whole file. A file whose first line, or whose every line, is a JSON object is never recognized as
// anything else.
func recognizeFormat(sample []byte, whole bool) *foreignFormat {
	if f := recognizeSignature(sample); f != nil {
		return f
	}
	if f := recognizeEncoding(sample); f != nil {
		return f
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(sample, []byte("\xEF\xBB\xBF")), " \t\r\n")
	switch {
	case len(text) == 0:
		return nil
	case text[0] == '[':
		return recognizeArray(text, whole)
	case text[0] == '{':
		return recognizeSpreadJSON(text, whole)
	}
	return recognizeText(text, whole)
}

// adviceForBinaries is what to do with a file that no common tool turns into lines.
const adviceForBinaries = "export the transactions as JSON Lines"

// signatures are the first bytes of formats. None of them can begin a line of JSON.
var signatures = []struct {
	magic  string
	format foreignFormat
}{
	{"\x1F\x8B\x08", foreignFormat{name: "compressed with gzip", filter: "gzip -dc"}},
	{"\x28\xB5\x2F\xFD", foreignFormat{name: "compressed with zstd", filter: "zstd -dc"}},
	{"\xFD7zXZ\x00", foreignFormat{name: "compressed with xz", filter: "xz -dc"}},
	{"\x04\x22\x4D\x18", foreignFormat{name: "compressed with lz4", filter: "lz4 -dc"}},
	{"PK\x03\x04", foreignFormat{name: "a ZIP archive (or a document of an office program)",
		advice: "unpack it and name the file that it holds"}},
	{"PK\x05\x06", foreignFormat{name: "an empty ZIP archive", advice: adviceForBinaries}},
	{"7z\xBC\xAF\x27\x1C", foreignFormat{name: "a 7-Zip archive", advice: "unpack it and name the file that it holds"}},
	{"Rar!\x1A\x07", foreignFormat{name: "a RAR archive", advice: "unpack it and name the file that it holds"}},
	{"Obj\x01", foreignFormat{name: "an Avro file", advice: adviceForBinaries}},
	{"%PDF-", foreignFormat{name: "a PDF document", advice: adviceForBinaries}},
	{"\x7FELF", foreignFormat{name: "an executable program", advice: adviceForBinaries}},
	{"SQLite format 3\x00", foreignFormat{name: "an SQLite database", advice: adviceForBinaries}},
}

// recognizeSignature recognizes formats by fixed bytes at fixed places.
func recognizeSignature(sample []byte) *foreignFormat {
	for _, s := range signatures {
		if bytes.HasPrefix(sample, []byte(s.magic)) {
			return &s.format
		}
	}
	at := func(i int, text string) bool {
		return len(sample) >= i+len(text) && string(sample[i:i+len(text)]) == text
	}
	hasNUL := func(n int) bool { return bytes.IndexByte(sample[:min(n, len(sample))], 0) >= 0 }
	switch {
	case at(0, "BZh") && at(4, "1AY&SY"):
		return &foreignFormat{name: "compressed with bzip2", filter: "bzip2 -dc"}
	case at(1, "\x2A\x4D\x18") && sample[0]&0xF0 == 0x50:
		return &foreignFormat{name: "compressed with zstd", filter: "zstd -dc"}
	case at(0, "PAR1") && len(sample) > 4 && (sample[4] < ' ' || sample[4] > '~'):
		return &foreignFormat{name: "a Parquet file", advice: adviceForBinaries}
	case at(0, "MZ") && hasNUL(64):
		return &foreignFormat{name: "an executable program", advice: adviceForBinaries}
	case at(257, "ustar") && hasNUL(257): // JSON never holds a zero byte
		return &foreignFormat{name: "a tar archive", advice: "unpack it and name the file that it holds"}
	}
	return nil
}

// recognizeEncoding recognizes text in UTF-16 and UTF-32, with a byte-order mark or by the zero bytes beside ASCII
// characters, which JSON in UTF-8 cannot contain.
func recognizeEncoding(sample []byte) *foreignFormat {
	format := func(name, iconv string) *foreignFormat {
		return &foreignFormat{name: name + " text", filter: "iconv -f " + iconv + " -t UTF-8"}
	}
	for _, mark := range []struct{ bytes, name string }{
		{"\xFF\xFE\x00\x00", "UTF-32"}, {"\x00\x00\xFE\xFF", "UTF-32"}, {"\xFF\xFE", "UTF-16"}, {"\xFE\xFF", "UTF-16"},
	} {
		if bytes.HasPrefix(sample, []byte(mark.bytes)) {
			return format(mark.name, mark.name)
		}
	}
	if len(sample) < 4 {
		return nil
	}
	isText := func(b byte) bool { return b >= ' ' && b <= '~' || b == '\t' || b == '\r' || b == '\n' }
	zeros := func(pattern string) bool { // of the first four bytes; x is a character
		for i, p := range []byte(pattern) {
			if p == '0' && sample[i] != 0 || p == 'x' && !isText(sample[i]) {
				return false
			}
		}
		return true
	}
	switch {
	case zeros("x000"):
		return format("UTF-32 (little-endian)", "UTF-32LE")
	case zeros("000x"):
		return format("UTF-32 (big-endian)", "UTF-32BE")
	case zeros("x0x0"):
		return format("UTF-16 (little-endian)", "UTF-16LE")
	case zeros("0x0x"):
		return format("UTF-16 (big-endian)", "UTF-16BE")
	}
	return nil
}

// recognizeArray recognizes a JSON array of objects that is the whole file. Text begins with its bracket.
func recognizeArray(text []byte, whole bool) *foreignFormat {
	array := &foreignFormat{name: "one JSON array", filter: "jq -c '.[]'"}
	d := json.NewDecoder(bytes.NewReader(text))
	_, _ = d.Token() // the bracket
	for n := 0; d.More(); n++ {
		var element json.RawMessage
		if err := d.Decode(&element); err != nil {
			return ifTrue(isCut(err, whole) && (n > 0 || firstInArrayIsObject(text)), array)
		}
		if n == 0 && element[0] != '{' {
			return nil
		}
	}
	end, err := d.Token()
	if err != nil {
		return ifTrue(isCut(err, whole) && firstInArrayIsObject(text), array)
	}
	rest := bytes.TrimSpace(text[d.InputOffset():])
	return ifTrue(end == json.Delim(']') && len(rest) == 0 && firstInArrayIsObject(text), array)
}

// firstInArrayIsObject reports whether the first element of an array is an object.
func firstInArrayIsObject(text []byte) bool {
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	return len(rest) > 0 && rest[0] == '{'
}

// isCut reports whether a decoder failed because the sample ended before the file did.
func isCut(err error, whole bool) bool {
	return !whole && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF))
}

func ifTrue(condition bool, f *foreignFormat) *foreignFormat {
	if condition {
		return f
	}
	return nil
}

// recognizeSpreadJSON recognizes objects that extend over several lines. Text begins with the first one's brace.
func recognizeSpreadJSON(text []byte, whole bool) *foreignFormat {
	var first json.RawMessage
	err := json.NewDecoder(bytes.NewReader(text)).Decode(&first)
	// A broken first line of JSON Lines is not followed by what would continue it, over several lines.
	const enoughLines = 3
	if err == nil && bytes.IndexByte(first, '\n') >= 0 ||
		isCut(err, whole) && bytes.Count(text, []byte("\n")) >= enoughLines {
		return &foreignFormat{name: "JSON whose objects extend over several lines", filter: "jq -c ."}
	}
	return nil
}

// recognizeText recognizes other formats of text. Text does not begin as JSON Lines do.
func recognizeText(text []byte, whole bool) *foreignFormat {
	if !whole {
		end := bytes.LastIndexByte(text, '\n')
		if end < 0 {
			return nil
		}
		text = text[:end+1]
	}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && (line[0] == '{' || line[0] == '[') {
			return nil // JSON Lines with something else before them
		}
	}
	const advice = "convert each record to one JSON object on one line"
	if text[0] == '<' {
		return &foreignFormat{name: "XML or HTML", advice: advice}
	}
	for _, delimiter := range []struct {
		r    rune
		name string
	}{{',', "commas"}, {';', "semicolons"}, {'\t', "tabs"}, {'|', "vertical bars"}} {
		if isDelimited(text, delimiter.r) {
			return &foreignFormat{name: "CSV (fields separated by " + delimiter.name + ")", advice: advice}
		}
	}
	return nil
}

// isDelimited reports whether text is records with the same number of fields.
func isDelimited(text []byte, delimiter rune) bool {
	if bytes.IndexByte(text, 0) >= 0 {
		return false
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.ReuseRecord = delimiter, true
	const enoughRecords = 20
	records, fields := 0, 0
	for ; records < enoughRecords; records++ {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil || len(record) < 2 {
			return false
		}
		fields = len(record)
	}
	return records > 1 || fields > 2
}
