package validation

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"sluice/shared/chunk"
)

// A work file that is read in parts is a header and its sections one after the other. The header is a magic of 4 bytes, of
// which the last is the version; the number of sections in 4 bytes; and the places in the file where the sections begin,
// with the end of the last, in 8 bytes each. Everything is little endian. So a section costs a read of the header and one
// of the section, and none if it is empty.
const (
	indexMagic = "SLX1" // one section for each partition
	marksMagic = "SLM1" // one section for each chunk
)

func headerBytes(sections int) int { return 8 + 8*(sections+1) }

// keptBytes is how much of a file is held from the measuring of its sections to their writing.
const keptBytes = 8 << 20

// sectionWriter writes sectioned files, and keeps its memory from one to the next.
type sectionWriter struct{ buf []byte }

// write writes a sectioned file, or nothing at all if all its sections are empty, and returns its length. As the lengths come
// first, the sections of a larger file are encoded twice, so that no more than one of them is held.
func (s *sectionWriter) write(w io.Writer, magic string, count int, encode func(i int, to []byte) []byte) (int64, error) {
	header := binary.LittleEndian.AppendUint32([]byte(magic), uint32(count))
	place := int64(headerBytes(count))
	header = binary.LittleEndian.AppendUint64(header, uint64(place))
	buf := s.buf[:0]
	defer func() { s.buf = buf }()
	kept := true
	for i := range count {
		start := len(buf)
		buf = encode(i, buf)
		place += int64(len(buf) - start)
		header = binary.LittleEndian.AppendUint64(header, uint64(place))
		if kept = kept && len(buf) <= keptBytes; !kept {
			buf = buf[:0]
		}
	}
	if place == int64(len(header)) {
		return 0, nil
	}
	if _, err := w.Write(header); err != nil {
		return 0, err
	}
	if kept {
		_, err := w.Write(buf)
		return place, err
	}
	for i := range count {
		buf = encode(i, buf[:0])
		if _, err := w.Write(buf); err != nil {
			return 0, err
		}
	}
	return place, nil
}

// sectionReader reads one section of each of many files, and keeps its memory from one to the next.
type sectionReader struct{ buffers *pool[[]byte] }

// each reads the sections of files 0 to n-1, as many at the same time as there are workers, and uses them in their order. A
// section is valid until use returns.
func (s *sectionReader) each(ctx context.Context, n, workers int, read func(_ context.Context, i int, buf []byte) ([]byte, error),
	use func(i int, section []byte) error) error {
	if s.buffers == nil {
		s.buffers = newPool(2*max(workers, 1), func() []byte { return nil })
	}
	return inOrder(ctx, n, workers, func(ctx context.Context, i int) ([]byte, error) {
		return read(ctx, i, s.buffers.take())
	}, func(i int, section []byte) error {
		defer s.buffers.give(section)
		return use(i, section)
	})
}

// readSection reads section i of a file that has count of them into the memory of buf, if that is enough. The section is empty
// when there is no file.
func readSection(ctx context.Context, file chunk.Source, magic string, count, i int, buf []byte) ([]byte, error) {
	if file == nil {
		return buf[:0], nil
	}
	header, err := readRange(ctx, file, 0, int64(8+8*(i+2)), buf)
	if err != nil {
		return nil, err
	}
	if string(header[:4]) != magic || binary.LittleEndian.Uint32(header[4:]) != uint32(count) {
		return nil, fmt.Errorf("%w: not %s of %d sections", ErrCorrupt, magic, count)
	}
	from := int64(binary.LittleEndian.Uint64(header[8+8*i:]))
	to := int64(binary.LittleEndian.Uint64(header[16+8*i:]))
	if from < int64(headerBytes(count)) || to < from {
		return nil, fmt.Errorf("%w: %s section %d", ErrCorrupt, magic, i)
	}
	if from == to {
		return header[:0], nil
	}
	return readRange(ctx, file, from, to, header)
}

// readRange reads the bytes [from, to). Memory grows with what is really there, not with what a damaged header promises.
func readRange(ctx context.Context, file chunk.Source, from, to int64, buf []byte) ([]byte, error) {
	body, err := file.Open(ctx, from, to)
	if err != nil {
		return nil, fmt.Errorf("read work file: %w", err)
	}
	defer body.Close()
	const step = 4 << 20
	size := to - from
	b := buf[:0]
	for int64(len(b)) < size {
		start := len(b)
		more := int(min(size-int64(start), max(step, int64(start))))
		b = slices.Grow(b, more)[:start+more]
		n, err := io.ReadFull(body, b[start:])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, fmt.Errorf("%w: ends %d bytes early", ErrCorrupt, more-n)
		}
		if err != nil {
			return nil, fmt.Errorf("read work file: %w", err)
		}
	}
	return b, nil
}

// decoder reads the parts of a record. After the first part that is not there, it is bad and gives zeros.
type decoder struct {
	b   []byte
	bad bool
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

// upTo reads a number that must not be larger than limit.
func (d *decoder) upTo(limit int64) int64 {
	v := d.uvarint()
	if v > uint64(max(limit, 0)) {
		d.fail()
		return 0
	}
	return int64(v)
}

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.fail()
		return nil
	}
	b := d.b[:n:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

// text reads a length and that many bytes.
func (d *decoder) text() []byte { return d.take(int(d.upTo(int64(len(d.b))))) }

func (d *decoder) fail() { d.b, d.bad = nil, true }

// done returns the error of a decoder that is bad or has something left.
func (d *decoder) done(what string) error {
	if d.bad || len(d.b) > 0 {
		return fmt.Errorf("%w: %s", ErrCorrupt, what)
	}
	return nil
}

func appendText[T string | []byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
