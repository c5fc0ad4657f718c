//go:build unix

package main

import (
	"os"
	"syscall"

	"sluice/shared/chunk"
)

// mappedFile gives ranges of a file in memory as the kernel has it, which spares a copy and the memory for it. A range is
// mapped while it is read only, so that little of a large file is resident at a time.
type mappedFile struct {
	chunk.Source
	file *os.File
}

// sourceOf returns a regular file as the validation reads it.
func sourceOf(file *os.File) chunk.Source { return mappedFile{chunk.NewSource(file), file} }

// Map maps a range. Some file systems cannot: there reading goes the usual way.
func (m mappedFile) Map(from, to int64) ([]byte, func()) {
	page := int64(os.Getpagesize())
	start := from / page * page
	memory, err := syscall.Mmap(int(m.file.Fd()), start, int(to-start), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil
	}
	return memory[from-start:], func() { _ = syscall.Munmap(memory) }
}
