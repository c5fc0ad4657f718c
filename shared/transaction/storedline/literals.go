package storedline

import (
	"sync"

	"github.com/klauspost/compress/huff0"
	"github.com/klauspost/compress/zstd"
)

// The encoder never writes literals with the Huffman table of a dictionary, although the format has that: it compares
// the table's result with one of a table of their own as if that cost nothing, and in a short text either pays for such
// a table or leaves the literals as they are. This file does what it leaves out, on the frame that it wrote.

// literalsCoder compresses the literals of short frames with the Huffman table of a dictionary.
type literalsCoder struct {
	// scratches has values of *huff0.Scratch with the table.
	scratches sync.Pool
}

// newLiteralsCoder returns a coder with the table of a dictionary.
func newLiteralsCoder(dictionary []byte) (*literalsCoder, error) {
	d, err := zstd.InspectDictionary(dictionary)
	if err != nil {
		return nil, err
	}
	c := new(literalsCoder)
	c.scratches.New = func() any {
		s := &huff0.Scratch{Reuse: huff0.ReusePolicyMust}
		s.TransferCTable(d.LitEncoder())
		return s
	}
	return c, nil
}

// The types of blocks and of sections of literals that matter here.
const (
	blockCompressed  = 2
	literalsRaw      = 0
	literalsTreeless = 3
)

// maxCodedLiterals is the largest size that the shortest header of compressed literals can tell.
const maxCodedLiterals = 1<<10 - 1

// compress returns a frame without its magic number, in which the literals are compressed with the table of the
// dictionary if the frame has one block with raw literals and becomes shorter by it. It changes the frame in place.
func (c *literalsCoder) compress(frame []byte) []byte {
	at := frameHeaderSize(frame)
	block := int(frame[at]) | int(frame[at+1])<<8 | int(frame[at+2])<<16
	isLast, kind := block&1 != 0, block>>1&3
	body := at + 3
	if !isLast || kind != blockCompressed || frame[body]&3 != literalsRaw {
		return frame
	}
	start, size := readRawLiterals(frame[body:])
	start += body
	if size > maxCodedLiterals {
		return frame
	}
	scratch := c.scratches.Get().(*huff0.Scratch)
	defer c.scratches.Put(scratch)
	coded, _, err := huff0.Compress1X(frame[start:start+size], scratch)
	const headerSize = 3
	saved := start + size - body - headerSize - len(coded)
	if err != nil || saved <= 0 {
		return frame
	}
	header := literalsTreeless | size<<4 | len(coded)<<14
	frame[body], frame[body+1], frame[body+2] = byte(header), byte(header>>8), byte(header>>16)
	end := body + headerSize + copy(frame[body+headerSize:], coded)
	end += copy(frame[end:], frame[start+size:])
	block -= saved << 3
	frame[at], frame[at+1], frame[at+2] = byte(block), byte(block>>8), byte(block>>16)
	return frame[:end]
}

// frameHeaderSize returns the size of the header of a frame without the magic number.
func frameHeaderSize(frame []byte) int {
	descriptor := frame[0]
	isSingleSegment := descriptor>>5&1 != 0
	size := 1 + []int{0, 1, 2, 4}[descriptor&3] + []int{0, 2, 4, 8}[descriptor>>6]
	if !isSingleSegment {
		return size + 1 // the size of the window
	}
	if descriptor>>6 == 0 {
		size++
	}
	return size
}

// readRawLiterals reads the header of a section of raw literals: where they begin in it, and how many they are.
func readRawLiterals(section []byte) (start, size int) {
	switch first := int(section[0]); first >> 2 & 3 {
	case 1:
		return 2, first>>4 | int(section[1])<<4
	case 3:
		return 3, first>>4 | int(section[1])<<4 | int(section[2])<<12
	default:
		return 1, first >> 3
	}
}
