package unpack

import (
	"bytes"
	"errors"
	"io"

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
	in      *source
	decoder *zstd.Decoder
	err     error
}

func newZstdStream(in *source) *zstdStream {
	// One goroutine reads no more than it unpacks, so that the place of a fault depends on the file alone.
	decoder, err := zstd.NewReader(in.buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow),
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
	case errors.Is(err, zstd.ErrMagicMismatch): // no further frame
		return &damage{z.in.position() - HeadBytes}
	}
	return &damage{z.in.position()}
}

// Close ends the decoder.
func (z *zstdStream) Close() {
	if z.decoder != nil {
		z.decoder.Close()
	}
}
