package e2e

import (
	"bytes"
	"strings"
	"testing"
)

// Every kind of file that a customer may send by mistake ends with a message that names it, and with nothing ingested.
func TestBadFiles(t *testing.T) {
	onboard(t, home)
	deep := strings.Repeat(`[`, 20000) + strings.Repeat(`]`, 20000)
	one := valid().String()
	broken := func(code string) map[int64]string { return map[int64]string{1: code} }
	tests := []struct {
		name   string
		file   string
		status string
		report map[int64]string // a code that the line must have
	}{
		{"not JSON", "hello\n", "VALIDATION_FAILED", broken("json_invalid")},
		{"JSON but no object", "[1, 2]\n", "VALIDATION_FAILED", broken("object_type")},
		{"an empty file", "", "VALIDATION_FAILED", nil},
		{"only blank lines", "\n \r\n\t\n", "VALIDATION_FAILED", nil},
		{"only a byte-order mark", "\xEF\xBB\xBF", "VALIDATION_FAILED", nil},
		{"no final newline", one, "PROCESSED", nil},
		{"CRLF", valid().String() + "\r\n" + valid().String() + "\r\n", "PROCESSED", nil},
		{"a byte-order mark", "\xEF\xBB\xBF" + valid().String() + "\n", "PROCESSED", nil},
		{"a byte-order mark in line 2", valid().String() + "\n\xEF\xBB\xBF" + valid().String() + "\n", "VALIDATION_FAILED",
			map[int64]string{2: "json_invalid"}},
		{"NUL bytes", "\x00\x00\x00\n", "VALIDATION_FAILED", broken("json_invalid")},
		{"invalid UTF-8", strings.Replace(valid().String(), "goods", "go\xffds", 1) + "\n", "VALIDATION_FAILED", broken("json_invalid")},
		{"20,000 deep", deep + "\n", "VALIDATION_FAILED", broken("json_too_deep")},
		{"duplicate keys", strings.Replace(valid().String(), `"payment_type"`, `"payment_source_country":"NL","payment_type"`, 1) + "\n",
			"VALIDATION_FAILED", broken("json_duplicate_key")},
		{"unknown field", valid().with("surprise", 1).String() + "\n", "VALIDATION_FAILED", broken("extra_forbidden")},
		{"wrong type", valid().with("payment_method", 7).String() + "\n", "VALIDATION_FAILED", broken("string_type")},
		{"wrong type of an entity", valid().with("sender", "me").String() + "\n", "VALIDATION_FAILED", broken("object_type")},
		{"a file of one line", valid().String() + "\n", "PROCESSED", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := enter(t, home)
			u := d.newBatch("")
			if code, text := put(t, u, []byte(tt.file)); code != 200 {
				t.Fatalf("put: %d %s", code, text)
			}
			s, _ := d.follow(u.BatchID)
			if s.Status != tt.status || (tt.status == "PROCESSED") != (*s.ErrorMessage == "") {
				t.Fatal(describe(s))
			}
			if s.Status == "PROCESSED" {
				return
			}
			report := d.report(u.BatchID)
			if len(report) != len(tt.report) {
				t.Errorf("%d lines in the report, want %d", len(report), len(tt.report))
			}
			for _, l := range report {
				if !hasCode(l, tt.report[l.Line]) {
					t.Errorf("line %d: %+v, want %s", l.Line, l.Errors, tt.report[l.Line])
				}
			}
		})
	}
}

func hasCode(l reportLine, code string) bool {
	for _, e := range l.Errors {
		if e.Type == code {
			return true
		}
	}
	return false
}

// A line of 50 MB is one finding; the lines around it are read as if it were short.
func TestALineOf50MB(t *testing.T) {
	h := another(t)
	onboard(t, h)
	d := enter(t, h)
	var b bytes.Buffer
	b.Write(file(valid()))
	b.WriteString(`{"description":"`)
	b.Write(bytes.Repeat([]byte("x"), 50<<20))
	b.WriteString("\"}\n")
	last := valid()
	b.Write(file(last))
	u := d.newBatch(`{"reject_on_invalid": false}`)
	if code, text := put(t, u, b.Bytes()); code != 200 {
		t.Fatalf("put: %d %s", code, text)
	}
	s, _ := d.follow(u.BatchID)
	if s.Status != "PROCESSED" || *s.Counts.Ingested != 2 {
		t.Fatalf("%s %+v", describe(s), s.Counts)
	}
	if report := d.report(u.BatchID); len(report) != 1 || report[0].Line != 2 || !hasCode(report[0], "line_too_long") {
		t.Errorf("%+v", report)
	}
	readBack(t, d, last, u.BatchID, 3)
}

func TestRefusedFiles(t *testing.T) {
	for name, content := range map[string]string{
		"malware": eicar, "an archive": "PK\x03\x04....", "an executable": "\x7fELF....",
	} {
		t.Run(name, func(t *testing.T) {
			d := enter(t, home)
			s := d.process("", []byte(content))
			if s.Status != "ERROR" || *s.ErrorMessage == "" {
				t.Fatal(describe(s))
			}
			code, r := d.result(s.BatchID)
			if code != 200 || r.Valid == nil || *r.Valid || r.ErrorsFileURL != "" || r.Message != *s.ErrorMessage {
				t.Errorf("result: %d %+v", code, r)
			}
		})
	}
}
