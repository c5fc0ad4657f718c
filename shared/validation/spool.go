package validation

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"

	"sluice/shared/chunk"
)

// blockBytes is the piece in which spools take and give back memory: a work file that is hardly begun takes little more.
const blockBytes = 32 << 10

// spools keeps the work files of one run: in memory as long as there are blocks, then in temporary files.
type spools struct {
	dir string // for temporary files; "" for the system's

	mu   sync.Mutex
	left int      // blocks that may yet be made
	idle [][]byte // blocks given back
}

// block returns a block, or nil when memory is short.
func (s *spools) block() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.idle); n > 0 {
		b := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return b
	}
	if s.left == 0 {
		return nil
	}
	s.left--
	return make([]byte, blockBytes)
}

func (s *spools) giveBack(blocks [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, blocks...)
}

// spool is one work file. It is written by one, and then read by many.
type spool struct {
	all    *spools
	size   int64
	blocks [][]byte // all full but the last
	file   *os.File // of what found no room in blocks; nil as long as there is some
}

// Write fills blocks and, when there are no more, a temporary file.
func (s *spool) Write(p []byte) (int, error) {
	written := 0
	for s.file == nil && written < len(p) {
		if s.size == s.inBlocks() {
			b := s.all.block()
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
	if s.file, err = os.CreateTemp(s.all.dir, "sluice-validate-*"); err != nil {
		return err
	}
	// Removed at once, so that no end of the process, however sudden, leaves it behind. A system that cannot do that to an
	// open file can when it is closed.
	_ = os.Remove(s.file.Name())
	return nil
}

// inBlocks is how many of the first bytes lie in blocks once those are full.
func (s *spool) inBlocks() int64 { return int64(len(s.blocks)) * blockBytes }

// ReadAt reads what was written.
func (s *spool) ReadAt(p []byte, at int64) (int, error) {
	read := 0
	for read < len(p) && at < min(s.size, s.inBlocks()) {
		block := s.blocks[at/blockBytes]
		n := copy(p[read:], block[at%blockBytes:min(blockBytes, s.size-at/blockBytes*blockBytes)])
		read += n
		at += int64(n)
	}
	if read == len(p) {
		return read, nil
	}
	if s.file == nil {
		return read, io.EOF
	}
	n, err := s.file.ReadAt(p[read:], at-s.inBlocks())
	return read + n, err
}

// WriteTo writes what was written on to w.
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

// reader reads what was written, from its start.
func (s *spool) reader() io.Reader { return io.NewSectionReader(s, 0, s.size) }

// Open reads a range of what was written.
func (s *spool) Open(ctx context.Context, from, to int64) (io.ReadCloser, error) {
	return chunk.NewSource(s).Open(ctx, from, to)
}

// close gives the memory back and the file up.
func (s *spool) close() error {
	s.all.giveBack(s.blocks)
	s.blocks, s.size = nil, 0
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	_ = os.Remove(s.file.Name())
	s.file = nil
	return err
}

// closeAll closes those that there are.
func closeAll(all ...[]*spool) error {
	var errs []error
	for _, s := range slices.Concat(all...) {
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	return errors.Join(errs...)
}
