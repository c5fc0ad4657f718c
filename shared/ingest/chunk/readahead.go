package chunk

import (
	"context"
	"fmt"
	"io"
	"sync"
)

// ReadAhead says how a file is read from its start to its end while later ranges of it are on their way: one stream of
// a store of objects is slower than the network of the function that reads it.
type ReadAhead struct {
	// PartBytes is the size of a range, and Parts is how many are read at the same time. Both are required. They bound
	// the memory: Parts buffers of PartBytes.
	PartBytes int64
	Parts     int
}

// Open opens the first size bytes of a file. Reading returns all of them in order, or the first error of a range. The
// reader must be closed, and is not safe for concurrent use. When ctx is cancelled, reading ends with its error.
func (o ReadAhead) Open(ctx context.Context, source Source, size int64) io.ReadCloser {
	parts := int(min(int64(o.Parts), (size+o.PartBytes-1)/o.PartBytes))
	ctx, cancel := context.WithCancel(ctx)
	r := &aheadReader{
		ctx: ctx, cancel: cancel, source: source,
		free: make(chan []byte, parts), ordered: make(chan chan part, parts),
	}
	for range parts {
		r.free <- make([]byte, min(o.PartBytes, size))
	}
	r.running.Go(func() { r.start(size, o.PartBytes) })
	return r
}

// aheadReader is the reader of ReadAhead.Open.
type aheadReader struct {
	ctx    context.Context
	cancel context.CancelFunc
	source Source
	// free are the buffers that nobody uses; their number bounds how many ranges are read.
	free chan []byte
	// ordered holds, in the order of the file, a channel for each range that is being read, which will hold its bytes.
	// It has room for as many as there are buffers.
	ordered chan chan part
	running sync.WaitGroup

	// buf is the buffer of the range that is being returned, and text the rest of it.
	buf, text []byte
	err       error
}

// part is a range that has been read into a buffer, or the error that prevented it.
type part struct {
	text []byte
	err  error
}

// start reads each range as soon as a buffer is free.
func (r *aheadReader) start(size, partBytes int64) {
	defer close(r.ordered)
	for from := int64(0); from < size; from += partBytes {
		var buf []byte
		select {
		case buf = <-r.free:
		case <-r.ctx.Done():
			return
		}
		to := min(from+partBytes, size)
		done := make(chan part, 1)
		r.ordered <- done
		r.running.Go(func() { done <- r.read(buf[:to-from], from, to) })
	}
}

func (r *aheadReader) read(buf []byte, from, to int64) part {
	body, err := r.source.Open(r.ctx, from, to)
	if err == nil {
		_, err = io.ReadFull(body, buf)
		body.Close()
	}
	if err != nil {
		err = fmt.Errorf("read bytes %d to %d: %w", from, to, unexpectedEOF(err))
	}
	return part{buf, err}
}

// Read returns the next bytes of the file.
func (r *aheadReader) Read(p []byte) (int, error) {
	for len(r.text) == 0 && r.err == nil {
		r.err = r.next()
	}
	if len(r.text) == 0 {
		return 0, r.err
	}
	n := copy(p, r.text)
	r.text = r.text[n:]
	return n, nil
}

// WriteTo writes the rest of the file to w, range by range, without copying it first.
func (r *aheadReader) WriteTo(w io.Writer) (int64, error) {
	written := int64(0)
	for {
		n, err := w.Write(r.text)
		written += int64(n)
		r.text = r.text[n:]
		if err != nil {
			return written, err
		}
		if r.err == nil {
			r.err = r.next()
		}
		if r.err == io.EOF {
			return written, nil
		}
		if r.err != nil {
			return written, r.err
		}
	}
}

// next goes on to the next range, and frees the buffer of the one before. It returns io.EOF at the end.
func (r *aheadReader) next() error {
	if r.buf != nil {
		r.free <- r.buf[:cap(r.buf)]
		r.buf = nil
	}
	// The order is the order of the file; the range itself or the context ends the waiting.
	select {
	case done, ok := <-r.ordered:
		if !ok && r.ctx.Err() == nil {
			return io.EOF
		}
		if !ok {
			return context.Cause(r.ctx)
		}
		select {
		case p := <-done:
			r.buf, r.text = p.text, p.text
			if p.err != nil {
				r.text = nil
			}
			return p.err
		case <-r.ctx.Done():
		}
	case <-r.ctx.Done():
	}
	return context.Cause(r.ctx)
}

// Close stops reading and waits until no range is being read any more.
func (r *aheadReader) Close() error {
	r.cancel()
	r.running.Wait()
	return nil
}
