package validation

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"

	"sluice/shared/ingest/chunk"
)

// blockBytes is the unit in which spools allocate memory, small enough that a work file of a few bytes takes little
// more.
const blockBytes = 32 << 10

// spoolMemory is the memory that the spools of one run share. It is safe for concurrent use.
type spoolMemory struct {
	// tempDir is the directory for temporary files; "" means that of the system.
	tempDir string

	mu sync.Mutex
	// unallocated is the number of blocks that may still be allocated, and free are the blocks that were released.
	unallocated int
	free        [][]byte
}

// block returns a block, or nil if no block is left.
func (m *spoolMemory) block() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.free); n > 0 {
		b := m.free[n-1]
		m.free = m.free[:n-1]
		return b
	}
	if m.unallocated == 0 {
		return nil
	}
	m.unallocated--
	return make([]byte, blockBytes)
}

func (m *spoolMemory) release(blocks [][]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free = append(m.free, blocks...)
}

// spool is a work file that is in memory as far as there is memory, and otherwise in a temporary file. It is written by
// one goroutine and then read by any number of them.
type spool struct {
	memory *spoolMemory
	size   int64
	// blocks hold the first bytes; all of them but the last one are full.
	blocks [][]byte
	// file holds the bytes after the blocks; nil until memory is exhausted.
	file *os.File
}

// Write appends p.
func (s *spool) Write(p []byte) (int, error) {
	written := 0
	for s.file == nil && written < len(p) {
		if s.size == s.blockCapacity() {
			b := s.memory.block()
			if b == nil {
				if err := s.createFile(); err != nil {
					return written, err
				}
				break
			}
			s.blocks = append(s.blocks, b)
		}
		n := copy(s.blocks[len(s.blocks)-1][s.size%blockBytes:], p[written:])
		s.size += int64(n)
		written += n
	}
	if written == len(p) {
		return written, nil
	}
	n, err := s.file.Write(p[written:])
	s.size += int64(n)
	return written + n, err
}

func (s *spool) createFile() (err error) {
	if s.file, err = os.CreateTemp(s.memory.tempDir, "sluice-validate-*"); err != nil {
		return err
	}
	// The file is removed at once, so that it does not outlive the process, however that ends. Where an open file
	// cannot be removed, close removes it.
	_ = os.Remove(s.file.Name())
	return nil
}

// blockCapacity returns the number of bytes that fit into the blocks.
func (s *spool) blockCapacity() int64 { return int64(len(s.blocks)) * blockBytes }

// ReadAt reads bytes that were written, as io.ReaderAt describes.
func (s *spool) ReadAt(p []byte, offset int64) (int, error) {
	read := 0
	for read < len(p) && offset < min(s.size, s.blockCapacity()) {
		block := s.blocks[offset/blockBytes]
		n := copy(p[read:], block[offset%blockBytes:min(blockBytes, s.size-offset/blockBytes*blockBytes)])
		read += n
		offset += int64(n)
	}
	if read == len(p) {
		return read, nil
	}
	if s.file == nil {
		return read, io.EOF
	}
	n, err := s.file.ReadAt(p[read:], offset-s.blockCapacity())
	return read + n, err
}

// WriteTo writes all bytes to w.
func (s *spool) WriteTo(w io.Writer) (int64, error) {
	written := int64(0)
	for _, block := range s.blocks {
		n, err := w.Write(block[:min(blockBytes, s.size-written)])
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	if s.file == nil {
		return written, nil
	}
	n, err := io.Copy(w, io.NewSectionReader(s.file, 0, s.size-written))
	return written + n, err
}

// reader returns a reader of all bytes.
func (s *spool) reader() io.Reader { return io.NewSectionReader(s, 0, s.size) }

// Range makes a spool a report.Part.
func (s *spool) Range(from, to int64) io.ReadCloser {
	return io.NopCloser(io.NewSectionReader(s, from, to-from))
}

// Open makes a spool a chunk.Source.
func (s *spool) Open(ctx context.Context, from, to int64) (io.ReadCloser, error) {
	return chunk.NewSource(s).Open(ctx, from, to)
}

// close releases the memory and removes the temporary file. The spool is empty then, and may be closed again.
func (s *spool) close() error {
	s.memory.release(s.blocks)
	s.blocks, s.size = nil, 0
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	_ = os.Remove(s.file.Name())
	s.file = nil
	return err
}

// closeAll closes all spools that are not nil.
func closeAll(lists ...[]*spool) error {
	var errs []error
	for _, s := range slices.Concat(lists...) {
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	return errors.Join(errs...)
}
