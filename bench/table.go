package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/bytedance/sonic"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/minio/simdjson-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/sys/unix"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/ingest/transaction/schema"
)

// input is the text that all rows read: the lines, and the whole file.
type input struct {
	// lines are slices of text, without line feeds.
	lines [][]byte
	text  []byte
}

func newInput(lines [][]byte) *input {
	in := &input{}
	for _, line := range lines {
		in.text = append(append(in.text, line...), '\n')
	}
	start := 0
	for _, line := range lines {
		in.lines = append(in.lines, in.text[start:start+len(line)])
		start += len(line) + 1
	}
	return in
}

// row is one line of the table: a way to read the input.
type row struct {
	name string
	// run reads the whole input once. It returns the number of lines that it accepts, or unjudged.
	run  func() (accepted int)
	note string

	// best is the least CPU time of a round.
	best time.Duration
	// allocs is the number of allocations per line, of the last round.
	allocs   float64
	accepted int
}

// unjudged is what a row returns that does not judge lines.
const unjudged = -1

// Names of the rows with which the others are compared.
const (
	reference = "encoding/json + checks"
	simd      = "simdjson-go, parse only"
)

// selectRows returns the rows whose names contain a word, and the reference.
func selectRows(rows []*row, word string) []*row {
	var out []*row
	for _, r := range rows {
		if word == "" || strings.Contains(r.name, word) || r.name == reference {
			out = append(out, r)
		}
	}
	return out
}

// measure runs all rows in turn, round after round, so that a slow phase of the machine affects them all.
func measure(in *input, rows []*row, rounds int) {
	for _, r := range rows {
		r.accepted = r.run()
	}
	for range rounds {
		for _, r := range rows {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := cpuTime()
			r.run()
			took := cpuTime() - start
			runtime.ReadMemStats(&after)
			r.allocs = float64(after.Mallocs-before.Mallocs) / float64(len(in.lines))
			if r.best == 0 || took < r.best {
				r.best = took
			}
		}
	}
}

// printTable prints the rows and their ratios.
func printTable(w io.Writer, in *input, rows []*row) {
	speed := make(map[string]float64)
	for _, r := range rows {
		speed[r.name] = speedOf(in, rows, r.name)
	}
	fmt.Fprintf(w, "%-24s %8s %12s %10s %12s  %s\n", "", "MB/s", "x reference", "x simdjson", "allocs/line", "")
	for _, r := range rows {
		ratioToSimd := "-"
		if speed[simd] > 0 {
			ratioToSimd = fmt.Sprintf("%.2f", speed[r.name]/speed[simd])
		}
		fmt.Fprintf(w, "%-24s %8.0f %12.1f %10s %12.3f  %s\n", r.name, speed[r.name], speed[r.name]/speed[reference],
			ratioToSimd, r.allocs, r.describe(in))
	}
	fmt.Fprintf(w, "\nMB/s of CPU time. x reference: times %q. x simdjson: times %q.\n", reference, simd)
}

// describe says how many lines the row rejects, if it judges, and what is special about it.
func (r *row) describe(in *input) string {
	if r.accepted == unjudged {
		return r.note
	}
	return fmt.Sprintf("rejects %d lines; %s", len(in.lines)-r.accepted, r.note)
}

// speedOf returns a measured row's speed in MB/s of CPU time, or 0 if the row was not measured.
func speedOf(in *input, rows []*row, name string) float64 {
	for _, r := range rows {
		if r.name == name {
			return float64(len(in.text)) / 1e6 / r.best.Seconds()
		}
	}
	return 0
}

// printScaling compares one worker with two, each with its own scanner, by elapsed time.
func printScaling(w io.Writer, in *input, rounds int) {
	runtime.GOMAXPROCS(2)
	var best [3]time.Duration
	for range rounds {
		for workers := 1; workers <= 2; workers++ {
			start := time.Now()
			var wait sync.WaitGroup
			for k := range workers {
				share := in.lines[k*len(in.lines)/workers : (k+1)*len(in.lines)/workers]
				wait.Go(func() { scanLines(scanner.New(rules), share) })
			}
			wait.Wait()
			if took := time.Since(start); best[workers] == 0 || took < best[workers] {
				best[workers] = took
			}
		}
	}
	fmt.Fprintf(w, "Scanner alone: two cores are %.2f times as fast as one, by elapsed time (%d processors).\n",
		best[1].Seconds()/best[2].Seconds(), runtime.NumCPU())
}

