package validation

import (
	"context"
	"errors"
	"io"
)

// Chunk reads the lines that start in a chunk, each once, and writes down what they say. Nothing is written to a file
// that would hold nothing. The index is written at the end, the findings as they are made.
func Chunk(ctx context.Context, in ChunkInput, findings, index io.Writer) (ChunkResult, error) {
	return ChunkResult{}, errors.ErrUnsupported
}

// Reconcile finds, in one partition of the whole batch, the lines that share a modification ID and the entities that
// transactions may not name, and writes marks for their lines, grouped by chunk. Nothing is written when there are none.
func Reconcile(ctx context.Context, in ReconcileInput, marks io.Writer) (ReconcileResult, error) {
	return ReconcileResult{}, errors.ErrUnsupported
}

// Settle merges what is known of the lines of a chunk: it writes the chunk's part of the report, JSON Lines with absolute
// line numbers, and the bitmap of its accepted lines (see Bitmap). Parts in the order of the chunks are the report. The
// chunk is read again only if it has a line that is rejected by marks alone, for its identifiers.
func Settle(ctx context.Context, in SettleInput, part, accepted io.Writer) (SettleResult, error) {
	return SettleResult{}, errors.ErrUnsupported
}

// Bitmap says which lines of a chunk are accepted transactions. Its file form is the magic "SLA1", the number of lines (8
// bytes, little endian), and one bit for each line, the lowest bit of a byte first.
type Bitmap struct {
	lines int64
	bits  []byte
}

// ReadBitmap reads what Settle wrote for a chunk of so many lines. ErrCorrupt if it is of another size.
func ReadBitmap(r io.Reader, lines int64) (Bitmap, error) {
	return Bitmap{}, errors.ErrUnsupported
}

// Accepted reports whether a line of the chunk, from 0, is to be ingested.
func (b Bitmap) Accepted(line int64) bool {
	return line >= 0 && line < b.lines && b.bits[line/8]&(1<<(line%8)) != 0
}
