package validation

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"golang.org/x/sync/errgroup"

	"sluice/shared/ingest/chunk"
)

// A sectioned file is a work file whose parts are read independently: the index and the rejections. All numbers are
// little endian.
//
//	bytes    content
//	4        magic; the last byte is the version of the format
//	4        number n of sections
//	8*(n+1)  offset in the file of each section, and of the end of the last one
//	         the sections
//
// Reading a section takes one request for the header and one for the section, and none for a section that is empty. Who
// keeps the Sections of a file reads it as a SectionedFile, which saves the request for the header. A file all of whose
// sections are empty is not written.

// sectionHeaderBytes returns the number of bytes in front of the sections.
func sectionHeaderBytes(sections int) int { return 8 + 8*(sections+1) }

// Sections are the lengths of the sections of a file, each as a uvarint. They are a string so that results which have
// them can be compared; to others than this package they have no meaning. The empty string stands for a file whose
// lengths nobody has kept.
type Sections string

// sectionsOf returns the lengths of the sections that begin and end at the given offsets.
func sectionsOf(offsets []int64) Sections {
	var b []byte
	for i, end := range offsets[1:] {
		b = binary.AppendUvarint(b, uint64(end-offsets[i]))
	}
	return Sections(b)
}

// find returns the range in the file of section i of count.
func (s Sections) find(count, i int) (from, to int64, err error) {
	d := decoder{b: []byte(s)}
	end := int64(sectionHeaderBytes(count))
	for n := range count {
		start := end
		end += int64(d.uvarintUpTo(1 << 48))
		if n == i {
			from, to = start, end
		}
	}
	return from, to, d.finish("lengths of sections")
}

// SectionedFile is a file whose sections are known, so that reading one takes one request.
type SectionedFile struct {
	chunk.Source
	Sections Sections
}

// span returns the range in the file of the sections [first, end) of count, which adjoin.
func (s Sections) span(count, first, end int) (from, to int64, err error) {
	if from, _, err = s.find(count, first); err == nil {
		_, to, err = s.find(count, end-1)
	}
	return from, to, err
}

// IndexBytes returns how many bytes the partitions [first, end) of the index of a chunk have; false if the sections are
// not known.
func (s Sections) IndexBytes(first, end int) (n int64, isKnown bool) {
	from, to, err := s.span(Partitions, first, end)
	return to - from, err == nil && s != ""
}

// HoldPartitions reads the partitions [first, end) of the index of each chunk by one request, as many at the same time
// as concurrency says, and returns for each a source of just these. An index is nil if it is empty.
func HoldPartitions(ctx context.Context, indexes []*SectionedFile, first, end, concurrency int) ([]chunk.Source,
	error) {
	held := make([]chunk.Source, len(indexes))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrency)
	for i, index := range indexes {
		if index == nil {
			continue
		}
		g.Go(func() error {
			from, to, err := index.Sections.span(Partitions, first, end)
			h := &heldRange{from: from}
			if err == nil && from < to {
				h.bytes, err = readRange(ctx, index.Source, from, to, nil)
			}
			held[i] = SectionedFile{Source: h, Sections: index.Sections}
			return err
		})
	}
	return held, g.Wait()
}

// heldRange is a file of which the bytes from an offset on are held in memory.
type heldRange struct {
	from  int64
	bytes []byte
}

// Open implements chunk.Source.
func (h *heldRange) Open(_ context.Context, from, to int64) (io.ReadCloser, error) {
	if from < h.from || to > h.from+int64(len(h.bytes)) || from > to {
		return nil, fmt.Errorf("bytes %d to %d are not held", from, to)
	}
	return io.NopCloser(bytes.NewReader(h.bytes[from-h.from : to-h.from])), nil
}

// bufferedSectionBytes is the largest size of sections that are kept in memory while they are measured. The sections of
// a larger file are encoded twice, because their lengths are written first, so that no more than one of them is held.
const bufferedSectionBytes = 8 << 20

// sectionWriter writes sectioned files, and keeps its memory from one to the next.
type sectionWriter struct {
	buf []byte
	// written are the sections of the latest file; empty if it was not written.
	written Sections
	offsets []int64
}

