package chunk

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

const (
	// DefaultWindow is how many bytes are read at a time: so many that the switch between reading and working does not
	// show, and so few that they are still in the processor's cache when they are worked on.
	DefaultWindow = 256 << 10
	// tailStep is how much is read at first beyond the end of the chunk, where its last line ends: most lines are shorter.
	tailStep = 16 << 10
)

var mark = []byte("\xEF\xBB\xBF")

// Options say how the lines of a chunk are read.
type Options struct {
	MaxLineBytes int // longer lines are cut; required
	Window       int // bytes read at a time; 0: DefaultWindow
	Behind       int // bytes that lie behind each line that Ahead gives, its line feed not counted

	// From and Line resume a chunk at a line seen before: they are its Offset and its Number. 0, 0 begins at the start.
	From int64
	Line int64
}

// Line is one line of a chunk.
type Line struct {
	Number  int64  // within the chunk, from 0; blank lines count
	Offset  int64  // of Text in the file
	Text    []byte // without "\n"; the first MaxLineBytes bytes when TooLong
	TooLong bool   // longer than MaxLineBytes
}

// Reader reads the lines of one chunk. Reading runs ahead of the caller by one window, unless the source is mapped: then the
// lines are given where they lie. It is not safe for concurrent use.
//
//	for r.Next() { use(r.Line()) }
//	err := r.Err()
//
// Close must be called. Who finds the ends of lines in passing can take most of them by Ahead and Take instead of Next.
type Reader struct {
	source Source
	ctx    context.Context
	cancel context.CancelFunc
	size   int64 // of the file
	end    int64 // of the chunk
	window int
	max    int // bytes of a line
	head   int // room before a window for the unfinished line of the window before
	behind int

	ahead chan window
	free  chan []byte
	done  chan struct{} // closed when nothing reads ahead any more

	release func() // of the memory that buf is, when the source is mapped; otherwise nil

	buf       []byte
	pos, stop int   // buf[pos:stop] is yet to be split
	whole     int   // all lines of buf that start before it can be given by Ahead
	base      int64 // place of buf[0] in the file
	scanned   int   // bytes from pos on that are known to hold no "\n"
	resumed   bool  // the next line is of this chunk wherever it starts: behind a byte-order mark it may be beyond the end
	skipping  bool  // the bytes up to the next "\n" belong to no line of this chunk

	line Line
	next int64 // number of the next line
	err  error
}

type window struct {
	buf []byte // the bytes lie from head on
	n   int
	err error
}

// Read begins to read chunk i of the plan.
func Read(ctx context.Context, source Source, p Plan, i int, o Options) *Reader {
	start, end := p.Range(i)
	return read(ctx, source, p.Size, start, end, o)
}

