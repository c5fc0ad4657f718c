// Package sampledata generates batches that look like real ones: realistic transactions of the whole line schema, with
// the share of bad lines that is asked for, of every kind of error, and the truth about them. The same options give the
// same bytes. Memory does not grow with the number of lines.
package sampledata

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// MaxLines is the most lines that one generator makes.
const MaxLines = 1 << 31

// Options say what to make. The zero value makes nothing.
type Options struct {
	Lines    int64
	Seed     uint64
	Bad      float64   // share of bad lines, 0 to 1
	Entities int       // known entities that lines refer to; 0: a tenth of the lines, 20 to 100,000
	From     time.Time // modifications are created in the year after it; zero: 2025-01-01
}

// Generator makes lines one after the other. It is not safe for concurrent use.
type Generator struct {
	opts    Options
	bad     int64 // bad lines in all
	slots   []slot
	dups    int64 // bad lines that share a modification ID, in all
	next    int64 // line, from 0
	badNext int64 // bad line, from 0
	badAt   int64 // line of badNext
	from    time.Time
	w       writer
	r       random
}

// New checks the options.
func New(o Options) (*Generator, error) {
	switch {
	case o.Lines < 0 || o.Lines > MaxLines:
		return nil, fmt.Errorf("the number of lines must be 0 to %d", int64(MaxLines))
	case !(o.Bad >= 0 && o.Bad <= 1):
		return nil, errors.New("the share of bad lines must be 0 to 1")
	case o.Entities < 0 || o.Entities > MaxLines:
		return nil, fmt.Errorf("the number of entities must be 0 to %d", int64(MaxLines))
	}
	if o.Entities == 0 {
		o.Entities = int(min(max(o.Lines/10, 20), 100_000))
	}
	if o.From.IsZero() {
		o.From = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	g := &Generator{opts: o, from: o.From.UTC(), bad: int64(math.Round(float64(o.Lines) * o.Bad))}
	g.slots = slots(o.Seed)
	g.dups = g.duplicatesBefore(g.bad)
	g.w.r = &g.r
	g.badAt = g.badLine(0)
	return g, nil
}

// Lines returns the lines of a batch, without line feeds. For benchmarks and tests that need them in memory.
func Lines(n int64, seed uint64, bad float64) [][]byte {
	g, err := New(Options{Lines: n, Seed: seed, Bad: bad})
	if err != nil {
		panic(err) // a defect of the caller
	}
	out := make([][]byte, 0, n)
	for line, _, ok := g.Next(); ok; line, _, ok = g.Next() {
		out = append(out, append([]byte(nil), line...))
	}
	return out
}

// Next makes the next line, without its line feed. Kind is the code of its error, "" for a good line. The line is valid
// until the next call; ok is false after the last one.
func (g *Generator) Next() (line []byte, kind string, ok bool) {
	if g.next >= g.opts.Lines {
		return nil, "", false
	}
	n := g.next
	g.next++
	g.r = g.random(domainLine, uint64(n))
	if n != g.badAt {
		g.line(n, nil)
		return g.w.buf, "", true
	}
	line, kind = g.badLineText(n, g.badNext)
	g.badNext++
	g.badAt = g.badLine(g.badNext)
	return line, kind, true
}

// writeSize is how many bytes are handed to a writer at once.
const writeSize = 1 << 20

// WriteTo writes the lines that are left, each with a line feed. It implements io.WriterTo.
func (g *Generator) WriteTo(w io.Writer) (int64, error) {
	return g.WriteWithTruth(w, io.Discard)
}

// WriteWithTruth is WriteTo that also writes, for each bad line, {"line": number from 1, "kind": code} and a line feed
// to truth. Every line of a set with one modification ID is in it.
func (g *Generator) WriteWithTruth(w, truth io.Writer) (int64, error) {
	lines := make([]byte, 0, writeSize+writeSize/4)
	facts := make([]byte, 0, 4096)
	var written int64
	flush := func() error {
		n, err := w.Write(lines)
		written += int64(n)
		if err == nil {
			_, err = truth.Write(facts)
		}
		lines, facts = lines[:0], facts[:0]
		return err
	}
	for line, kind, ok := g.Next(); ok; line, kind, ok = g.Next() {
		lines = append(append(lines, line...), '\n')
		if kind != "" {
			facts = fmt.Appendf(facts, "{\"line\":%d,\"kind\":%q}\n", g.next, kind)
		}
		if len(lines) >= writeSize {
			if err := flush(); err != nil {
				return written, err
			}
		}
	}
	return written, flush()
}

// badLine returns the line of the j-th bad line: one in each of as many equal stretches as there are bad lines.
func (g *Generator) badLine(j int64) int64 {
	if j >= g.bad {
		return -1
	}
	start := (j*g.opts.Lines + g.bad - 1) / g.bad
	end := ((j+1)*g.opts.Lines + g.bad - 1) / g.bad
	r := g.random(domainPlace, uint64(j))
	return start + int64(r.below(uint64(end-start)))
}
