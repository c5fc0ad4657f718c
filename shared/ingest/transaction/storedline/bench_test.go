package storedline

import (
	"testing"

	"github.com/klauspost/compress/zstd"

	"sluice/shared/kit/errtest"
)

// BenchmarkEncode compares the form with the frames of earlier releases.
func BenchmarkEncode(b *testing.B) {
	lines := generate(2000, 77)
	size := 0
	for _, l := range lines {
		size += len(l.Text)
	}
	run := func(name string, encode func(Line) []byte) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size / len(lines)))
			b.ReportAllocs()
			stored := 0
			for i := range b.N {
				stored += len(encode(lines[i%len(lines)]))
			}
			b.ReportMetric(float64(stored)/float64(b.N), "stored/line")
		})
	}
	frames := errtest.Must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(256<<10)))(b)
	run("frame", func(l Line) []byte { return frames.EncodeAll(l.Text, nil) })
	c := errtest.Must(New())(b)
	run("packed", c.Encode)
	p := new(packed)
	run("pack alone", func(l Line) []byte {
		p.pack(l)
		return p.text
	})
	var stored [][]byte
	for _, l := range lines {
		stored = append(stored, c.Encode(l))
	}
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(size / len(lines)))
		b.ReportAllocs()
		for i := range b.N {
			l := lines[i%len(lines)]
			errtest.Fatal(b, errtest.Of(c.Decode(stored[i%len(lines)], l.TransactionID, l.ModificationID)))
		}
	})
}