func read(ctx context.Context, source Source, size, start, end int64, o Options) *Reader {
	if o.Window <= 0 {
		o.Window = DefaultWindow
	}
	from, skipping := start-1, true // the byte before tells whether a line starts here
	if start == 0 || o.From > 0 {
		from, skipping = max(start, o.From), false
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &Reader{
		source: source, ctx: ctx, cancel: cancel, size: size, end: end,
		window: int(min(int64(o.Window), max(end-from, tailStep))), max: o.MaxLineBytes, head: o.MaxLineBytes + len(mark), behind: o.Behind,
		ahead: make(chan window), free: make(chan []byte, 2), done: make(chan struct{}),
		base: from, resumed: o.From > 0, skipping: skipping, next: o.Line,
	}
	if m, ok := source.(Mapped); ok && from < end && r.mapAll(m) {
		return r
	}
	r.free <- make([]byte, r.head+r.window)
	r.free <- make([]byte, r.head+r.window)
	go r.readAhead(from)
	return r
}

// mapAll makes the whole chunk, and as much behind it as its last line may need, one window where it lies.
func (r *Reader) mapAll(m Mapped) bool {
	b, release := m.Map(r.base, min(r.end+int64(r.head), r.size))
	if release == nil {
		return false
	}
	close(r.done)
	r.buf, r.stop, r.release = b, len(b), release
	r.findWhole()
	r.err = context.Cause(r.ctx)
	return true
}

// readAhead hands over the windows of [from, end), each in a buffer that the consumer gives back.
func (r *Reader) readAhead(from int64) {
	defer close(r.done)
	defer close(r.ahead)
	if from >= r.end {
		return
	}
	body, err := r.source.Open(r.ctx, from, r.end)
	if err != nil {
		r.hand(window{err: err})
		return
	}
	defer body.Close()
	for from < r.end {
		select {
		case buf := <-r.free:
			n, err := io.ReadFull(body, buf[r.head:r.head+int(min(int64(r.window), r.end-from))])
			from += int64(n)
			if !r.hand(window{buf, n, early(err)}) || err != nil {
				return
			}
		case <-r.ctx.Done():
			return
		}
	}
}

func (r *Reader) hand(w window) bool {
	select {
	case r.ahead <- w:
		return true
	case <-r.ctx.Done():
		return false
	}
}

// early keeps the end of a source that is shorter than it should be from being taken for the end of the file.
func early(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Next moves to the next line of the chunk. It returns false at the end or after an error, which Err then gives.
func (r *Reader) Next() bool {
	if r.err != nil {
		return false
	}
	if r.skipping && !r.skip() {
		return false
	}
	start := r.base + int64(r.pos)
	if start >= r.end && !r.resumed {
		return false
	}
	r.resumed = false
	limit := r.max
	if start == 0 {
		limit += len(mark)
	}
	for {
		if i := bytes.IndexByte(r.buf[r.pos+r.scanned:r.stop], '\n'); i >= 0 {
			text := r.buf[r.pos : r.pos+r.scanned+i]
			r.pos, r.scanned = r.pos+len(text)+1, 0
			return r.give(start, text)
		}
		r.scanned = r.stop - r.pos
		if r.scanned > limit {
			text := r.buf[r.pos:r.stop]
			r.pos, r.scanned, r.skipping = r.stop, 0, true
			return r.give(start, text)
		}
		if r.base+int64(r.stop) >= r.size {
			text := r.buf[r.pos:r.stop]
			r.pos, r.scanned = r.stop, 0
			// Nothing but a byte-order mark is no line, as nothing at all is none.
			return !(start == 0 && bytes.Equal(text, mark)) && r.give(start, text)
		}
		if !r.fill(start + int64(limit) + 1) {
			return false
		}
	}
}

// skip passes over the rest of a line, within the chunk: a line that starts behind it is another chunk's.
func (r *Reader) skip() bool {
	for {
		if i := bytes.IndexByte(r.buf[r.pos:r.stop], '\n'); i >= 0 {
			r.pos, r.skipping = r.pos+i+1, false
			return true
		}
		r.pos = r.stop
		if r.base+int64(r.stop) >= r.end || !r.fill(r.end) {
			return false
		}
	}
}

func (r *Reader) give(start int64, text []byte) bool {
	if start == 0 && bytes.HasPrefix(text, mark) {
		text, start = text[len(mark):], int64(len(mark))
	}
	l := &r.line // member by member: a Line copied over it costs more
	l.Number, l.Offset, l.Text, l.TooLong = r.next, start, text, len(text) > r.max
	if l.TooLong {
		l.Text = text[:r.max]
	}
	r.next++
	return true
}

// fill appends bytes to the unfinished line: the next window of the chunk or, behind its end, up to the given place.
func (r *Reader) fill(upTo int64) bool {
	if at := r.base + int64(r.stop); at >= r.end {
		return r.fillTail(at, min(upTo, r.size))
	}
	select {
	case w, ok := <-r.ahead:
		if !ok {
			r.err = context.Cause(r.ctx)
			return false
		}
		if w.err != nil {
			r.err = fmt.Errorf("read lines: %w", w.err)
			return false
		}
		r.take(w.buf, w.n)
		return true
	case <-r.ctx.Done():
		r.err = context.Cause(r.ctx)
		return false
	}
}

func (r *Reader) fillTail(from, to int64) bool {
	step := int64(r.window)
	if from == r.end {
		step = min(step, tailStep)
	}
	to = min(to, from+step)
	var buf []byte
	select {
	case buf = <-r.free: // nothing reads ahead any more
	case <-r.ctx.Done():
		r.err = context.Cause(r.ctx)
		return false
	}
	body, err := r.source.Open(r.ctx, from, to)
	if err == nil {
		_, err = io.ReadFull(body, buf[r.head:r.head+int(to-from)])
		body.Close()
	}
	if err != nil {
		r.err = fmt.Errorf("read lines: %w", early(err))
		return false
	}
	r.take(buf, int(to-from))
	return true
}

// take goes on with the n bytes of buf, keeping the unfinished line in front of them.
func (r *Reader) take(buf []byte, n int) {
	rest := r.buf[r.pos:r.stop]
	place := r.base + int64(r.pos)
	pos := r.head - len(rest)
	copy(buf[pos:], rest)
	if r.buf != nil {
		r.free <- r.buf
	}
	r.buf, r.pos, r.stop, r.base = buf, pos, r.head+n, place-int64(pos)
	r.findWhole()
}

func (r *Reader) findWhole() {
	r.whole = bytes.LastIndexByte(r.buf[:max(r.stop-r.behind, 0)], '\n') + 1
}

// Ahead returns the bytes from the start of the next line on, for a caller who finds the end of the line himself: Take must
// follow. It returns nil where only Next can give the line. Of what it returns, at least that line ends with a line feed, with
// Options.Behind bytes behind it.
func (r *Reader) Ahead() []byte {
	if start := r.base + int64(r.pos); r.pos >= r.whole || start >= r.end || start == 0 || r.skipping || r.err != nil {
		return nil
	}
	return r.buf[r.pos:r.stop]
}

// Take moves to the line that is the first n bytes of what Ahead has returned, before a line feed, as Next does. The line is
// valid until the next call.
func (r *Reader) Take(n int) *Line {
	start, text := r.base+int64(r.pos), r.buf[r.pos:r.pos+n]
	r.pos, r.scanned, r.resumed = r.pos+n+1, 0, false
	r.give(start, text)
	return &r.line
}

// Line returns the line that Next moved to. It is valid until the next call of Next.
func (r *Reader) Line() *Line { return &r.line }

// Err returns the error that ended Next, or nil at the end of the chunk.
func (r *Reader) Err() error { return r.err }

// Close ends the reading. It returns when nothing reads ahead any more. The text of no line is valid after it.
func (r *Reader) Close() error {
	r.cancel()
	<-r.done
	if r.release != nil {
		r.release()
		r.buf, r.pos, r.stop, r.release = nil, 0, 0, nil
	}
	return nil
}
