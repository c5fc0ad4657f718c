package unpack

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// zstdMagic begins every frame with content (RFC 8878).
const zstdMagic = "\x28\xb5\x2f\xfd"

// isSkippable reports whether head begins a skippable frame: 50 to 5f, then 2a 4d 18.
func isSkippable(head []byte) bool {
	return len(head) >= HeadBytes && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte("\x2a\x4d\x18"))
}

// maxWindow is the largest window of a zstd frame, which is held in memory: as much as the command zstd takes without
// further options, and as its highest level needs.
const maxWindow = 128 << 20

// zstdStream unpacks all frames of a zstd file.
type zstdStream struct {
	in      *frames
	decoder *zstd.Decoder
	err     error
}

func newZstdStream(packed *source) *zstdStream {
	in := &frames{source: packed}
	// One goroutine reads no more than it unpacks, so that the place of a fault depends on the file alone.
	decoder, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecoderLowmem(true))
	return &zstdStream{in: in, decoder: decoder, err: err}
}

// Read reads unpacked bytes.
func (z *zstdStream) Read(p []byte) (int, error) {
	if z.err != nil {
		return 0, z.err
	}
	n, err := z.decoder.Read(p)
	z.err = z.explain(err)
	return n, z.err
}

// explain returns the error of a stream for an error of the decoder.
func (z *zstdStream) explain(err error) error {
	switch {
	case err == nil, err == io.EOF:
		return err
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return refusef("The zstd stream needs %d MiB of memory or more to be unpacked. Pack it again with a smaller "+
			"window: without --long, or with --long=27 at most.", maxWindow>>20)
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return refusef("The zstd stream needs a dictionary. Pack it again without one.")
	case z.in.isTrailing && z.in.start > 0:
		return &trailing{z.in.start, "frame"}
	case errors.Is(err, zstd.ErrMagicMismatch):
		return &damage{z.in.start}
	}
	return &damage{z.in.position()}
}

// Close ends the decoder.
func (z *zstdStream) Close() {
	if z.decoder != nil {
		z.decoder.Close()
	}
}

// frames is a zstd file that is followed by its headers, because the decoder does not tell whether a file that ends too
// early ends inside a frame or behind the last one.
type frames struct {
	*source
	// left is how many bytes there are up to the next header of a frame or block.
	left int64
	// start is where the latest frame begins, or what is in its place; isTrailing means that this is no frame.
	start      int64
	isTrailing bool
	// isInside means that the frame goes on with a block, hasChecksum that it ends with a checksum.
	isInside, hasChecksum bool
}

// Read reads at most up to the next header.
func (f *frames) Read(p []byte) (int, error) {
	for f.left == 0 && !f.isAtEnd() {
		if f.isInside {
			f.left = f.block()
		} else {
			f.left = f.frame()
		}
	}
	n, err := f.buffered.Read(p[:min(int64(len(p)), max(f.left, 1))])
	f.left -= int64(n)
	return n, err
}

// unknown is the size of a part that cannot be followed: the decoder fails in it.
const unknown = math.MaxInt64

// frame returns the size of the header that begins here, or of all of a skippable frame.
func (f *frames) frame() int64 {
	var header zstd.Header
	head, _ := f.buffered.Peek(zstd.HeaderMaxSize)
	f.start = f.position()
	err := header.Decode(head)
	f.isTrailing = errors.Is(err, zstd.ErrMagicMismatch) ||
		len(head) < len(zstdMagic) && !strings.HasPrefix(zstdMagic, string(head))
	if err != nil {
		return unknown
	}
	f.isInside, f.hasChecksum = !header.Skippable, header.HasCheckSum
	return int64(header.HeaderSize) + int64(header.SkippableSize)
}

// block returns the size of the block that begins here, with the checksum if it is the last one of its frame.
func (f *frames) block() int64 {
	const headerBytes, runLength = 3, 1
	head, err := f.buffered.Peek(headerBytes)
	if err != nil {
		return unknown
	}
	header := int64(head[0]) | int64(head[1])<<8 | int64(head[2])<<16
	size := header >> 3
	if header>>1&3 == runLength {
		size = 1
	}
	if isLast := header&1 == 1; isLast {
		f.isInside = false
		if f.hasChecksum {
			size += 4
		}
	}
	return headerBytes + size
}
