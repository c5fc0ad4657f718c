package storage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	versity "github.com/versity/versitygw/backend"
)

// openObject is GetObject of the gateway's own backend, except that the body of a range can be sent by the kernel, as
// the gateway lets it send whole objects. The gateway's own body of a range is copied in small pieces.
func (b *backend) openObject(ctx context.Context, in *s3.GetObjectInput) (*s3.GetObjectOutput, error) {
	byteRange := deref(in.Range)
	if byteRange == "" || in.PartNumber != nil || in.ChecksumMode != "" {
		return b.Backend.GetObject(ctx, in)
	}
	whole := *in
	whole.Range = new(string)
	out, err := b.Backend.GetObject(ctx, &whole)
	if err != nil {
		return out, err
	}
	file, ok := out.Body.(*os.File)
	if !ok { // a folder, which has no body
		return b.Backend.GetObject(ctx, in)
	}
	size := deref(out.ContentLength)
	from, n, isPart, err := versity.ParseObjectRange(size, byteRange)
	if err != nil {
		_ = file.Close()
		return nil, err // bare, as the gateway expects it
	}
	if !isPart {
		return out, nil
	}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	contentRange := fmt.Sprintf("bytes %d-%d/%d", from, from+n-1, size)
	out.ContentLength, out.ContentRange = &n, &contentRange
	out.Body = &section{io.LimitedReader{R: file, N: n}, file}
	return out, nil
}

// section is the next bytes of a file, which it owns.
type section struct {
	io.LimitedReader
	file *os.File
}

// Close closes the file.
func (s *section) Close() error { return s.file.Close() }

// WriteTo sends the bytes. What a buffered writer holds is sent before, if the bytes would fill its buffer: the
// connection behind the writer then reads the file itself.
func (s *section) WriteTo(w io.Writer) (int64, error) {
	if b, ok := w.(*bufio.Writer); ok && s.N >= int64(b.Available()) {
		if err := b.Flush(); err != nil {
			return 0, err
		}
	}
	return io.Copy(w, &s.LimitedReader)
}
