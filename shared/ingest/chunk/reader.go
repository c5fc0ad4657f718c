package chunk

import (
	"bytes"
	"context"
)

var byteOrderMark = []byte("\xEF\xBB\xBF")

// Options are the settings of a Reader.
type Options struct {
	// MaxLineBytes is the length above which lines are cut. It is required.
	MaxLineBytes int
	// Window is the number of bytes that are read at a time; 0 means DefaultWindow.
	Window int
	// Lookahead is the number of bytes that Peek guarantees after the line feed of the next line.
	Lookahead int
	// Start is the position of a line of the chunk, as an earlier Reader gave it, from which reading resumes. The zero
	// Position means the first line of the chunk.
	Start Position
}

// Position is where a line of a chunk starts.
type Position struct {
	// Line is the number of the line within the chunk, from 0.
	Line int64
	// Offset is the offset of the line in the file, in bytes.
	Offset int64
}

// Line is one line of a chunk.
type Line struct {
	// Number is the number of the line within the chunk, from 0. Blank lines are counted.
	Number int64
	// Offset is the offset of Text in the file, in bytes.
	Offset int64
	// Text is the line without "\n", or its first MaxLineBytes bytes if TooLong is set.
	Text []byte
	// TooLong is set if the line has more than MaxLineBytes bytes.
	TooLong bool
}

// Reader reads the lines of one chunk, in order. It must be closed, and is not safe for concurrent use.
//
//	for r.Next() {
//		process(r.Line())
//	}
//	err := r.Err()
//
// A caller that finds the end of a line while it parses the line can use Peek and Consume instead of Next, which then
// need not search for the line feed first.
//
// A Reader prefetches one window while the caller processes another one. It holds two buffers of Options.Window plus
// Options.MaxLineBytes bytes each, for a chunk of any size. If the source is a MappedSource, the whole chunk is mapped
// instead, and nothing is copied.
type Reader struct {
	source   Source
	ctx      context.Context
	cancel   context.CancelFunc
	fileSize int64
	// chunkEnd is the offset in the file at which the chunk ends. Its last line may end after it.
	chunkEnd     int64
	maxLineBytes int
	lookahead    int

	// windowBytes is the number of bytes that are read at a time, and headroom the space in front of them in each
	// buffer, for the unfinished line of the window before.
	windowBytes int
	headroom    int
	// filled passes on the windows that have been read; free takes their buffers back.
	filled chan window
	free   chan []byte
	// prefetched is closed when nothing is being prefetched any more.
	prefetched chan struct{}
	// release releases the memory of buf if the source is mapped; otherwise it is nil.
	release func()

	// buf[pos:end] are the bytes that have not been divided into lines yet.
	buf      []byte
	pos, end int
	// peekEnd is the position in buf before which a line must start to be returned by Peek.
	peekEnd int
	// bufOffset is the offset of buf[0] in the file.
	bufOffset int64
	// scanned is the number of bytes from pos on that are known not to hold a line feed.
	scanned int
	// resumed is set if the next line belongs to the chunk wherever it starts. After a byte-order mark, a line of the
	// chunk may start after the chunk's end.
	resumed bool
	// skipping is set if the bytes up to the next line feed do not belong to any further line of the chunk.
	skipping bool

	line     Line
	nextLine int64
	err      error
}

