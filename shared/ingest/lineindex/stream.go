package lineindex

import (
	"container/heap"
	"context"
	"fmt"
	"io"
)

// streamBytes is how many bytes of a file of entries are read at a time.
const streamBytes = 128 << 10

// stream yields the entries [from, to) of a file, which begin at an offset, block by block.
type stream struct {
	files    Files
	key      string
	offset   int64
	from, to int64
	// limit is the digest from which on entries are left out; 0 for none. Entries before first are left out, too.
	first, limit uint64
	// place returns the place of an entry in the merged segment; false to leave it out.
	place func(uint64) (place uint64, isKept bool, err error)

	block []byte
	// last is the latest entry of the file, and current the one that was not left out.
	last, current entry
}

// next makes the next entry the current one. It returns io.EOF after the last one.
func (s *stream) next(ctx context.Context) error {
	for {
		if len(s.block) == 0 {
			if err := s.read(ctx); err != nil {
				return err
			}
		}
		e := decodeEntry(s.block)
		s.block = s.block[entryBytes:]
		if compareEntries(e, s.last) < 0 {
			return fmt.Errorf("%w: %s is not in order", ErrCorrupt, s.key)
		}
		s.last = e
		if s.limit != 0 && e.digest >= s.limit {
			return io.EOF
		}
		if e.digest < s.first {
			continue
		}
		place, isKept, err := s.place(e.place)
		if err != nil || isKept {
			s.current = entry{e.digest, place}
			return err
		}
	}
}

func (s *stream) read(ctx context.Context) (err error) {
	if s.from >= s.to {
		return io.EOF
	}
	n := min(s.to-s.from, streamBytes/entryBytes)
	start := s.offset + s.from*entryBytes
	if s.block, err = readRange(ctx, s.files, s.key, start, start+n*entryBytes); err != nil {
		return fmt.Errorf("read entries: %w", err)
	}
	s.from += n
	return nil
}

// streams is a heap of streams by their current entries.
type streams []*stream

func (h streams) Len() int           { return len(h) }
func (h streams) Less(i, j int) bool { return compareEntries(h[i].current, h[j].current) < 0 }
func (h streams) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *streams) Push(x any)        { *h = append(*h, x.(*stream)) }
func (h *streams) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// merger yields the entries of sorted streams in order, each once.
type merger struct {
	streams streams
	current entry
	isOver  bool
}

// newMerger returns a merger whose current entry is the first one, unless it is over.
func newMerger(ctx context.Context, inputs []*stream) (*merger, error) {
	m := &merger{}
	for _, s := range inputs {
		switch err := s.next(ctx); {
		case err == nil:
			m.streams = append(m.streams, s)
		case err != io.EOF:
			return nil, err
		}
	}
	heap.Init(&m.streams)
	m.take()
	return m, nil
}

// take makes the least of the streams' current entries the current one.
func (m *merger) take() {
	if m.isOver = len(m.streams) == 0; !m.isOver {
		m.current = m.streams[0].current
	}
}

// next makes the next entry that differs the current one.
func (m *merger) next(ctx context.Context) error {
	for len(m.streams) > 0 && m.streams[0].current == m.current {
		switch err := m.streams[0].next(ctx); {
		case err == nil:
			heap.Fix(&m.streams, 0)
		case err == io.EOF:
			heap.Pop(&m.streams)
		default:
			return err
		}
	}
	m.take()
	return nil
}

// writeFile writes a file of a segment from the current entry on, and returns the number of its entries.
func (m *merger) writeFile(ctx context.Context, files Files, tenant string, s Segment, file int) (n int64, err error) {
	err = files.WriteObject(ctx, s.fileKey(tenant, file), func(w io.Writer) error {
		out := newFileWriter(s, w)
		for !m.isOver && s.fileOf(m.current.digest) == file {
			if err := out.add(m.current); err != nil {
				return err
			}
			if err := m.next(ctx); err != nil {
				return err
			}
		}
		n = out.written
		return out.close()
	})
	return n, err
}
