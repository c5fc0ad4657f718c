package chunk

import (
	"fmt"
	"math"
	"testing"

	"sluice/shared/kit/difftest"
)

func TestDefaultPlan(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		size, chunkBytes int64
		count            int
	}{
		{0, 8 * mib, 0},
		{1, 8 * mib, 1},
		{8*mib - 1, 8 * mib, 1},
		{8 * mib, 8 * mib, 1},
		{8*mib + 1, 8 * mib, 2},
		{256 * 8 * mib, 8 * mib, 256},
		{256*8*mib + 1, 8*mib + 1, 256},
		{math.MaxInt32, 8 * mib, 256},
		{1 << 40, MaxBytes, 1 << 10},
	} {
		p := NewPlan(c.size, 0)
		difftest.Equal(t, fmt.Sprintf("a file of %d bytes", c.size), []any{c.chunkBytes, c.count},
			[]any{p.ChunkBytes, p.Count()})
	}
}

func TestPlanCoversTheFile(t *testing.T) {
	for size := int64(0); size < 40; size++ {
		for chunkBytes := int64(1); chunkBytes < 45; chunkBytes++ {
			p := NewPlan(size, chunkBytes)
			covered := int64(0)
			for i := range p.Count() {
				start, end := p.Range(i)
				if start != covered || end <= start || end-start > chunkBytes {
					t.Fatalf("file of %d bytes in chunks of %d: chunk %d is [%d, %d), want it to start at %d",
						size, chunkBytes, i, start, end, covered)
				}
				covered = end
			}
			if covered != size {
				t.Fatalf("file of %d bytes in chunks of %d: only %d bytes are covered", size, chunkBytes, covered)
			}
		}
	}
}

func TestZeroPlanHasNoChunks(t *testing.T) {
	difftest.Equal(t, "chunks of the zero plan", 0, (Plan{}).Count())
}
