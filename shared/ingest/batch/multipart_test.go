package batch_test

import (
	"fmt"
	"testing"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
)

// Parts have the preferred size unless there would be too many, and add up to the file.
func TestPartsOfAFile(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct{ length, partSize, count, last int64 }{
		{0, 16 * mib, 1, 0},
		{1, 16 * mib, 1, 1},
		{16*mib - 1, 16 * mib, 1, 16*mib - 1},
		{16 * mib, 16 * mib, 1, 16 * mib},
		{16*mib + 1, 16 * mib, 2, 1},
		{2147483647, 16 * mib, 128, 16*mib - 1},
		{160_000 * mib, 16 * mib, 10_000, 16 * mib},
		{160_000*mib + 1, 17 * mib, 9412, 160_000*mib + 1 - 9411*17*mib},
	} {
		t.Run(fmt.Sprint(tt.length), func(t *testing.T) {
			size := batch.PartSizeFor(tt.length, 16*mib, 10_000)
			m := batch.Multipart{PartSize: size, PartCount: batch.PartCountFor(tt.length, size)}
			sum := int64(0)
			for number := int64(1); number <= m.PartCount; number++ {
				sum += m.SizeOf(number, tt.length)
			}
			difftest.Equal(t, "result", []any{tt.partSize, tt.count, tt.last, tt.length},
				[]any{size, m.PartCount, m.SizeOf(tt.count, tt.length), sum})
		})
	}
}

// A list of parts is identified by its numbers and ETags.
func TestCompletion(t *testing.T) {
	list := []batch.UploadedPart{{Number: 1, ETag: "a"}, {Number: 2, ETag: "b"}}
	want := batch.CompletionOf(list)
	difftest.Equal(t, "the same list", want,
		batch.CompletionOf([]batch.UploadedPart{{Number: 1, ETag: "a"}, {Number: 2, ETag: "b"}}))
	for _, other := range [][]batch.UploadedPart{nil, list[:1], {{Number: 1, ETag: "a"}, {Number: 2, ETag: "c"}},
		{{Number: 1, ETag: "a"}, {Number: 3, ETag: "b"}}} {
		if batch.CompletionOf(other) == want {
			t.Errorf("%v is identified like %v", other, list)
		}
	}
}
