package linefile

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
)

// SampleBytes is how much of a file Recognize needs.
const SampleBytes = 64 << 10

// Format is a format of files that cannot be a batch.
type Format struct {
	// Name completes "the file is ...".
	Name string
	// Filter is the shell command that turns such a file, its last argument or its standard input, into JSON Lines; ""
	// if there is none.
	Filter string
	// Advice says what to do if there is no filter.
	Advice string
}

// Recognize returns the format of the file that begins with sample, or nil if it may be JSON Lines. Whole means
// that sample is the whole file. A file whose first line, or whose every line, is a JSON object is never recognized as
// anything else.
func Recognize(sample []byte, whole bool) *Format {
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
	format Format
}{
	{"\x1F\x8B\x08", Format{Name: "compressed with gzip", Filter: "gzip -dc"}},
	{"\x28\xB5\x2F\xFD", Format{Name: "compressed with zstd", Filter: "zstd -dc"}},
	{"\xFD7zXZ\x00", Format{Name: "compressed with xz", Filter: "xz -dc"}},
	{"\x04\x22\x4D\x18", Format{Name: "compressed with lz4", Filter: "lz4 -dc"}},
	{"PK\x03\x04", Format{Name: "a ZIP archive (or a document of an office program)",
		Advice: "unpack it and name the file that it holds"}},
	{"PK\x05\x06", Format{Name: "an empty ZIP archive", Advice: adviceForBinaries}},
	{"7z\xBC\xAF\x27\x1C", Format{Name: "a 7-Zip archive", Advice: "unpack it and name the file that it holds"}},
	{"Rar!\x1A\x07", Format{Name: "a RAR archive", Advice: "unpack it and name the file that it holds"}},
	{"Obj\x01", Format{Name: "an Avro file", Advice: adviceForBinaries}},
	{"%PDF-", Format{Name: "a PDF document", Advice: adviceForBinaries}},
	{"\x7FELF", Format{Name: "an executable program", Advice: adviceForBinaries}},
	{"SQLite format 3\x00", Format{Name: "an SQLite database", Advice: adviceForBinaries}},
}

// recognizeSignature recognizes formats by fixed bytes at fixed places.
func recognizeSignature(sample []byte) *Format {
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
		return &Format{Name: "compressed with bzip2", Filter: "bzip2 -dc"}
	case at(1, "\x2A\x4D\x18") && sample[0]&0xF0 == 0x50:
		return &Format{Name: "compressed with zstd", Filter: "zstd -dc"}
	case at(0, "PAR1") && len(sample) > 4 && (sample[4] < ' ' || sample[4] > '~'):
		return &Format{Name: "a Parquet file", Advice: adviceForBinaries}
	case at(0, "MZ") && hasNUL(64):
		return &Format{Name: "an executable program", Advice: adviceForBinaries}
	case at(257, "ustar") && hasNUL(257): // JSON never holds a zero byte
		return &Format{Name: "a tar archive", Advice: "unpack it and name the file that it holds"}
	}
	return nil
}

// recognizeEncoding recognizes text in UTF-16 and UTF-32, with a byte-order mark or by the zero bytes beside ASCII
// characters, which JSON in UTF-8 cannot contain.
func recognizeEncoding(sample []byte) *Format {
	format := func(name, iconv string) *Format {
		return &Format{Name: name + " text", Filter: "iconv -f " + iconv + " -t UTF-8"}
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
func recognizeArray(text []byte, whole bool) *Format {
	array := &Format{Name: "one JSON array", Filter: "jq -c '.[]'"}
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

func ifTrue(condition bool, f *Format) *Format {
	if condition {
		return f
	}
	return nil
}

// recognizeSpreadJSON recognizes objects that extend over several lines. Text begins with the first one's brace.
func recognizeSpreadJSON(text []byte, whole bool) *Format {
	var first json.RawMessage
	err := json.NewDecoder(bytes.NewReader(text)).Decode(&first)
	// A broken first line of JSON Lines is not followed by what would continue it, over several lines.
	const enoughLines = 3
	if err == nil && bytes.IndexByte(first, '\n') >= 0 ||
		isCut(err, whole) && bytes.Count(text, []byte("\n")) >= enoughLines {
		return &Format{Name: "JSON whose objects extend over several lines", Filter: "jq -c ."}
	}
	return nil
}

// recognizeText recognizes other formats of text. Text does not begin as JSON Lines do.
func recognizeText(text []byte, whole bool) *Format {
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
		return &Format{Name: "XML or HTML", Advice: advice}
	}
	for _, delimiter := range []struct {
		r    rune
		name string
	}{{',', "commas"}, {';', "semicolons"}, {'\t', "tabs"}, {'|', "vertical bars"}} {
		if isDelimited(text, delimiter.r) {
			return &Format{Name: "CSV (fields separated by " + delimiter.name + ")", Advice: advice}
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
