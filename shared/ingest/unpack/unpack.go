// Package unpack reads files that are packed with gzip or zstd: as streams, in bounded memory, and within limits that
// no file passes, however it was made. Which files it refuses, and where it finds a stream damaged, depends on the file
// alone.
package unpack

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"

	"sluice/shared/ingest/batch"
)

// Limits bound the unpacked size of a file.
type Limits struct {
	// MaxBytes is the largest size of the unpacked file.
	MaxBytes int64
	// MaxRatio is how many times larger than the packed file the unpacked one may be; 0 means any number of times.
	MaxRatio int64
}

// DefaultLimits are the limits of a deployment that sets no others.
var DefaultLimits = Limits{MaxBytes: 2147483647, MaxRatio: 100}

// HeadBytes is how many bytes of a file Recognize needs; fewer if the file has no more.
const HeadBytes = 4

// Recognize returns how the file is packed that begins with head. One that is neither gzip nor zstd is batch.Identity.
// No JSON text begins as those do.
func Recognize(head []byte) batch.Encoding {
	switch {
	case bytes.HasPrefix(head, []byte(gzipMagic)):
		return batch.Gzip
	case bytes.HasPrefix(head, []byte(zstdMagic)), isSkippable(head):
		return batch.Zstd
	}
	return batch.Identity
}

// Error is the reason for which a file is not unpacked: it is damaged, passes a limit, or needs a feature that the
// format allows and the service does not. Its text is for the client.
type Error struct{ text string }

// Error implements error.
func (e *Error) Error() string { return e.text }

func refusef(format string, args ...any) *Error { return &Error{fmt.Sprintf(format, args...)} }

// Reader reads a packed file unpacked. Its errors are *Error, or errors of the reader of the packed file. The text that
// it has returned counts only once it has returned io.EOF: then the file is whole, and all its checksums are right.
type Reader struct {
	in     *source
	size   int64
	stream stream
	// left is how many more bytes may be unpacked, and tooLarge the error for a file that has more.
	left     int64
	tooLarge *Error
	err      error
}

// stream unpacks all parts of a file. Its errors are the errors of Reader, *damage, or *trailing.
type stream interface {
	io.Reader
	// Close releases the memory of the stream.
	Close()
}

// damage is a fault in a packed stream.
type damage struct {
	// at is where it was noticed, in bytes from the beginning of the packed file.
	at int64
}

func (d *damage) Error() string { return fmt.Sprintf("damaged at byte %d", d.at) }

// trailing is what follows the last part of a packed file, where nothing may.
type trailing struct {
	// at is where it begins, in bytes from the beginning of the packed file; part is the name of the parts.
	at   int64
	part string
}

func (t *trailing) Error() string { return fmt.Sprintf("no %s at byte %d", t.part, t.at) }

// NewReader returns a reader of a file of some size that is packed as gzip or zstd. It must be closed.
func NewReader(packed io.Reader, encoding batch.Encoding, size int64, limits Limits) *Reader {
	in := &source{buffered: bufio.NewReaderSize(nil, 64<<10)}
	in.raw.r = packed
	in.buffered.Reset(&in.raw)
	r := &Reader{in: in, size: size, left: limits.MaxBytes}
	r.tooLarge = refusef("The file unpacks to more than the %d bytes that are allowed. Split it into several batches.",
		limits.MaxBytes)
	if byRatio := limits.MaxRatio * size; limits.MaxRatio > 0 && byRatio < r.left {
		r.left = byRatio
		r.tooLarge = refusef("The file unpacks to more than %d times its size of %d bytes, which is as much as is "+
			"allowed. Upload it unpacked.", limits.MaxRatio, size)
	}
	switch encoding {
	case batch.Gzip:
		r.stream = &gzipStream{in: in}
	case batch.Zstd:
		r.stream = newZstdStream(in)
	default:
		panic("unpack: a file that is not packed: " + string(encoding))
	}
	return r
}

