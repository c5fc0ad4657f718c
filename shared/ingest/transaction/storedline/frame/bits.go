package frame

import "encoding/binary"

// bitWriter writes bits into a buffer, from the lowest bit of each byte on. It is a value that functions return
// changed, so that it stays in registers.
type bitWriter struct {
	// bits are those that are not in the buffer yet, and count is how many they are.
	bits  uint64
	count uint
	// at is where they belong.
	at int
}

// add adds so many bits, which are the lowest ones of a value without others. Up to 57 fit after a flush.
func (w bitWriter) add(value uint64, count uint) bitWriter {
	w.bits |= value << (w.count & 63)
	w.count += count
	return w
}

// addLowest adds the lowest bits of a value.
func (w bitWriter) addLowest(value uint64, count uint) bitWriter {
	return w.add(value&(1<<(count&63)-1), count)
}

// flush writes whole bytes, so that at most 7 bits remain. It overwrites up to 8 bytes of the buffer.
func (w bitWriter) flush(out []byte) bitWriter {
	binary.LittleEndian.PutUint64(out[w.at:], w.bits)
	w.at += int(w.count >> 3)
	w.bits >>= w.count & 56
	w.count &= 7
	return w
}

// end adds the bit that ends a stream, writes what remains, and returns where the stream ends.
func (w bitWriter) end(out []byte) int {
	w = w.add(1, 1).flush(out)
	if w.count > 0 {
		w.at++
	}
	return w.at
}

// bitReader reads bits, from the lowest bit of each byte on. After the end all bits are 0.
type bitReader struct {
	b []byte
	// at is the number of bits that were read.
	at int
}

// peek returns the next bits as a number.
func (r *bitReader) peek(count int) int {
	n := 0
	for i := range count {
		if at := r.at + i; at/8 < len(r.b) {
			n |= int(r.b[at/8]>>(at%8)&1) << i
		}
	}
	return n
}

// read returns the next bits as a number, and goes on after them.
func (r *bitReader) read(count int) int {
	n := r.peek(count)
	r.at += count
	return n
}
