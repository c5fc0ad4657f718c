package scanner

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"sluice/shared/ingest/transaction"
)

// In steady state no line costs an allocation, whether good, bad or broken.
func TestNoAllocations(t *testing.T) {
	lines := [][]byte{[]byte(goodLine), []byte(corpus[2])}
	for _, c := range faults {
		lines = append(lines, []byte(lineWith(t, c.old, c.new)))
	}
	for _, c := range brokenLines {
		lines = append(lines, []byte(c.line))
	}
	// The standard library decides whether a number of this size is finite, and that costs an allocation.
	nines := bytes.Repeat([]byte("9"), 309)
	s := New(defaultRules())
	for _, line := range lines {
		if n := testing.AllocsPerRun(5, func() { s.Line(line) }); n > 0 && !bytes.Contains(line, nines) {
			t.Errorf("got %v allocations, want none: %s", n, line)
		}
	}
}

// JSON pointers are kept for reuse, but not without bound.
func TestKeptPointersAreBounded(t *testing.T) {
	s := New(transaction.Rules{MaxFindings: 1000})
	for n := range 2 * maxPointers / 100 {
		var b strings.Builder
		for i := range 100 {
			fmt.Fprintf(&b, `"k%d":0,`, 100*n+i)
		}
		s.Line([]byte("{" + b.String() + goodLine[1:]))
	}
	if len(s.pointers) > maxPointers {
		t.Fatalf("got %d pointers that are kept, want at most %d", len(s.pointers), maxPointers)
	}
}
