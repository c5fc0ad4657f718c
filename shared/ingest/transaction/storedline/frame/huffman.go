package frame

import (
	"math/bits"

	"github.com/klauspost/compress/fse"
)

// huffmanTable has the code of each byte (RFC 8878, section 4.2).
type huffmanTable [256]huffmanCode

// huffmanCode is a code of so many bits, 0 of a byte that has none.
type huffmanCode struct {
	code   uint16
	length uint8
}

// maxHuffmanBits is the length of the longest code that the format allows.
const maxHuffmanBits = 11

// read reads the description of a table, and returns what follows it.
func (t *huffmanTable) read(b []byte) (rest []byte, err error) {
	weights, rest, err := readWeights(b)
	if err != nil {
		return nil, err
	}
	// A code of weight w is one of 2^(w-1) parts of all. The last weight is not written: it makes them a power of two.
	sum := 0
	for _, weight := range weights {
		sum += 1 << weight >> 1
	}
	longest := bits.Len(uint(sum))
	missing := 1<<longest - sum
	if sum == 0 || longest > maxHuffmanBits || missing&(missing-1) != 0 || len(weights) >= len(t) {
		return nil, errTables
	}
	weights = append(weights, byte(bits.Len(uint(missing))))
	// The longest codes come first, and those of one length in the order of their bytes.
	next := 0
	for weight := 1; weight <= longest; weight++ {
		for symbol, w := range weights {
			if int(w) == weight {
				t[symbol] = huffmanCode{uint16(next >> (weight - 1)), uint8(longest + 1 - weight)}
				next += 1 << (weight - 1)
			}
		}
	}
	return rest, nil
}

// readWeights reads the weights of a table, which are compressed or have 4 bits each.
func readWeights(b []byte) (weights, rest []byte, err error) {
	if len(b) < 2 {
		return nil, nil, errTables
	}
	size, b := int(b[0]), b[1:]
	const firstRaw = 128
	count := size - firstRaw + 1
	if size >= firstRaw {
		size = (count + 1) / 2
	}
	if size > len(b) {
		return nil, nil, errTables
	}
	if count <= 0 {
		weights, err = fse.Decompress(b[:size], &fse.Scratch{DecompressLimit: 255})
		return weights, b[size:], err
	}
	for _, pair := range b[:size] {
		weights = append(weights, pair>>4, pair&15)
	}
	return weights[:count], b[size:], nil
}

// sizeOf returns the size of the stream of a text. It reports false if a byte has no code.
func (t *huffmanTable) sizeOf(text []byte) (size int, ok bool) {
	total, missing := 0, 0
	for _, c := range text {
		length := int(t[c].length)
		total += length
		missing |= length - 1
	}
	return total/8 + 1, missing >= 0
}

// write writes the stream of a text, in which the last byte comes first, and returns where it ends. Every byte must
// have a code.
func (t *huffmanTable) write(out []byte, at int, text []byte) int {
	w := bitWriter{at: at}
	for ; len(text) >= 4; text = text[:len(text)-4] {
		last := text[len(text)-4:]
		a, b, c, d := t[last[3]], t[last[2]], t[last[1]], t[last[0]]
		w = w.add(uint64(a.code), uint(a.length)).add(uint64(b.code), uint(b.length)).
			add(uint64(c.code), uint(c.length)).add(uint64(d.code), uint(d.length)).flush(out)
	}
	for i := len(text) - 1; i >= 0; i-- {
		c := t[text[i]]
		w = w.add(uint64(c.code), uint(c.length))
	}
	return w.end(out)
}
