package validation

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

const bitmapMagic = "SLA1"

// Bitmap says which lines of a chunk are accepted transactions. Its file form is the magic "SLA1", the number of lines (8
// bytes, little endian), and one bit for each line, the lowest bit of a byte first.
type Bitmap struct {
	lines int64
	bits  []byte
}

// ReadBitmap reads what Settle wrote for a chunk of so many lines. ErrCorrupt if it is of another size.
func ReadBitmap(r io.Reader, lines int64) (Bitmap, error) {
	in := bufio.NewReader(r)
	var head [len(bitmapMagic) + 8]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return Bitmap{}, bitmapError(err)
	}
	if string(head[:4]) != bitmapMagic || lines < 0 || binary.LittleEndian.Uint64(head[4:]) != uint64(lines) {
		return Bitmap{}, fmt.Errorf("%w: not a bitmap of %d lines", ErrCorrupt, lines)
	}
	b := Bitmap{lines: lines, bits: make([]byte, (lines+7)/8)}
	if _, err := io.ReadFull(in, b.bits); err != nil {
		return Bitmap{}, bitmapError(err)
	}
	if _, err := in.ReadByte(); err != io.EOF {
		return Bitmap{}, fmt.Errorf("%w: bitmap with something behind it", ErrCorrupt)
	}
	return b, nil
}

func bitmapError(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: bitmap ends early", ErrCorrupt)
	}
	return fmt.Errorf("read bitmap: %w", err)
}

// Accepted reports whether a line of the chunk, from 0, is to be ingested.
func (b Bitmap) Accepted(line int64) bool {
	return line >= 0 && line < b.lines && b.bits[line/8]&(1<<(line%8)) != 0
}

// bitmapWriter writes the bits of lines in their order.
type bitmapWriter struct {
	w    *bufio.Writer
	next int64 // line
	part byte  // bits of the byte that next is in
}

// reset begins the bitmap of so many lines.
func (b *bitmapWriter) reset(w io.Writer, lines int64) {
	*b = bitmapWriter{w: reset(b.w, w, 4<<10)}
	b.w.Write(binary.LittleEndian.AppendUint64([]byte(bitmapMagic), uint64(lines))) // an error stays until Flush
}

// until gives all lines before the given one, as far as they have no bit yet, the bit.
func (b *bitmapWriter) until(line int64, bit bool) {
	for b.next < line {
		if b.next%8 == 0 && line-b.next >= 8 {
			full := byte(0)
			if bit {
				full = 0xFF
			}
			b.w.WriteByte(full)
			b.next += 8
			continue
		}
		if bit {
			b.part |= 1 << (b.next % 8)
		}
		if b.next++; b.next%8 == 0 {
			b.w.WriteByte(b.part)
			b.part = 0
		}
	}
}

func (b *bitmapWriter) close() error {
	if b.next%8 != 0 {
		b.w.WriteByte(b.part)
	}
	return b.w.Flush()
}