// write writes a file of count sections and returns its length. It writes nothing and returns 0 if all sections are
// empty. encode appends section i to b; it may be called twice for a section, and must append the same bytes then.
func (s *sectionWriter) write(
	w io.Writer, magic string, count int, encode func(i int, b []byte) []byte,
) (int64, error) {
	header := binary.LittleEndian.AppendUint32([]byte(magic), uint32(count))
	end := int64(sectionHeaderBytes(count))
	header = binary.LittleEndian.AppendUint64(header, uint64(end))
	s.written, s.offsets = "", append(s.offsets[:0], end)
	buf := s.buf[:0]
	defer func() { s.buf = buf }()
	buffered := true
	for i := range count {
		start := len(buf)
		buf = encode(i, buf)
		end += int64(len(buf) - start)
		header = binary.LittleEndian.AppendUint64(header, uint64(end))
		s.offsets = append(s.offsets, end)
		if buffered = buffered && len(buf) <= bufferedSectionBytes; !buffered {
			buf = buf[:0]
		}
	}
	if end == int64(len(header)) {
		return 0, nil
	}
	s.written = sectionsOf(s.offsets)
	if _, err := w.Write(header); err != nil {
		return 0, err
	}
	if buffered {
		_, err := w.Write(buf)
		return end, err
	}
	for i := range count {
		buf = encode(i, buf[:0])
		if _, err := w.Write(buf); err != nil {
			return 0, err
		}
	}
	return end, nil
}

// sectionReader reads one section of each of many files, and keeps its memory from one call to the next.
type sectionReader struct{ buffers *pool[[]byte] }

// readEach reads the sections of files 0 to n-1, up to concurrency at the same time, and passes them to
// consume in order. read reads the section of file i and may use the memory of buf. A section is valid until consume
// returns.
func (s *sectionReader) readEach(
	ctx context.Context, n, concurrency int,
	read func(ctx context.Context, i int, buf []byte) ([]byte, error),
	consume func(i int, section []byte) error,
) error {
	if s.buffers == nil {
		s.buffers = newPool(2*max(concurrency, 1), func() []byte { return nil })
	}
	return forEachInOrder(ctx, n, concurrency, func(ctx context.Context, i int) ([]byte, error) {
		return read(ctx, i, s.buffers.get())
	}, func(i int, section []byte) error {
		defer s.buffers.put(section)
		return consume(i, section)
	})
}

// readSection reads section i of a file of count sections, into the memory of buf if that suffices. If there is no
// file, the section is empty.
func readSection(ctx context.Context, file chunk.Source, magic string, count, i int, buf []byte) ([]byte, error) {
	if file == nil {
		return buf[:0], nil
	}
	if known, ok := file.(SectionedFile); ok && known.Sections != "" {
		from, to, err := known.Sections.find(count, i)
		if err != nil || from == to {
			return buf[:0], err
		}
		return readRange(ctx, known.Source, from, to, buf)
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
	if from < int64(sectionHeaderBytes(count)) || to < from {
		return nil, fmt.Errorf("%w: section %d of %s has the range [%d, %d)", ErrCorrupt, i, magic, from, to)
	}
	if from == to {
		return header[:0], nil
	}
	return readRange(ctx, file, from, to, header)
}

// readRange reads the bytes [from, to) of a file. Memory grows with the bytes that there are, not with a range that may
// be damaged.
func readRange(ctx context.Context, file chunk.Source, from, to int64, buf []byte) ([]byte, error) {
	const firstBytes = 4 << 20
	body, err := file.Open(ctx, from, to)
	if err != nil {
		return nil, fmt.Errorf("read work file: %w", err)
	}
	defer body.Close()
	size := to - from
	b := buf[:0]
	for int64(len(b)) < size {
		start := len(b)
		more := int(min(size-int64(start), max(firstBytes, int64(start))))
		b = slices.Grow(b, more)[:start+more]
		n, err := io.ReadFull(body, b[start:])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, fmt.Errorf("%w: work file ends at least %d bytes early", ErrCorrupt, more-n)
		}
		if err != nil {
			return nil, fmt.Errorf("read work file: %w", err)
		}
	}
	return b, nil
}