// NewReader returns a reader of the lines of chunk i of a plan, which must be in [0, plan.Count()). It starts to
// prefetch at once. When ctx is cancelled, reading ends with its error.
func NewReader(ctx context.Context, source Source, plan Plan, i int, o Options) *Reader {
	start, end := plan.Range(i)
	if o.Window <= 0 {
		o.Window = DefaultWindow
	}
	// The byte in front of a chunk shows whether a line starts with the chunk.
	from, skipping := start-1, true
	if start == 0 || o.Start.Offset > 0 {
		from, skipping = max(start, o.Start.Offset), false
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &Reader{
		source:       source,
		ctx:          ctx,
		cancel:       cancel,
		fileSize:     plan.Size,
		chunkEnd:     end,
		maxLineBytes: o.MaxLineBytes,
		lookahead:    o.Lookahead,
		windowBytes:  int(min(int64(o.Window), max(end-from, firstTailBytes))),
		headroom:     o.MaxLineBytes + len(byteOrderMark),
		filled:       make(chan window),
		free:         make(chan []byte, 2),
		prefetched:   make(chan struct{}),
		bufOffset:    from,
		resumed:      o.Start.Offset > 0,
		skipping:     skipping,
		nextLine:     o.Start.Line,
	}
	if mapped, ok := source.(MappedSource); ok && from < end && r.mapChunk(mapped) {
		return r
	}
	r.free <- make([]byte, r.headroom+r.windowBytes)
	r.free <- make([]byte, r.headroom+r.windowBytes)
	go r.prefetch(from)
	return r
}

// Next advances to the next line of the chunk, which Line then returns. It returns false at the end of the chunk and
// after an error; Err distinguishes the two.
func (r *Reader) Next() bool {
	if r.err != nil {
		return false
	}
	if r.skipping && !r.skipLine() {
		return false
	}
	start := r.bufOffset + int64(r.pos)
	if start >= r.chunkEnd && !r.resumed {
		return false
	}
	r.resumed = false
	limit := r.maxLineBytes
	if start == 0 {
		limit += len(byteOrderMark)
	}
	for {
		if i := bytes.IndexByte(r.buf[r.pos+r.scanned:r.end], '\n'); i >= 0 {
			text := r.buf[r.pos : r.pos+r.scanned+i]
			r.pos, r.scanned = r.pos+len(text)+1, 0
			r.setLine(start, text)
			return true
		}
		r.scanned = r.end - r.pos
		if r.scanned > limit {
			text := r.buf[r.pos:r.end]
			r.pos, r.scanned, r.skipping = r.end, 0, true
			r.setLine(start, text)
			return true
		}
		if r.bufOffset+int64(r.end) >= r.fileSize {
			text := r.buf[r.pos:r.end]
			r.pos, r.scanned = r.end, 0
			if start == 0 && bytes.Equal(text, byteOrderMark) {
				return false // A file that holds only a byte-order mark has no lines, like an empty file.
			}
			r.setLine(start, text)
			return true
		}
		if !r.fill(start + int64(limit) + 1) {
			return false
		}
	}
}

// skipLine skips the rest of a line. It returns false if the rest of the chunk belongs to that line: the line after it
// starts in another chunk.
func (r *Reader) skipLine() bool {
	for {
		if i := bytes.IndexByte(r.buf[r.pos:r.end], '\n'); i >= 0 {
			r.pos, r.skipping = r.pos+i+1, false
			return true
		}
		r.pos = r.end
		if r.bufOffset+int64(r.end) >= r.chunkEnd || !r.fill(r.chunkEnd) {
			return false
		}
	}
}

// setLine makes text, which starts at an offset of the file, the current line.
func (r *Reader) setLine(start int64, text []byte) {
	if start == 0 && bytes.HasPrefix(text, byteOrderMark) {
		text, start = text[len(byteOrderMark):], int64(len(byteOrderMark))
	}
	l := &r.line // Assigning the fields one by one is faster than copying a Line.
	l.Number, l.Offset, l.Text, l.TooLong = r.nextLine, start, text, len(text) > r.maxLineBytes
	if l.TooLong {
		l.Text = text[:r.maxLineBytes]
	}
	r.nextLine++
}

// Line returns the line to which Next advanced. It is valid until the next call of Next or Consume.
func (r *Reader) Line() *Line { return &r.line }

// Peek returns the buffered bytes from the start of the next line on, for a caller that finds the end of the line
// itself. They hold at least one line feed that has Options.Lookahead more bytes after it. If Peek returns nil, the
// next line, if there is one, is available from Next only. Otherwise the caller must call Consume next.
func (r *Reader) Peek() []byte {
	start := r.bufOffset + int64(r.pos)
	if r.pos >= r.peekEnd || start >= r.chunkEnd || start == 0 || r.skipping || r.err != nil {
		return nil
	}
	return r.buf[r.pos:r.end]
}

// Consume advances to the next line, as Next does, and returns it. The line is the first n bytes that Peek returned;
// byte n must be the first line feed of them. The line is valid until the next call of Next or Consume.
func (r *Reader) Consume(n int) *Line {
	start, text := r.bufOffset+int64(r.pos), r.buf[r.pos:r.pos+n]
	r.pos, r.scanned, r.resumed = r.pos+n+1, 0, false
	r.setLine(start, text)
	return &r.line
}

// Err returns the error that ended reading, or nil if the chunk has been read to its end. Errors of the source are
// wrapped. A source with fewer bytes than Plan.Size gives io.ErrUnexpectedEOF.
func (r *Reader) Err() error { return r.err }

// Close stops reading and waits until nothing is being prefetched any more. The texts of all lines become invalid.
func (r *Reader) Close() error {
	r.cancel()
	<-r.prefetched
	if r.release != nil {
		r.release()
		r.buf, r.pos, r.end, r.release = nil, 0, 0, nil
	}
	return nil
}
