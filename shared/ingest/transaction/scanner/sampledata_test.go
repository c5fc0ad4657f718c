package scanner_test

import (
	"testing"
	"time"

	"sluice/sampledata"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/kit/errtest"
)

// The generator knows the faults of each of its lines. The scanner must find just those, as far as the line alone can
// show it.
func TestGeneratedLines(t *testing.T) {
	for _, share := range []float64{0, 0.5, 1} {
		g := errtest.Must(sampledata.New(sampledata.Options{Lines: 4000, Seed: 7, Bad: share}))(t)
		s := scanner.New(transaction.Rules{ReceivedAt: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
			MaxFuture: 720 * time.Hour})
		wholeBatch := map[string]bool{"duplicate_modification_id": true, "entity_not_found": true,
			"entity_not_onboarded": true}
		seen := make(map[string]bool)
		for n := 1; ; n++ {
			line, kind, ok := g.Next()
			if !ok {
				break
			}
			r := s.Line(line)
			if kind == "" || wholeBatch[kind] {
				if len(r.Findings) > 0 || r.ModificationID == nil {
					t.Fatalf("line %d, kind %q: %v", n, kind, r.Findings)
				}
				continue
			}
			if len(r.Findings) == 0 || string(r.Findings[0].Code) != kind {
				t.Errorf("line %d: want %s, got %v", n, kind, r.Findings)
			}
			seen[kind] = true
		}
		if share > 0 && len(seen) < 26 {
			t.Errorf("share %v: only %d kinds of errors were generated", share, len(seen))
		}
	}
}
