package e2e

import (
	"bytes"
	"strings"
	"testing"
)

// badFile is a file that a client may send by mistake, or one that only looks like a mistake.
type badFile struct {
	name   string
	file   string
	status string
	// codes are codes that the report must have, by line; the report has no other lines.
	codes map[int64]string
}

func badFiles() []badFile {
	const byteOrderMark = "\xEF\xBB\xBF"
	deep := strings.Repeat(`[`, 20000) + strings.Repeat(`]`, 20000)
	one := func() string { return validLine().String() }
	firstLine := func(code string) map[int64]string { return map[int64]string{1: code} }
	doubleKey := strings.Replace(one(), `"payment_type"`, `"payment_source_country":"NL","payment_type"`, 1)
	const failed, processed = "VALIDATION_FAILED", "PROCESSED"
	return []badFile{
		{"not JSON", "hello\n", failed, firstLine("json_invalid")},
		{"JSON but not an object", "[1, 2]\n", failed, firstLine("object_type")},
		{"an empty file", "", failed, nil},
		{"only blank lines", "\n \r\n\t\n", failed, nil},
		{"only a byte-order mark", byteOrderMark, failed, nil},
		{"no final newline", one(), processed, nil},
		{"CRLF", one() + "\r\n" + one() + "\r\n", processed, nil},
		{"a byte-order mark", byteOrderMark + one() + "\n", processed, nil},
		{"a byte-order mark in line 2", one() + "\n" + byteOrderMark + one() + "\n", failed,
			map[int64]string{2: "json_invalid"}},
		{"NUL bytes", "\x00\x00\x00\n", failed, firstLine("json_invalid")},
		{"invalid UTF-8", strings.Replace(one(), "goods", "go\xffds", 1) + "\n", failed, firstLine("json_invalid")},
		{"20,000 deep", deep + "\n", failed, firstLine("json_too_deep")},
		{"duplicate keys", doubleKey + "\n", failed, firstLine("json_duplicate_key")},
		{"unknown field", validLine().with("surprise", 1).String() + "\n", failed, firstLine("extra_forbidden")},
		{"wrong type", validLine().with("payment_method", 7).String() + "\n", failed, firstLine("string_type")},
		{"wrong type of an entity", validLine().with("sender", "me").String() + "\n", failed, firstLine("object_type")},
		{"a file of one line", one() + "\n", processed, nil},
	}
}

// A bad file ends with a message that names the mistake, and with nothing ingested.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	onboardEntities(t, environment)
	for _, test := range badFiles() {
		t.Run(test.name, func(t *testing.T) {
			api := begin(t)
			last := api.process(true, []byte(test.file))
			isProcessed := test.status == "PROCESSED"
			require(t, last.Status == test.status && isProcessed == (last.ErrorMessage == ""),
				"the batch ended with %s (%q), want %s", last.Status, last.ErrorMessage, test.status)
			if isProcessed {
				return
			}
			if len(test.codes) == 0 { // there is no line that a report could name: the message says why
				const want = "The file contains no transaction."
				r := api.result(last.BatchID)
				assert(t, last.ErrorMessage == want && r.Message == want && r.ErrorsFileURL == "" && r.Valid != nil &&
					!(*r.Valid), "the status says %q, the validation result %+v, want %q, not valid, without a URL",
					last.ErrorMessage, r, want)
				return
			}
			report := api.report(last.BatchID)
			assert(t, len(report) == len(test.codes), "the report has %d lines, want %d", len(report), len(test.codes))
			for _, l := range report {
				if !hasCode(l, test.codes[l.Line]) {
					t.Errorf("line %d has %+v, want %s", l.Line, l.Errors, test.codes[l.Line])
				}
			}
		})
	}
}

// A line of 50 MB has one finding, and does not disturb how the lines around it are read.
func TestLineOf50MB(t *testing.T) {
	api := largeCloud.begin(t) // whose chunks are large
	var b bytes.Buffer
	b.Write(jsonLines(validLine()))
	b.WriteString(`{"description":"`)
	b.Write(bytes.Repeat([]byte("x"), 50<<20))
	b.WriteString("\"}\n")
	after := validLine()
	b.Write(jsonLines(after))
	last := api.process(false, b.Bytes())
	if last.Status != "PROCESSED" || *last.Counts.Ingested != 2 {
		t.Fatalf("the batch ended with %s (%q) and %d lines ingested, want PROCESSED and 2",
			last.Status, last.ErrorMessage, *last.Counts.Ingested)
	}
	if report := api.report(last.BatchID); len(report) != 1 || report[0].Line != 2 ||
		!hasCode(report[0], "line_too_long") {
		t.Errorf("the report is %+v, want line_too_long in line 2", report)
	}
	api.expectStored(after, last.BatchID, 3)
}

func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, content string }{
		{"malware", eicar},
		{"an archive", "PK\x03\x04...."},
		{"an executable", "\x7fELF...."},
	} {
		t.Run(test.name, func(t *testing.T) {
			api := begin(t)
			last := api.expectProcess("ERROR", []byte(test.content))
			r := api.result(last.BatchID)
			assert(t, last.ErrorMessage != "" && r.Message == last.ErrorMessage,
				"the validation result says %q, the status %q; want the same message", r.Message, last.ErrorMessage)
			assert(t, r.Valid == nil && r.ErrorsFileURL == "", "validation result %+v, want valid null and no report",
				r)
		})
	}
}
