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

// residentLimit is the most memory that any function may hold, in bytes.
const residentLimit = 256 << 20

// A large batch goes through all states with bounded memory, and every bad line is found with the error it was given.
func TestALargeBatch(t *testing.T) {
	h := another(t)
	d := enter(t, h)
	dir := t.TempDir()
	path := filepath.Join(dir, "large.jsonl")
	if _, stderr, code, err := h.sluice("generate", "--lines", "100000", "--seed", "7", "--bad", "0.005", "-o", path); code != 0 || err != nil {
		t.Fatalf("%d %v %s", code, err, stderr)
	}
	var out any
	if err := h.admin(&out, "entities", "import", path+".entities"); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := d.process(`{"reject_on_invalid": false}`, content)
	truth := readTruth(t, path+".truth")
	if s.Status != "PROCESSED" || *s.Counts.Total != 100000 || *s.Counts.Invalid != int64(len(truth)) || *s.Counts.Ingested != 100000-*s.Counts.Invalid {
		t.Fatalf("%s %+v", describe(s), s.Counts)
	}
	report := d.report(s.BatchID)
	if len(report) != len(truth) {
		t.Errorf("%d lines in the report, %d are bad", len(report), len(truth))
	}
	for _, l := range report {
		if kind := truth[l.Line]; kind == "" || !hasCode(l, kind) {
			t.Errorf("line %d: %+v, the truth is %q", l.Line, l.Errors, kind)
		}
	}
	checkResident(t, "validate", "settle", "ingest")
}

func readTruth(t *testing.T, path string) map[int64]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	truth := map[int64]string{}
	for rows := bufio.NewScanner(bytes.NewReader(text)); rows.Scan(); {
		var row struct {
			Line int64  `json:"line"`
			Kind string `json:"kind"`
		}
		strict(t, rows.Bytes(), &row)
		truth[row.Line] = row.Kind
	}
	return truth
}

// checkResident reads the peak memory of every function process of this project that is running; those needed must be.
func checkResident(t *testing.T, needed ...string) {
	t.Helper()
	functions, err := filepath.Abs("../bin/functions")
	if err != nil {
		t.Fatal(err)
	}
	programs, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int64{}
	for _, link := range programs {
		program, err := os.Readlink(link)
		if err != nil || filepath.Dir(program) != functions {
			continue // gone, or not ours
		}
		if peak, err := peakMemory(filepath.Dir(link)); err == nil {
			seen[filepath.Base(program)] = max(seen[filepath.Base(program)], peak)
		}
	}
	for _, name := range needed {
		if seen[name] == 0 {
			t.Errorf("no process of %s is there to be measured", name)
		}
	}
	for name, peak := range seen {
		t.Logf("%s: %d MB at its peak", name, peak>>20)
		if peak > residentLimit {
			t.Errorf("%s held %d MB", name, peak>>20)
		}
	}
}

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
	return 0, fmt.Errorf("%s says nothing of its memory", proc)
}