// cpuTime returns the CPU time of the whole process so far: garbage collection in the background is part of a row's
// cost.
func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// rules are those of a batch received on a fixed day.
var rules = transaction.Rules{ReceivedAt: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), MaxFuture: 720 * time.Hour}

// newRows returns the rows of the table: lower bounds of the cost, the libraries, the scanner.
func newRows(in *input) []*row {
	s := scanner.New(rules)
	unmarshalV2 := func(line []byte, v any) error { return jsonv2.Unmarshal(line, v) }
	const lenient = "accepts invalid UTF-8 and duplicate keys"
	rows := []*row{
		{name: "newline split", note: "lower bound", run: func() int { return splitLines(in.text) }},
		{name: "utf8.Valid", note: "lower bound", run: func() int { return validUTF8(in.lines) }},
		{name: reference, note: lenient, run: runUnmarshal(in, json.Unmarshal)},
		{name: "json/v2 + checks", note: "strict", run: runUnmarshal(in, unmarshalV2)},
		{name: "sonic + checks", note: lenient, run: runUnmarshal(in, sonic.ConfigStd.Unmarshal)},
	}
	if simdjson.SupportedCPU() {
		rows = append(rows, &row{name: simd, note: "no checks; the valid lines in large blocks", run: runSimd(in, s)})
	}
	return append(rows,
		&row{name: "JSON Schema validator", note: "santhosh-tekuri/jsonschema on encoding/json", run: runSchema(in)},
		&row{
			name: "sluice scanner", note: "all checks, all findings with their positions",
			run: func() int { return scanLines(s, in.lines) },
		},
	)
}

func splitLines(text []byte) int {
	for {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			return unjudged
		}
		text = text[end+1:]
	}
}

// validUTF8 goes line by line: the library stops at the first invalid byte of a text.
func validUTF8(lines [][]byte) int {
	for _, line := range lines {
		utf8.Valid(line)
	}
	return unjudged
}

// scanLines returns the number of lines without findings.
func scanLines(s *scanner.Scanner, lines [][]byte) (accepted int) {
	for _, line := range lines {
		if len(s.Line(line).Findings) == 0 {
			accepted++
		}
	}
	return accepted
}

// runUnmarshal decodes each line into a record and checks that.
func runUnmarshal(in *input, unmarshal func([]byte, any) error) func() int {
	return func() (accepted int) {
		for _, line := range in.lines {
			var r record
			if unmarshal(line, &r) == nil && r.valid() {
				accepted++
			}
		}
		return accepted
	}
}

// simdBlockBytes is the largest block that the library gets at once.
const simdBlockBytes = 8 << 20

// runSimd parses blocks of many lines, as the library prefers. One unreadable line would end a block, so invalid lines
// are left out.
func runSimd(in *input, s *scanner.Scanner) func() int {
	var text []byte
	for _, line := range in.lines {
		if r := s.Line(line); len(r.Findings) == 0 {
			text = append(append(text, line...), '\n')
		}
	}
	var parsed *simdjson.ParsedJson
	return func() int {
		var err error
		for block := text; len(block) > 0; {
			end := len(block)
			if end > simdBlockBytes {
				end = bytes.LastIndexByte(block[:simdBlockBytes], '\n') + 1
			}
			if parsed, err = simdjson.ParseND(block[:end], parsed, simdjson.WithCopyStrings(false)); err != nil {
				panic(err)
			}
			block = block[end:]
		}
		return unjudged
	}
}

// compileSchema compiles the published JSON Schema of a line.
func compileSchema() *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.JSONSchema()))
	if err != nil {
		panic(err)
	}
	const url = "mem:///line.json" // a mere name would be that of a file
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(url, doc); err != nil {
		panic(err)
	}
	return c.MustCompile(url)
}

// runSchema validates each line against the published JSON Schema.
func runSchema(in *input) func() int {
	lineSchema := compileSchema()
	return func() (accepted int) {
		for _, line := range in.lines {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
			if err == nil && lineSchema.Validate(v) == nil {
				accepted++
			}
		}
		return accepted
	}
}
