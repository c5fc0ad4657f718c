// Package sampledata generates batches that look like real ones: realistic transactions that use the whole schema of a
// line, a given share of bad lines with every kind of error, and the truth about them. The same options give the same
// bytes. Memory does not grow with the number of lines.
package sampledata

import (
	"bufio"
	"embed"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// MaxLines is the largest number of lines, and of entities.
const MaxLines = 1 << 31

// Options say what to generate. The zero value generates no lines.
type Options struct {
	// Lines is the number of lines, 0 to MaxLines.
	Lines int64
	// Seed selects the random data.
	Seed uint64
	// Bad is the share of bad lines, 0 to 1.
	Bad float64
	// Entities is the number of known entities that lines refer to; 0 means a tenth of the lines, 20 to 100,000.
	Entities int
	// From begins the year in which modifications are created; zero means 2025-01-01.
	From time.Time
}

// Generator makes lines one after the other. It is not safe for concurrent use.
type Generator struct {
	opts Options
	from time.Time
	// bad and duplicates are the numbers of bad lines, and of those among them that share a modification ID.
	bad        int64
	duplicates int64
	slots      []slot

	// next is the next line, and nextBad the next bad line, which is line nextBadAt; all from 0.
	next      int64
	nextBad   int64
	nextBadAt int64

	w writer
	r random
	// name and text are the memory of the name and the text that are being made.
	name, text []byte
}

// New returns a generator. It fails if the options are out of range.
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
	g.duplicates = g.duplicatesBefore(g.bad)
	g.w.r = &g.r
	g.nextBadAt = g.positionOfBad(0)
	return g, nil
}

// Lines returns the lines of a batch, without line feeds, for benchmarks and tests that need them in memory. It panics
// if the options are out of range.
func Lines(n int64, seed uint64, bad float64) [][]byte {
	g, err := New(Options{Lines: n, Seed: seed, Bad: bad})
	if err != nil {
		panic(err)
	}
	out := make([][]byte, 0, n)
	for line, _, ok := g.Next(); ok; line, _, ok = g.Next() {
		out = append(out, append([]byte(nil), line...))
	}
	return out
}

// Next returns the next line, without its line feed, and the code of its error, which is "" for a good line. The line
// is valid until the next call. After the last line ok is false.
func (g *Generator) Next() (line []byte, kind string, ok bool) {
	if g.next >= g.opts.Lines {
		return nil, "", false
	}
	n := g.next
	g.next++
	g.r = g.random(domainLine, uint64(n))
	if n != g.nextBadAt {
		g.writeLine(n, nil)
		return g.w.buf, "", true
	}
	line, kind = g.makeBadLine(n, g.nextBad)
	g.nextBad++
	g.nextBadAt = g.positionOfBad(g.nextBad)
	return line, kind, true
}

// writeSize is how many bytes are written at once, or a little more.
const writeSize = 1 << 20

// WriteTo writes the remaining lines, each with a line feed. It implements io.WriterTo.
func (g *Generator) WriteTo(w io.Writer) (int64, error) {
	return g.WriteWithTruth(w, io.Discard)
}

// WriteWithTruth writes the remaining lines, as WriteTo does, and their truth: for each bad line {"line": number from
// 1, "kind": code} and a line feed. All lines that share a modification ID are bad.
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

// positionOfBad returns the line that is bad line j, or -1 if there are fewer. The file is divided into as many equal
// stretches as it has bad lines, and each stretch has one.
func (g *Generator) positionOfBad(j int64) int64 {
	if j >= g.bad {
		return -1
	}
	start := (j*g.opts.Lines + g.bad - 1) / g.bad
	end := ((j+1)*g.opts.Lines + g.bad - 1) / g.bad
	r := g.random(domainPlace, uint64(j))
	return start + int64(r.below(uint64(end-start)))
}

// onboardedStatuses and notOnboardedStatuses are the lifecycle statuses of entities, in turn.
var onboardedStatuses = []string{"Compliant", "Compliant", "Compliant", "Compliant", "Compliant", "Compliant",
	"MaintenanceInProgress", "ReviewInProgress", "PendingOffboarding"}

var notOnboardedStatuses = []string{"OnboardingInProgress", "Unknown", "ClientOffboarded"}

// poolSize returns how many entities a domain has.
func (g *Generator) poolSize(d domain) uint64 {
	if d == domainEntity {
		return uint64(g.opts.Entities)
	}
	return uint64(g.opts.Entities)/50 + uint64(len(notOnboardedStatuses))
}

// WriteEntities writes the entities that exist, as JSON Lines of {"id", "lifecycleStatus"}. Some of them are not
// onboarded. Those to which lines with entity_not_found refer are not among them.
func (g *Generator) WriteEntities(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	for n := range g.poolSize(domainEntity) {
		writeEntityRow(out, g.id(domainEntity, n), onboardedStatuses[n%uint64(len(onboardedStatuses))])
	}
	for n := range g.poolSize(domainNotOnboarded) {
		writeEntityRow(out, g.id(domainNotOnboarded, n), notOnboardedStatuses[n%uint64(len(notOnboardedStatuses))])
	}
	return out.Flush()
}

func writeEntityRow(w *bufio.Writer, id, status string) {
	fmt.Fprintf(w, "{\"id\":%q,\"lifecycleStatus\":%q}\n", id, status)
}

// Policies are the example policies, company.yaml and individual.yaml, and acme.yaml, a company for which the first can
// be evaluated.
//
//go:embed policies/*.yaml
var Policies embed.FS
