package chunk

import (
	"context"
	"io"
)

// Source is a file that can be read by ranges. It must be safe for concurrent use.
type Source interface {
	// Open reads the bytes [from, to), 0 <= from < to <= size. The reader gives all of them or an error; it need not
	// heed the context after Open has returned, but must return from Read once it is closed or the context has ended.
	Open(ctx context.Context, from, to int64) (io.ReadCloser, error)
}

// Mapped is a Source whose bytes lie in memory, so that they need not be copied to be read.
type Mapped interface {
	Source
	// Map returns the bytes [from, to), 0 <= from < to <= size, as they lie there until release is called. Nobody writes to
	// them. Without a release they cannot be had so, and must be read.
	Map(from, to int64) (b []byte, release func())
}

// At makes a Source of anything that can be read at an offset: an open file, bytes in memory.
func At(r io.ReaderAt) Source { return at{r} }

type at struct{ r io.ReaderAt }

func (a at) Open(_ context.Context, from, to int64) (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(a.r, from, to-from)), nil
}
