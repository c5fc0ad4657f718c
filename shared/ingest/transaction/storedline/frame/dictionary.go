package frame

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// dictionary is what an encoder needs of a dictionary.
type dictionary struct {
	id      uint32
	content []byte
	// offsets are the repeat offsets with which a frame begins. None is larger than the content.
	offsets  repeatOffsets
	literals huffmanTable
	// The tables of the codes of sequences.
	literalLengths, matchLengths, matchOffsets *fseTable
}

// maxID is the largest ID of one byte. The places of a window of maxContent bytes and a text have two bytes.
const (
	maxID      = 1<<8 - 1
	maxContent = 1<<16 - MaxText
)

var errTables = errors.New("the tables are damaged")

// readDictionary reads a dictionary (RFC 8878, section 5). The library checks it, and finds the content; what it does
// not give is the tables.
func readDictionary(b []byte) (*dictionary, error) {
	inspected, err := zstd.InspectDictionary(b)
	if err != nil {
		return nil, err
	}
	d := &dictionary{id: inspected.ID(), content: inspected.Content()}
	if d.id > maxID || len(d.content) > maxContent {
		return nil, fmt.Errorf("ID %d and %d bytes; at most %d and %d are possible", d.id, len(d.content), maxID,
			maxContent)
	}
	for i, offset := range inspected.Offsets() {
		d.offsets[i] = uint32(offset)
	}
	const tablesOffset, offsetsSize = 8, 12
	tables := b[tablesOffset : len(b)-len(d.content)-offsetsSize]
	if tables, err = d.literals.read(tables); err != nil {
		return nil, err
	}
	for _, t := range []struct {
		table   **fseTable
		symbols int
	}{
		{&d.matchOffsets, offsetCodes}, {&d.matchLengths, matchLengthCodes}, {&d.literalLengths, literalLengthCodes},
	} {
		if *t.table, tables, err = readFSETable(tables, t.symbols); err != nil {
			return nil, err
		}
	}
	if len(tables) != 0 {
		return nil, errTables
	}
	return d, nil
}
