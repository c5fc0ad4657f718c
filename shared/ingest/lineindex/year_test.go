package lineindex

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestSegmentsOfAYear merges as Maintain does, after each of a thousand batches a day for a year. A search reads a page
// of each segment: with those of one that has the identifier (entries, table, record), of the catalog, of the latest
// batches and of the batch and the version that are found, 40 requests suffice.
func TestSegmentsOfAYear(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string]func(r *rand.Rand) int64{
		"1,000 lines":           func(*rand.Rand) int64 { return 1000 },
		"10,000 lines":          func(*rand.Rand) int64 { return 10_000 },
		"1,800,000 lines":       func(*rand.Rand) int64 { return 1_800_000 },
		"10 to 1,000,000 lines": func(r *rand.Rand) int64 { return int64(math.Pow(10, 1+5*r.Float64())) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(3, 4))
			var segments []Segment
			most, written, added := 0, int64(0), int64(0)
			for i := range 365_000 {
				n := int64(Kinds) * lines(r)
				added += n
				segments = append(segments, Segment{ID: fmt.Sprintf("%08d", i), Entries: []int64{n}})
				for inputs := choose(segments, time.Time{}); inputs != nil; inputs = choose(segments, time.Time{}) {
					merged := Segment{ID: fmt.Sprintf("%08d+", i), Entries: []int64{0}}
					for _, s := range inputs {
						merged.Entries[0] += s.total()
						at := slices.IndexFunc(segments, func(other Segment) bool { return other.ID == s.ID })
						segments = slices.Delete(segments, at, at+1)
					}
					written += merged.total()
					segments = append(segments, merged)
				}
				most = max(most, len(segments))
			}
			t.Logf("at most %d segments, each entry was written %.1f times", most, 1+float64(written)/float64(added))
			const others = 3 + 2 + 2
			if most+others > 40 {
				t.Errorf("%d segments and %d other requests, want at most 40", most, others)
			}
		})
	}
}
