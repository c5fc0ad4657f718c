// Package chunk divides a file of lines into byte ranges that can be processed independently, and reads the lines of
// one range.
//
//	lines   AAAAAAA BBBBBBBBB CCCCCCCCCCCCCCCCCCCCCCC DDDDD EEEEEEE
//	chunks  [     0      )[     1      )[     2      )[     3      )
//	        A and B       C             no line       D and E
//
// A line belongs to the chunk that holds its first byte, so every line belongs to exactly one chunk, for every size of
// the chunks; a chunk in which no line starts has no lines. A line ends with "\n" or with the file. A "\r" in front of
// the "\n" is part of the line. A UTF-8 byte-order mark at the start of the file belongs to the first line but is not
// part of its text. Offsets count bytes from the start of the file, and the mark counts too.
package chunk

import (
	"context"
	"io"
)

const (
	// MinDefaultBytes is the least size of a chunk where NewPlan chooses it. Smaller chunks would cost more in requests
	// than they gain in parallelism.
	MinDefaultBytes = 8 << 20
	// MaxDefaultCount is the largest number of chunks where NewPlan chooses their size, unless that would make them
	// larger than MaxBytes. It bounds the history of the state machine and the rows of a batch.
	MaxDefaultCount = 256
	// MaxBytes is the largest size of any chunk: work files count the lines and bytes of a chunk in 32 bits.
	MaxBytes = 1 << 30
)

// Plan divides a file into chunks of ChunkBytes bytes each. The last chunk has the rest.
type Plan struct {
	// Size is the number of bytes of the file.
	Size int64
	// ChunkBytes is the number of bytes of a chunk, from 1 to MaxBytes. Only the zero Plan, which has no chunks, has 0.
	ChunkBytes int64
}

// NewPlan divides a file of size bytes into chunks of chunkBytes bytes, but of no more than MaxBytes. If chunkBytes is
// 0 or negative, chunks have MinDefaultBytes, or more where there would otherwise be more than MaxDefaultCount of them.
func NewPlan(size, chunkBytes int64) Plan {
	if chunkBytes <= 0 {
		chunkBytes = max(MinDefaultBytes, (size+MaxDefaultCount-1)/MaxDefaultCount)
	}
	return Plan{Size: size, ChunkBytes: min(chunkBytes, MaxBytes)}
}

// Count returns the number of chunks. It is 0 for an empty file.
func (p Plan) Count() int {
	if p.Size <= 0 || p.ChunkBytes <= 0 {
		return 0
	}
	return int((p.Size + p.ChunkBytes - 1) / p.ChunkBytes)
}

// Range returns the bytes [start, end) of chunk i, which must be in [0, Count()).
func (p Plan) Range(i int) (start, end int64) {
	start = int64(i) * p.ChunkBytes
	return start, min(start+p.ChunkBytes, p.Size)
}

// Source is a file that is read by ranges, such as an object of objects.Bucket. It must be safe for concurrent use.
type Source = interface {
	// Open opens the bytes [from, to) for reading, where 0 <= from < to <= size. The reader returns all of these bytes
	// or an error. A Read that is waiting must return once the reader has been closed or ctx has been cancelled.
	Open(ctx context.Context, from, to int64) (io.ReadCloser, error)
}

// MappedSource is a Source whose bytes can be accessed in memory, which avoids copying them.
type MappedSource interface {
	Source
	// Map returns the bytes [from, to), where 0 <= from < to <= size. Nobody may write to them. They are valid until
	// release is called. A nil release means that the range cannot be mapped; use Open.
	Map(from, to int64) (b []byte, release func())
}

// NewSource returns a Source that reads from r, for example from an open file or from bytes in memory.
func NewSource(r io.ReaderAt) Source { return readerAtSource{r} }

type readerAtSource struct{ r io.ReaderAt }

func (s readerAtSource) Open(_ context.Context, from, to int64) (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(s.r, from, to-from)), nil
}
