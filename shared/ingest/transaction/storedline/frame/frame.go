// Package frame writes zstd frames of short texts (RFC 8878) with a dictionary, in a third of the time that an encoder
// for texts of every size needs.
//
// A general encoder prepares for each text what only a long one pays for: it copies a table of the dictionary's
// strings, counts symbols and makes tables of codes. Here all of that is made once, from the dictionary: an index of
// its strings that is only read, and the tables of codes with which every text is written.
//
// Every decoder that has the dictionary reads the frames. Package zstd of the library does here.
package frame

import (
	"fmt"
	"sync"
)

// MaxText is the size of the longest text that is encoded. In a longer one tables of its own begin to pay.
const MaxText = 2 << 10

// maxLiterals is how many literals a frame has at most: what the header of one stream of compressed literals can tell.
const maxLiterals = 1<<10 - 1

// Encoder encodes texts with one dictionary. It is safe for concurrent use.
type Encoder struct {
	dictionary *dictionary
	index      *index
	// buffers has values of *buffers.
	buffers sync.Pool
}

// buffers are what encoding one text needs.
type buffers struct {
	// window is the content of the dictionary, the text, and zeros that may be read beyond it.
	window []byte
	// recent has the last place in the text of each string, by its hash.
	recent    [1 << recentBits]uint16
	sequences []sequence
	literals  []byte
	frame     [maxFrame]byte
}

// maxFrame is more than the bytes of any frame: of its headers, of raw literals or codes of at most maxHuffmanBits, and
// of the sequences, none of which has more than 8 bytes.
const maxFrame = 64 + maxLiterals*maxHuffmanBits/8 + MaxText/minMatch*8

// New returns an encoder. The dictionary has an ID of one byte and a content of at most maxContent bytes.
func New(dictionary []byte) (*Encoder, error) {
	d, err := readDictionary(dictionary)
	if err != nil {
		return nil, fmt.Errorf("reading the dictionary: %w", err)
	}
	e := &Encoder{dictionary: d, index: newIndex(d.content)}
	e.buffers.New = func() any {
		b := &buffers{window: make([]byte, len(d.content)+MaxText+lookahead)}
		copy(b.window, d.content)
		return b
	}
	return e, nil
}

// Append appends the frame of a text, without its magic number. It reports false, and appends nothing, if the text is
// longer than MaxText or has so many literals that another encoder does better. The same text gives the same frame.
func (e *Encoder) Append(dst, text []byte) ([]byte, bool) {
	if len(text) > MaxText {
		return dst, false
	}
	b := e.buffers.Get().(*buffers)
	defer e.buffers.Put(b)
	e.split(b, text)
	if len(b.literals) > maxLiterals {
		return dst, false
	}
	return append(dst, b.frame[:e.write(b, text)]...), true
}

// The types of blocks and of sections of literals.
const (
	blockRaw         = 0
	blockCompressed  = 2
	literalsRaw      = 0
	literalsTreeless = 3
)

const blockHeaderSize = 3

// write writes the frame of a text that was split, and returns its size. It has one block, which is raw if the text
// does not become shorter.
func (e *Encoder) write(b *buffers, text []byte) int {
	out := b.frame[:]
	block := e.writeHeader(out, len(text))
	body := block + blockHeaderSize
	end := e.writeLiterals(out, body, b.literals)
	end = e.writeSequences(out, end, b.sequences)
	kind := blockCompressed
	if end-body >= len(text) {
		kind, end = blockRaw, body+copy(out[body:], text)
	}
	const isLast = 1
	put24(out[block:], isLast|kind<<1|(end-body)<<3)
	return end
}

// writeHeader writes the header of a frame with one segment, the ID of the dictionary in one byte, the size of the text
// and no checksum.
func (e *Encoder) writeHeader(out []byte, size int) int {
	const (
		hasID         = 1
		singleSegment = 1 << 5
		size16        = 1 << 6 // less 256
	)
	out[1] = byte(e.dictionary.id)
	if size < 256 {
		out[0], out[2] = singleSegment|hasID, byte(size)
		return 3
	}
	out[0], out[2], out[3] = size16|singleSegment|hasID, byte(size-256), byte((size-256)>>8)
	return 4
}

// writeLiterals writes the section of literals, and returns where it ends. They are compressed with the dictionary's
// table if they become shorter by it.
func (e *Encoder) writeLiterals(out []byte, at int, literals []byte) int {
	size, rawHeaderSize := len(literals), 1
	if size >= 32 {
		rawHeaderSize = 2
	}
	const headerSize = 3
	coded, isCodable := e.dictionary.literals.sizeOf(literals)
	if isCodable && headerSize+coded < rawHeaderSize+size {
		put24(out[at:], literalsTreeless|size<<4|coded<<14)
		return e.dictionary.literals.write(out, at+headerSize, literals)
	}
	if rawHeaderSize == 1 {
		out[at] = byte(literalsRaw | size<<3)
	} else {
		const size12 = 1 << 2
		out[at], out[at+1] = byte(literalsRaw|size12|size<<4), byte(size>>4)
	}
	return at + rawHeaderSize + copy(out[at+rawHeaderSize:], literals)
}

// put24 writes a number of three bytes.
func put24(out []byte, n int) { out[0], out[1], out[2] = byte(n), byte(n>>8), byte(n>>16) }
