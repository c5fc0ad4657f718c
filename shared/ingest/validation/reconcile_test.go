package validation

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"testing"

	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/errtest"
)

// BenchmarkReconcile finds the duplicates of 10 million IDs, one in a thousand of which is in the next chunk too, from
// the indexes of 256 chunks. The indexes are in memory too: they are MB-indexes, and are not part of the MB.
func BenchmarkReconcile(b *testing.B) {
	const ids, chunks = 10_000_000, 256
	indexes := make([]chunk.Source, chunks)
	lineCounts := make([]int64, chunks)
	for c := range indexes {
		var index indexWriter
		index.reset(testDigestKey)
		for line := range ids / chunks {
			id := c*(ids/chunks) + line
			if line%1000 == 0 {
				id = c/2*(ids/chunks) + line
			}
			index.addID(binary.AppendUvarint([]byte("00000000-0000-0000-0000-"), uint64(id)), int64(line))
		}
		var file bytes.Buffer
		errtest.Fatal(b, errtest.Of(index.writeTo(&file)))
		indexes[c], lineCounts[c] = sourceOf(file.Bytes()), ids/chunks
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		r, duplicates := new(reconciler), int64(0)
		for p := range Partitions {
			result, err := r.reconcile(b.Context(), ReconcileInput{
				Partition:  p,
				LineCounts: lineCounts,
				Index:      func(i int) chunk.Source { return indexes[i] },
				DigestKey:  testDigestKey,
			}, io.Discard)
			errtest.Fatal(b, err)
			duplicates += result.Duplicates
		}
		if want := int64(chunks * (ids/chunks + 999) / 1000); duplicates < want-chunks || duplicates > want {
			b.Fatalf("found %d duplicates, want %d to %d", duplicates, want-chunks, want)
		}
		runtime.ReadMemStats(&after)
	}
	b.ReportMetric(float64(after.HeapSys-before.HeapAlloc)/(1<<20), "MB")
	b.ReportMetric(float64(before.HeapAlloc)/(1<<20), "MB-indexes")
}
