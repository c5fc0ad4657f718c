package validation

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// decoder decodes a record or a section. After something that it could not decode it has failed, and returns zero
// values.
type decoder struct {
	b      []byte
	failed bool
}

func (d *decoder) fail() { d.b, d.failed = nil, true }

// finish returns an error if the decoder has failed or has bytes left. What is decoded is named in the error.
func (d *decoder) finish(what string) error {
	if d.failed || len(d.b) > 0 {
		return fmt.Errorf("%w: %s", ErrCorrupt, what)
	}
	return nil
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

// uvarintUpTo decodes a number, and fails if it is larger than limit.
func (d *decoder) uvarintUpTo(limit int64) int64 {
	v := d.uvarint()
	if v > uint64(max(limit, 0)) {
		d.fail()
		return 0
	}
	return int64(v)
}

// bytes decodes n bytes, which share the memory of the record or section.
func (d *decoder) bytes(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.fail()
		return nil
	}
	b := d.b[:n:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// text decodes what appendText encodes: a length and that many bytes.
func (d *decoder) text() []byte { return d.bytes(int(d.uvarintUpTo(int64(len(d.b))))) }

// appendText appends the number of the bytes of s, as a uvarint, and s.
func appendText[T string | []byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// resetWriter makes a buffered writer write to w. If there is no buffered writer yet, it makes one with a buffer of
// size bytes.
func resetWriter(b *bufio.Writer, w io.Writer, size int) *bufio.Writer {
	if b == nil {
		return bufio.NewWriterSize(w, size)
	}
	b.Reset(w)
	return b
}

// grouping is the indexes of items, ordered by the group of the item. Group i ends at ends[i].
type grouping struct{ indexes, ends []uint32 }

// group returns the indexes of the items of group i, in order.
func (g grouping) group(i int) []uint32 {
	switch {
	case len(g.indexes) == 0:
		return nil
	case i == 0:
		return g.indexes[:g.ends[0]]
	}
	return g.indexes[g.ends[i-1]:g.ends[i]]
}

// groupBy groups items by a key in [0, groups).
func groupBy[T any](groups int, items []T, key func(T) uint32) grouping {
	if len(items) == 0 {
		return grouping{}
	}
	g := grouping{make([]uint32, len(items)), make([]uint32, groups)}
	for _, item := range items {
		g.ends[key(item)]++
	}
	sum := uint32(0)
	for i, n := range g.ends {
		g.ends[i] = sum
		sum += n
	}
	for i, item := range items {
		k := key(item)
		g.indexes[g.ends[k]] = uint32(i)
		g.ends[k]++
	}
	return g
}
