// Package chunk splits a file of lines into byte ranges that can be worked on apart, and reads the lines of one range.
//
// A line belongs to the chunk in which its first byte lies, so every line belongs to exactly one chunk, whatever the size
// of the chunks. A line ends with "\n" or with the file; a "\r" before it is part of the line. A UTF-8 byte-order mark at
// the start of the file belongs to no line's text. All offsets count from the first byte of the file, the mark included.
package chunk

// Sizes of a chunk, in bytes.
const (
	MinDefaultBytes = 8 << 20 // of a default chunk: smaller ones cost more in requests than they win in spread
	MaxDefaultCount = 256     // of default chunks: a fan-out step keeps its history and its rows small
	MaxBytes        = 1 << 30 // of any chunk: work files count lines and bytes of a chunk in 32 bits
)

// Plan says how a file is split: into ranges of ChunkBytes, the last one being what is left.
type Plan struct {
	Size       int64 // bytes of the file
	ChunkBytes int64 // bytes of a chunk, 1 to MaxBytes; 0 in the zero Plan only
}

// NewPlan splits a file of size bytes into chunks of chunkBytes; 0 (or less) means the larger of MinDefaultBytes and what
// makes MaxDefaultCount chunks. No chunk is larger than MaxBytes.
func NewPlan(size, chunkBytes int64) Plan {
	if chunkBytes <= 0 {
		chunkBytes = max(MinDefaultBytes, (size+MaxDefaultCount-1)/MaxDefaultCount)
	}
	return Plan{Size: size, ChunkBytes: min(chunkBytes, MaxBytes)}
}

// Count returns the number of chunks: 0 for an empty file.
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
