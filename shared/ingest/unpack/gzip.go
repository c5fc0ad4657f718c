package unpack

import (
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
)

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
