package chunk

import (
	"math"
	"testing"
)

func TestDefaultPlan(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		size, bytes int64
		count       int
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
		if p.ChunkBytes != c.bytes || p.Count() != c.count {
			t.Errorf("%d bytes: %d chunks of %d, want %d of %d", c.size, p.Count(), p.ChunkBytes, c.count, c.bytes)
		}
	}
}

func TestPlanCoversTheFile(t *testing.T) {
	for size := int64(0); size < 40; size++ {
		for bytes := int64(1); bytes < 45; bytes++ {
			p := NewPlan(size, bytes)
			at := int64(0)
			for i := range p.Count() {
				start, end := p.Range(i)
				if start != at || end <= start || end-start > bytes {
					t.Fatalf("size %d in %d: chunk %d is [%d, %d)", size, bytes, i, start, end)
				}
				at = end
			}
			if at != size {
				t.Fatalf("size %d in %d: covered to %d", size, bytes, at)
			}
		}
	}
}

func TestZeroPlanHasNoChunks(t *testing.T) {
	if n := (Plan{}).Count(); n != 0 {
		t.Errorf("zero plan has %d chunks", n)
	}
}