// Close releases the memory of the reader. It does not close the reader of the packed file.
func (r *Reader) Close() { r.stream.Close() }

// Read reads unpacked bytes.
func (r *Reader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if int64(len(p)) > r.left {
		p = p[:r.left+1] // one more byte tells whether there are more
	}
	n, err := r.stream.Read(p)
	if int64(n) > r.left {
		n, err = int(r.left), r.tooLarge
	}
	r.left -= int64(n)
	r.err = r.explain(err)
	return n, r.err
}

// explain returns the error of a Reader for an error of its stream. One of the packed file itself is the cause of every
// other one.
func (r *Reader) explain(err error) error {
	if err != nil && r.in.raw.err != nil {
		return r.in.raw.err
	}
	if d, ok := errors.AsType[*damage](err); ok {
		return refusef("The %s stream is damaged at byte %d.", nameOf(r.stream), d.at)
	}
	if t, ok := errors.AsType[*trailing](err); ok {
		follow := "bytes follow"
		if r.size-t.at == 1 {
			follow = "byte follows"
		}
		return refusef("The %s stream ends at byte %d, and %d %s its last %s. Remove what follows.", nameOf(r.stream),
			t.at, r.size-t.at, follow, t.part)
	}
	return err
}

func nameOf(s stream) batch.Encoding {
	if _, isGzip := s.(*gzipStream); isGzip {
		return batch.Gzip
	}
	return batch.Zstd
}

// source is a packed file that knows how far it was read.
type source struct {
	buffered *bufio.Reader
	raw      countingReader
}

// position returns how many bytes were read.
func (s *source) position() int64 { return s.raw.n - int64(s.buffered.Buffered()) }

// isAtEnd reports whether nothing is left, or nothing can be read.
func (s *source) isAtEnd() bool {
	_, err := s.buffered.Peek(1)
	return err != nil
}

// countingReader counts the bytes read, and keeps the error that ends it before its end.
type countingReader struct {
	r   io.Reader
	n   int64
	err error
}

// errSource takes the place of the error of a packed file, which may be one that unpacking gives a meaning, such as
// io.ErrUnexpectedEOF.
var errSource = errors.New("unpack: the packed file cannot be read")

// Read reads from the packed file.
func (c *countingReader) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, errSource
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err, err = err, errSource
	}
	return n, err
}

// gzipMagic begins every member of a gzip file that is packed by deflate, the only method there is (RFC 1952).
const gzipMagic = "\x1f\x8b\x08"

// gzipStream unpacks all members of a gzip file. Nothing may follow them.
type gzipStream struct {
	in     *source
	member *gzip.Reader
	// isInside means that a member is begun and not ended.
	isInside bool
}

// Read reads unpacked bytes.
func (g *gzipStream) Read(p []byte) (int, error) {
	for {
		if !g.isInside {
			if g.in.isAtEnd() && g.member != nil {
				return 0, io.EOF
			}
			if err := g.begin(); err != nil {
				return 0, err
			}
			g.isInside = true
		}
		n, err := g.member.Read(p)
		switch {
		case err == io.EOF:
			g.isInside, err = false, nil
		case err != nil:
			err = &damage{g.in.position()}
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// begin reads the header of the next member.
func (g *gzipStream) begin() error {
	start := g.in.position()
	if head, _ := g.in.buffered.Peek(len(gzipMagic)); g.member != nil && !strings.HasPrefix(gzipMagic, string(head)) {
		return &trailing{start, "member"}
	}
	var err error
	if g.member == nil {
		g.member, err = gzip.NewReader(g.in.buffered)
	} else {
		err = g.member.Reset(g.in.buffered)
	}
	switch {
	case err == nil:
		g.member.Multistream(false)
		return nil
	case errors.Is(err, gzip.ErrHeader):
		return &damage{start}
	}
	return &damage{g.in.position()}
}

// Close does nothing: a gzip stream holds nothing but memory.
func (g *gzipStream) Close() {}
