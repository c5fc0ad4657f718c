package validation

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"

	"sluice/shared/chunk"
)

// spools keeps the work files of one run: in memory as long as there is room, then in temporary files.
type spools struct {
	dir  string // for temporary files; "" for the system's
	room atomic.Int64
}

// spool is one work file. It is written by one, and then read by many.
type spool struct {
	all  *spools
	mem  []byte
	file *os.File // nil until memory is short
}

// Write takes memory for p, or moves to a file when there is none left.
func (s *spool) Write(p []byte) (int, error) {
	if s.file != nil {
		return s.file.Write(p)
	}
	if s.all.room.Add(-int64(len(p))) >= 0 {
		s.mem = append(s.mem, p...)
		return len(p), nil
	}
	s.all.room.Add(int64(len(p)) + int64(len(s.mem)))
	file, err := os.CreateTemp(s.all.dir, "sluice-validate-*")
	if err != nil {
		return 0, err
	}
	// Removed at once, so that no end of the process, however sudden, leaves it behind. A system that cannot do that to an
	// open file can when it is closed.
	_ = os.Remove(file.Name())
	s.file = file
	mem := s.mem
	s.mem = nil
	if _, err := file.Write(mem); err != nil {
		return 0, err
	}
	return file.Write(p)
}

// reader reads what was written, from its start.
func (s *spool) reader() io.Reader {
	if s.file != nil {
		return io.NewSectionReader(s.file, 0, 1<<62)
	}
	return bytes.NewReader(s.mem)
}

// Open reads a range of what was written.
func (s *spool) Open(ctx context.Context, from, to int64) (io.ReadCloser, error) {
	if s.file != nil {
		return chunk.At(s.file).Open(ctx, from, to)
	}
	return chunk.At(bytes.NewReader(s.mem)).Open(ctx, from, to)
}

// close gives the memory or the file back.
func (s *spool) close() error {
	s.all.room.Add(int64(len(s.mem)))
	s.mem = nil
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	_ = os.Remove(s.file.Name())
	s.file = nil
	return err
}

// closeAll closes those that there are.
func closeAll(all []*spool) error {
	var errs []error
	for _, s := range all {
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	return errors.Join(errs...)
}
