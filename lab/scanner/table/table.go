// Package table measures ways to read transaction lines and prints them as a table: lower bounds that no scanner can
// beat, a struct that encoding/json fills, the product's scanner, and the rows that a caller adds.
package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
)

// Input is the text that all rows read: the lines, and the whole file.
type Input struct {
	// Lines are slices of Text, without line feeds.
	Lines [][]byte
	Text  []byte
}

// NewInput joins lines to a file.
func NewInput(lines [][]byte) *Input {
	in := &Input{}
	for _, line := range lines {
		in.Text = append(append(in.Text, line...), '\n')
	}
	start := 0
	for _, line := range lines {
		in.Lines = append(in.Lines, in.Text[start:start+len(line)])
		start += len(line) + 1
	}
	return in
}

// Row is one line of the table: a way to read the input.
type Row struct {
	Name string
	// Run reads the whole input once. It returns the number of lines that it accepts, or Unjudged.
	Run  func() (accepted int)
	Note string

	// best is the least CPU time of a round.
	best time.Duration
	// allocs is the number of allocations per line, of the last round.
	allocs   float64
	accepted int
}

// Unjudged is the result of a row that does not judge lines.
const Unjudged = -1

// Names of rows with which the others are compared.
const (
	Reference = "encoding/json + checks"
	Bound     = "utf8.Valid"
)

// Select returns the rows whose names contain a word, and the reference.
func Select(rows []*Row, word string) []*Row {
	var out []*Row
	for _, r := range rows {
		if word == "" || strings.Contains(r.Name, word) || r.Name == Reference {
			out = append(out, r)
		}
	}
	return out
}

// Measure runs all rows in turn, round after round, so that a slow phase of the machine affects them all.
func Measure(in *Input, rows []*Row, rounds int) {
	for _, r := range rows {
		r.accepted = r.Run()
	}
	for range rounds {
		for _, r := range rows {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := CPUTime()
			r.Run()
			took := CPUTime() - start
			runtime.ReadMemStats(&after)
			r.allocs = float64(after.Mallocs-before.Mallocs) / float64(len(in.Lines))
			if r.best == 0 || took < r.best {
				r.best = took
			}
		}
	}
}

// Print prints the rows and their ratios to the reference and to the row named peer.
func Print(w io.Writer, in *Input, rows []*Row, peer string) {
	ratio := func(r *Row, other string) string {
		if speed := Speed(in, rows, other); speed > 0 {
			return fmt.Sprintf("%.2f", Speed(in, rows, r.Name)/speed)
		}
		return "-"
	}
	fmt.Fprintf(w, "%-24s %8s %12s %12s %12s\n", "", "MB/s", "x reference", "x peer", "allocs/line")
	for _, r := range rows {
		fmt.Fprintf(w, "%-24s %8.0f %12s %12s %12.3f  %s\n", r.Name, Speed(in, rows, r.Name), ratio(r, Reference),
			ratio(r, peer), r.allocs, r.describe(in))
	}
	fmt.Fprintf(w, "\nMB/s of CPU time. x reference: times %q. x peer: times %q.\n", Reference, peer)
}

// describe says how many lines the row rejects, if it judges, and what is special about it.
func (r *Row) describe(in *Input) string {
	if r.accepted == Unjudged {
		return r.Note
	}
	return fmt.Sprintf("rejects %d lines; %s", len(in.Lines)-r.accepted, r.Note)
}

// Speed returns the speed of the row of a name in MB/s of CPU time, or 0 if that row was not measured.
func Speed(in *Input, rows []*Row, name string) float64 {
	for _, r := range rows {
		if r.Name == name {
			return float64(len(in.Text)) / 1e6 / r.best.Seconds()
		}
	}
	return 0
}

// CPUTime returns the CPU time of the whole process so far: garbage collection in the background is part of a row's
// cost.
func CPUTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// Rules are those of a batch received on a fixed day.
var Rules = transaction.Rules{ReceivedAt: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), MaxFuture: 720 * time.Hour}

// Rows returns the rows that need no library of others: the lower bounds, the reference and the scanner.
func Rows(in *Input) []*Row {
	s := scanner.New(Rules)
	return []*Row{
		{Name: "newline split", Note: "lower bound", Run: func() int { return splitLines(in.Text) }},
		{Name: Bound, Note: "lower bound", Run: func() int { return validUTF8(in.Lines) }},
		{Name: Reference, Note: Lenient, Run: RunUnmarshal(in, json.Unmarshal)},
		{
			Name: "sluice scanner", Note: "all checks, all findings with their positions",
			Run: func() int { return ScanLines(s, in.Lines) },
		},
	}
}

// Lenient is the note of a row whose library reads more than JSON allows.
const Lenient = "accepts invalid UTF-8 and duplicate keys"

func splitLines(text []byte) int {
	for {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			return Unjudged
		}
		text = text[end+1:]
	}
}

// validUTF8 goes line by line: the library stops at the first invalid byte of a text.
func validUTF8(lines [][]byte) int {
	for _, line := range lines {
		utf8.Valid(line)
	}
	return Unjudged
}

// ScanLines returns the number of lines without findings.
func ScanLines(s *scanner.Scanner, lines [][]byte) (accepted int) {
	for _, line := range lines {
		if len(s.Line(line).Findings) == 0 {
			accepted++
		}
	}
	return accepted
}

// RunUnmarshal decodes each line into a Record and checks that.
func RunUnmarshal(in *Input, unmarshal func([]byte, any) error) func() int {
	return func() (accepted int) {
		for _, line := range in.Lines {
			var r Record
			if unmarshal(line, &r) == nil && r.Valid() {
				accepted++
			}
		}
		return accepted
	}
}
