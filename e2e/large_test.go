package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// peakMemoryLimit is the most resident memory that any function may use, in bytes.
const peakMemoryLimit = 256 << 20

// A large batch goes through all statuses with bounded memory, and every bad line is reported with the error that it
// was given.
func TestLargeBatch(t *testing.T) {
	api := largeCloud.begin(t)
	const total = 40_000
	cloud := api.environment
	path := filepath.Join(t.TempDir(), "large.jsonl")
	args := []string{"generate", "--lines", strconv.Itoa(total), "--seed", "7", "--bad", "0.005", "-o", path}
	_, stderr, code, err := cloud.runSluice(args...)
	require(t, code == 0 && err == nil, "sluice generate: exit code %d, %v: %s", code, err, stderr)
	must(t, cloud.admin(nil, "--tenant", api.tenantID, "entities", "import", path+".entities"))
	content, err := os.ReadFile(path)
	must(t, err)
	last := api.process(false, content)
	truth := readTruth(t, path+".truth")
	bad := int64(len(truth))
	require(t, last.Status == "PROCESSED", "the batch ended with %s (%q), want PROCESSED", last.Status,
		last.ErrorMessage)
	equal(t, "counts", countsOf(total, total-bad, bad, total-bad), last.Counts)
	report := api.report(last.BatchID)
	assert(t, len(report) == len(truth), "the report has %d lines, want %d", len(report), len(truth))
	for _, l := range report {
		if code := truth[l.Line]; code == "" || !hasCode(l, code) {
			t.Errorf("line %d is reported with %+v, want %q", l.Line, l.Errors, code)
		}
	}
	checkPeakMemory(t, "validatechunk", "mergefindings", "ingestchunk")
}

// readTruth reads which lines of a generated batch are bad, and the code that each must have.
func readTruth(t *testing.T, path string) map[int64]string {
	t.Helper()
	truth := map[int64]string{}
	must(t, eachLine(path, func(text []byte) error {
		var row struct {
			Line int64
			Kind string
		}
		err := json.Unmarshal(text, &row)
		truth[row.Line] = row.Kind
		return err
	}))
	return truth
}

// checkPeakMemory checks the peak memory of every running function process of this repository. The needed functions
// must run.
func checkPeakMemory(t *testing.T, needed ...string) {
	t.Helper()
	functions := map[string]os.FileInfo{} // by their names in bin/functions
	for _, path := range ok(filepath.Glob("../bin/functions/*"))(t) {
		functions[filepath.Base(path)] = ok(os.Stat(path))(t)
	}
	seen := map[string]int64{}
	for _, link := range ok(filepath.Glob("/proc/[0-9]*/exe"))(t) {
		program, err := os.Stat(link)
		peak, peakErr := peakMemory(filepath.Dir(link))
		if err != nil || peakErr != nil {
			continue // has ended
		}
		for name, function := range functions {
			if os.SameFile(function, program) { // a published version is another name of the same file
				seen[name] = max(seen[name], peak)
			}
		}
	}
	for _, name := range needed {
		assert(t, seen[name] != 0, "no process of %s runs", name)
	}
	for name, peak := range seen {
		t.Logf("%s: %d MB at its peak", name, peak>>20)
		assert(t, peak <= peakMemoryLimit, "%s used %d MB, want at most %d", name, peak>>20, int64(peakMemoryLimit)>>20)
	}
}

// peakMemory reads the peak resident memory of a process from its folder in /proc, in bytes.
func peakMemory(proc string) (int64, error) {
	text, err := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("%s/status has no VmHWM", proc)
}

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
	report := api.report(last.BatchID)
	assert(t, len(report) == 1 && report[0].Line == 2 && hasCode(report[0], "line_too_long"),
		"the report is %+v, want line_too_long in line 2", report)
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
