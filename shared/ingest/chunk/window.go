package chunk

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

const (
	// DefaultWindow is the number of bytes that are read at a time: large enough that switching between reading and
	// processing costs nothing noticeable, small enough that the bytes are still in the processor's cache when they are
	// processed.
	DefaultWindow = 256 << 10
	// firstTailBytes is the number of bytes that are first read after the end of a chunk to complete its last line.
	// Most lines are shorter.
	firstTailBytes = 16 << 10
)

// window is a piece of the chunk: n bytes of buf from Reader.headroom on, or the error that ended reading.
type window struct {
	buf []byte
	n   int
	err error
}

// mapChunk maps the whole chunk as one window, together with the bytes after it that its last line may need. It returns
// false if the source cannot map them.
func (r *Reader) mapChunk(source MappedSource) bool {
	b, release := source.Map(r.bufOffset, min(r.chunkEnd+int64(r.headroom), r.fileSize))
	if release == nil {
		return false
	}
	close(r.prefetched)
	r.buf, r.end, r.release = b, len(b), release
	r.setPeekEnd()
	r.err = context.Cause(r.ctx)
	return true
}

// prefetch reads the windows of [from, chunkEnd), each into a free buffer.
func (r *Reader) prefetch(from int64) {
	defer close(r.prefetched)
	defer close(r.filled)
	if from >= r.chunkEnd {
		return
	}
	body, err := r.source.Open(r.ctx, from, r.chunkEnd)
	if err != nil {
		r.send(window{err: err})
		return
	}
	defer body.Close()
	for from < r.chunkEnd {
		select {
		case buf := <-r.free:
			want := int(min(int64(r.windowBytes), r.chunkEnd-from))
			n, err := io.ReadFull(body, buf[r.headroom:r.headroom+want])
			from += int64(n)
			if !r.send(window{buf, n, unexpectedEOF(err)}) || err != nil {
				return
			}
		case <-r.ctx.Done():
			return
		}
	}
}

// send passes a window on. It returns false if the context has been cancelled.
func (r *Reader) send(w window) bool {
	select {
	case r.filled <- w:
		return true
	case <-r.ctx.Done():
		return false
	}
}

// unexpectedEOF replaces io.EOF, so that the end of a source that is shorter than it should be does not count as the
// end of the file.
func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// fill appends bytes to the unfinished line: the next window of the chunk or, after the end of the chunk, bytes up to
// the offset tailEnd at most. It returns false after an error, which it stores in r.err.
func (r *Reader) fill(tailEnd int64) bool {
	if offset := r.bufOffset + int64(r.end); offset >= r.chunkEnd {
		return r.fillTail(offset, min(tailEnd, r.fileSize))
	}
	select {
	case w, ok := <-r.filled:
		if !ok {
			r.err = context.Cause(r.ctx)
			return false
		}
		if w.err != nil {
			r.err = fmt.Errorf("read lines: %w", w.err)
			return false
		}
		r.appendWindow(w.buf, w.n)
		return true
	case <-r.ctx.Done():
		r.err = context.Cause(r.ctx)
		return false
	}
}

// fillTail reads the next bytes after the chunk, which the other chunk reads too, and so as few as are likely to
// complete the last line.
func (r *Reader) fillTail(from, to int64) bool {
	step := int64(r.windowBytes)
	if from == r.chunkEnd {
		step = min(step, firstTailBytes)
	}
	to = min(to, from+step)
	var buf []byte
	select {
	case buf = <-r.free: // Prefetching has ended, so a buffer is free.
	case <-r.ctx.Done():
		r.err = context.Cause(r.ctx)
		return false
	}
	body, err := r.source.Open(r.ctx, from, to)
	if err == nil {
		_, err = io.ReadFull(body, buf[r.headroom:r.headroom+int(to-from)])
		body.Close()
	}
	if err != nil {
		r.err = fmt.Errorf("read lines: %w", unexpectedEOF(err))
		return false
	}
	r.appendWindow(buf, int(to-from))
	return true
}

// appendWindow continues with the n bytes that were read into buf, moves the unfinished line in front of them, and
// frees the buffer before.
func (r *Reader) appendWindow(buf []byte, n int) {
	unfinished := r.buf[r.pos:r.end]
	offset := r.bufOffset + int64(r.pos)
	pos := r.headroom - len(unfinished)
	copy(buf[pos:], unfinished)
	if r.buf != nil {
		r.free <- r.buf
	}
	r.buf, r.pos, r.end, r.bufOffset = buf, pos, r.headroom+n, offset-int64(pos)
	r.setPeekEnd()
}

// setPeekEnd sets peekEnd to the position after the last line feed that has lookahead more bytes after it.
func (r *Reader) setPeekEnd() {
	r.peekEnd = bytes.LastIndexByte(r.buf[:max(r.end-r.lookahead, 0)], '\n') + 1
}
