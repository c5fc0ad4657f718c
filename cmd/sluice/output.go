package main

import (
	"io"
	"os"
	"sync/atomic"
)

// checkedOutput is standard output. It remembers that something could not be written, because the disk is full for
// example, so that no command can end as if it had printed everything. It is safe for concurrent use.
type checkedOutput struct {
	w      io.Writer
	failed atomic.Pointer[error]
}

// Write writes p.
func (o *checkedOutput) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// err returns the first error.
func (o *checkedOutput) err() error {
	if failed := o.failed.Load(); failed != nil {
		return *failed
	}
	return nil
}

// fileOf returns the file that a writer writes to; nil if it is something else.
func fileOf(w io.Writer) *os.File {
	if o, isOutput := w.(*checkedOutput); isOutput {
		w = o.w
	}
	file, _ := w.(*os.File)
	return file
}
