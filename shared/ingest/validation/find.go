package validation

import (
	"context"
	"encoding/binary"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/duplicate"
)

// FindInput is the input of FindLines.
type FindInput struct {
	// Index is the index of the chunk, or nil if it is empty.
	Index chunk.Source
	// Partition is the partition of the digests, in [0, Partitions).
	Partition int
	// Digests are the digests of the modification IDs, made with the key with which the chunk was validated. All of
	// them are in the partition.
	Digests map[duplicate.Digest]bool
	// LineCount is the number of lines of the chunk: ValidateResult.Lines.
	LineCount int64
	// From is a line of the chunk, from 0, and Limit a number of lines: of each ID, the first Limit lines from there on
	// are found.
	From  int64
	Limit int
}

// FindLines returns the lines of a chunk, counted within it from 0, that have one of the modification IDs, whether they
// have findings or not, in order for each ID. It reads one section of the index.
func FindLines(ctx context.Context, in FindInput) (map[duplicate.Digest][]int64, error) {
	section, err := readSection(ctx, in.Index, indexMagic, Partitions, in.Partition, nil)
	if err != nil || len(section) == 0 {
		return nil, err
	}
	found := map[duplicate.Digest][]int64{}
	d := &decoder{b: section}
	for _, e := range appendUniqueIDs(nil, d, 0, in.LineCount) {
		if line := int64(uint32(e.Location)); in.Digests[e.Digest] && line >= in.From && in.Limit > 0 {
			found[e.Digest] = []int64{line}
		}
	}
	for n := d.uvarint(); n > 0 && !d.failed; n-- {
		if digest, id := decodeRepeatedID(d, in.LineCount); in.Digests[digest] && !d.failed {
			found[digest] = linesFrom(id, in.From, in.Limit)
		}
	}
	d.b = nil // entities follow
	return found, d.finish("index of a chunk")
}

// linesFrom returns the first lines of an ID from one on.
func linesFrom(id repeatedID, from int64, limit int) (lines []int64) {
	line := int64(0)
	for b := id.lines; len(b) > 0 && len(lines) < limit; {
		step, n := binary.Uvarint(b)
		line, b = line+int64(step), b[n:]
		if line >= from {
			lines = append(lines, line)
		}
	}
	return lines
}
