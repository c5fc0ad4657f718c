package command

import (
	"io"
	"sync/atomic"
)

// Output is the standard output of a command. It remembers that something could not be written, because the disk is
// full for example, so that no command can end as if it had printed everything. It is safe for concurrent use.
type Output struct {
	w      io.Writer
	failed atomic.Pointer[error]
}

// Write writes p.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// Unwrap returns the writer below, which is a file if it is a terminal.
func (o *Output) Unwrap() io.Writer { return o.w }

// err returns the first error.
func (o *Output) err() error {
	if failed := o.failed.Load(); failed != nil {
		return *failed
	}
	return nil
}
