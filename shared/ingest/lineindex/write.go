package lineindex

import (
	"bufio"
	"encoding/binary"
	"io"
)

// fileWriter writes one file of a segment. Its memory is that of the pages, an eighth of the file.
type fileWriter struct {
	segment Segment
	out     *bufio.Writer
	buf     []byte
	pages   []page
	written int64
}

// newFileWriter returns a writer of a file of the segment, whose PageBits and number of files are set.
func newFileWriter(s Segment, w io.Writer) *fileWriter {
	return &fileWriter{segment: s, out: bufio.NewWriterSize(w, 64<<10), pages: make([]page, 0, 1<<s.PageBits)}
}

// add adds the next entry in order.
func (w *fileWriter) add(e entry) error {
	w.beginPages(w.segment.pageOf(e.digest) + 1)
	w.pages[len(w.pages)-1].filter.add(e.digest)
	w.written++
	w.buf = appendEntry(w.buf[:0], e)
	_, err := w.out.Write(w.buf)
	return err
}

// beginPages begins pages at the current entry until there are n.
func (w *fileWriter) beginPages(n int64) {
	for int64(len(w.pages)) < n {
		w.pages = append(w.pages, page{from: w.written})
	}
}

// close writes the pages.
func (w *fileWriter) close() error {
	w.beginPages(1 << w.segment.PageBits)
	for i := range w.pages {
		w.buf = binary.LittleEndian.AppendUint64(w.buf[:0], uint64(w.pages[i].from))
		w.buf = append(w.buf, w.pages[i].filter[:]...)
		if _, err := w.out.Write(w.buf); err != nil {
			return err
		}
	}
	if _, err := w.out.Write(binary.LittleEndian.AppendUint64(nil, uint64(w.written))); err != nil {
		return err
	}
	return w.out.Flush()
}
