package validation

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"testing"

	"sluice/shared/chunk"
)

// BenchmarkReconcile finds the duplicates of 10 million IDs, one in a thousand of which has a twin in the next chunk,
// from the index files of 256 chunks. The files are held in memory too, and not counted in the figure MB.
func BenchmarkReconcile(b *testing.B) {
	const ids, chunks = 10_000_000, 256
	files := make([]chunk.Source, chunks)
	lines := make([]int64, chunks)
	for c := range files {
		var x indexWriter
		x.reset(key)
		for line := range ids / chunks {
			id := c*(ids/chunks) + line
			if line%1000 == 0 {
				id = c/2*(ids/chunks) + line
			}
			x.addID(binary.AppendUvarint([]byte("00000000-0000-0000-0000-"), uint64(id)), int64(line))
		}
		var file bytes.Buffer
		if _, err := x.writeTo(&file); err != nil {
			b.Fatal(err)
		}
		files[c], lines[c] = source(file.Bytes()), ids/chunks
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		r, duplicates := new(reconciler), int64(0)
		for p := range Partitions {
			result, err := r.reconcile(b.Context(), ReconcileInput{
				Partition: p, LineCounts: lines, DigestKey: key, Index: func(i int) chunk.Source { return files[i] },
			}, io.Discard)
			if err != nil {
				b.Fatal(err)
			}
			duplicates += result.Duplicates
		}
		if want := int64(chunks * (ids/chunks + 999) / 1000); duplicates < want-chunks || duplicates > want {
			b.Fatalf("%d duplicates, want about %d", duplicates, want)
		}
		runtime.ReadMemStats(&after)
	}
	b.ReportMetric(float64(after.HeapSys-before.HeapAlloc)/(1<<20), "MB")
	b.ReportMetric(float64(before.HeapAlloc)/(1<<20), "MB-files")
}
