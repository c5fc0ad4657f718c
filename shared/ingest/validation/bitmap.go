package validation

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// The accept bitmap of a chunk marks the lines that will be ingested:
//
//	bytes        content
//	4            "SLA1"; the last byte is the version of the format
//	8            number of lines of the chunk, little endian
//	(lines+7)/8  one bit for each line, in order, the lowest bit of a byte first: 1 if the line is accepted, 0 if
//	             it is blank or rejected. Bits after the last line are 0.
const bitmapMagic = "SLA1"

// Bitmap is the accept bitmap of a chunk. It holds one bit for each line in memory. The zero Bitmap has no lines.
type Bitmap struct {
	lines int64
	bits  []byte
}

// ReadBitmap reads the accept bitmap that SettleChunk wrote for a chunk of the given number of lines. The error wraps
// ErrCorrupt if the bitmap is of another number of lines, is incomplete or has further bytes after it.
func ReadBitmap(r io.Reader, lines int64) (Bitmap, error) {
	in := bufio.NewReader(r)
	var header [len(bitmapMagic) + 8]byte
	if _, err := io.ReadFull(in, header[:]); err != nil {
		return Bitmap{}, bitmapReadError(err)
	}
	if string(header[:4]) != bitmapMagic || lines < 0 || binary.LittleEndian.Uint64(header[4:]) != uint64(lines) {
		return Bitmap{}, fmt.Errorf("%w: not a bitmap of %d lines", ErrCorrupt, lines)
	}
	b := Bitmap{lines: lines, bits: make([]byte, (lines+7)/8)}
	if _, err := io.ReadFull(in, b.bits); err != nil {
		return Bitmap{}, bitmapReadError(err)
	}
	if _, err := in.ReadByte(); err != io.EOF {
		return Bitmap{}, fmt.Errorf("%w: bitmap has bytes after its end", ErrCorrupt)
	}
	return b, nil
}

func bitmapReadError(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: bitmap is incomplete", ErrCorrupt)
	}
	return fmt.Errorf("read bitmap: %w", err)
}

// Accepted reports whether a line of the chunk, counted from 0, will be ingested. It is false for lines that the chunk
// does not have.
func (b Bitmap) Accepted(line int64) bool {
	return line >= 0 && line < b.lines && b.bits[line/8]&(1<<(line%8)) != 0
}

// bitmapWriter writes the bits of the lines in order. It keeps its buffer for the next bitmap.
type bitmapWriter struct {
	w *bufio.Writer
	// nextLine is the first line whose bit has not been written, and partial is the byte that its bit belongs to, so
	// far.
	nextLine int64
	partial  byte
}

// reset starts the bitmap of a chunk of the given number of lines. An error of w is returned by close.
func (b *bitmapWriter) reset(w io.Writer, lines int64) {
	*b = bitmapWriter{w: resetWriter(b.w, w, 4<<10)}
	b.w.Write(binary.LittleEndian.AppendUint64([]byte(bitmapMagic), uint64(lines)))
}

// fillUntil sets every line not yet written, up to but excluding line, to bit.
func (b *bitmapWriter) fillUntil(line int64, bit bool) {
	for b.nextLine < line {
		if b.nextLine%8 == 0 && line-b.nextLine >= 8 {
			eight := byte(0)
			if bit {
				eight = 0xFF
			}
			b.w.WriteByte(eight)
			b.nextLine += 8
			continue
		}
		if bit {
			b.partial |= 1 << (b.nextLine % 8)
		}
		if b.nextLine++; b.nextLine%8 == 0 {
			b.w.WriteByte(b.partial)
			b.partial = 0
		}
	}
}

// close writes the buffer, and returns the first error of the writer.
func (b *bitmapWriter) close() error {
	if b.nextLine%8 != 0 {
		b.w.WriteByte(b.partial)
	}
	return b.w.Flush()
}
