package e2e

import (
	"bufio"
	"bytes"
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
	const total = 100_000
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
	text := ok(os.ReadFile(path))(t)
	truth := map[int64]string{}
	for rows := bufio.NewScanner(bytes.NewReader(text)); rows.Scan(); {
		var row struct {
			Line int64  `json:"line"`
			Kind string `json:"kind"`
		}
		decodeStrictly(t, rows.Bytes(), &row)
		truth[row.Line] = row.Kind
	}
	return truth
}

// checkPeakMemory checks the peak memory of every running function process of this repository. The needed functions
// must run.
func checkPeakMemory(t *testing.T, needed ...string) {
	t.Helper()
	functions := ok(filepath.Glob("../bin/functions/*"))(t)
	// nameOf returns the name in bin/functions of a program. A published version is another name of the same file.
	nameOf := func(program os.FileInfo) string {
		for _, path := range functions {
			if info, err := os.Stat(path); err == nil && os.SameFile(info, program) {
				return filepath.Base(path)
			}
		}
		return ""
	}
	programs := ok(filepath.Glob("/proc/[0-9]*/exe"))(t)
	seen := map[string]int64{}
	for _, link := range programs {
		program, err := os.Stat(link)
		if err != nil {
			continue // has ended
		}
		name := nameOf(program)
		if peak, err := peakMemory(filepath.Dir(link)); err == nil && name != "" {
			seen[name] = max(seen[name], peak)
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
