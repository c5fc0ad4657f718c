package unpack_test

import (
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/unpack"
	"sluice/shared/kit/errtest"
)

// Unpacking any file ends, within its limits, and the same way however the file arrives. Gzip files unpack to the
// result of the standard library.
func FuzzReader(f *testing.F) {
	g, z := packGzip(f, text), packZstd(f, text)
	f.Add(g, z, uint16(0), byte(0))
	f.Add(g, g, uint16(20), byte(1))
	f.Add(z, z, uint16(9), byte(4))
	f.Add(z, []byte(skippable), uint16(0), byte(0))
	f.Add(g, []byte("garbage"), uint16(0), byte(0))
	f.Fuzz(func(t *testing.T, first, second []byte, at uint16, flip byte) {
		packed := append(bytes.Clone(first), second...)
		if int(at) < len(packed) {
			packed[at] ^= flip
		}
		encoding := unpack.Recognize(packed)
		if encoding == batch.Identity {
			return
		}
		limits := unpack.Limits{MaxBytes: 1 << 20, MaxRatio: 100}
		content, err := readAll(bytes.NewReader(packed), encoding, len(packed), limits)
		if err != nil && !errors.As(err, new(*unpack.Error)) {
			t.Errorf("got error %v, want one for the client", err)
		}
		if len(content) > min(1<<20, 100*len(packed)) {
			t.Errorf("got %d bytes of %d packed ones, more than allowed", len(content), len(packed))
		}
		again, errAgain := readAll(iotest.HalfReader(bytes.NewReader(packed)), encoding, len(packed), limits)
		if again != content || (err == nil) != (errAgain == nil) || err != nil && err.Error() != errAgain.Error() {
			t.Errorf("another arrival: got %d bytes, error %v, want %d, %v", len(again), errAgain, len(content), err)
		}
		if encoding == batch.Gzip && err == nil {
			r := errtest.Must(stdgzip.NewReader(bytes.NewReader(packed)))(t)
			if want, err := io.ReadAll(r); err != nil || string(want) != content {
				t.Errorf("got %d bytes, want %d, %v", len(content), len(want), err)
			}
		}
	})
}
