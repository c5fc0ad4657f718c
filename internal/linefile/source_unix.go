//go:build unix

package linefile

import (
	"os"
	"syscall"

	"sluice/shared/ingest/chunk"
)

// mappedFile maps ranges of a file into memory, which saves a copy and its memory. A range is mapped only while it is
// read, so that little of a large file is resident at a time.
type mappedFile struct {
	chunk.Source
	file *os.File
}

// NewSource returns a regular file as validation reads it.
func NewSource(file *os.File) chunk.Source { return mappedFile{chunk.NewSource(file), file} }

// Map maps the bytes from from to to, exclusive. On file systems that cannot map files it returns a nil release, and
// the range is read.
func (m mappedFile) Map(from, to int64) (data []byte, release func()) {
	page := int64(os.Getpagesize())
	start := from / page * page
	memory, err := syscall.Mmap(int(m.file.Fd()), start, int(to-start), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil
	}
	return memory[from-start:], func() { _ = syscall.Munmap(memory) }
}
