package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"sluice/shared/batch"
	"sluice/shared/unpack"
)

// unpackFilters are the shell commands that unpack a file, their last argument or their standard input.
var unpackFilters = map[batch.Encoding]string{batch.Gzip: "gzip -dc", batch.Zstd: "zstd -dc"}

// checkLines returns how a file of lines is packed. Its error is that of checkFormat, of the unpacked file if it is packed,
// or says why it cannot be unpacked; of a packed file only the beginning is looked at.
func checkLines(file io.ReaderAt, size int64, path, reader string) (batch.Encoding, error) {
	head := make([]byte, min(size, unpack.HeadBytes))
	if _, err := file.ReadAt(head, 0); err != nil && err != io.EOF {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	packed := unpack.Recognize(head)
	if packed == batch.Identity {
		return packed, checkFormat(file, size, path, reader)
	}
	content := newUnpacking(file, size, packed)
	defer content.Close()
	sample := make([]byte, sampleBytes+1)
	n, err := io.ReadFull(content, sample)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return packed, nameUnpackError(path, err)
	}
	format := recognizeFormat(sample[:min(n, sampleBytes)], n <= sampleBytes)
	return packed, format.explain(path, reader, packed)
}

// newUnpacking returns the unpacked content of a file, within the limits of the service.
func newUnpacking(file io.ReaderAt, size int64, packed batch.Encoding) *unpack.Reader {
	return unpack.NewReader(io.NewSectionReader(file, 0, size), packed, size, unpack.DefaultLimits)
}

// nameUnpackError adds the name of a file to the error of its unpacking.
func nameUnpackError(path string, err error) error {
	if path == stdName {
		path = "standard input"
	}
	return fmt.Errorf("%s: %w", printable(path), err)
}

// unpackFile returns a file without a name that has the unpacked content of another one, and its size.
func unpackFile(ctx context.Context, file io.ReaderAt, size int64, packed batch.Encoding, path string) (*os.File, int64, error) {
	content := newUnpacking(file, size, packed)
	defer content.Close()
	copied, n, err := spool(ctx, content)
	if err != nil && errors.As(err, new(*unpack.Error)) {
		err = nameUnpackError(path, err)
	}
	return copied, n, err
}

// openLines opens a file of lines for reading at any offset and returns its size; one that is packed is unpacked first,
// into a file without a name. The errors are those of openSeekable and checkLines.
func openLines(ctx context.Context, path, reader string) (*os.File, int64, error) {
	file, size, err := openSeekable(ctx, path)
	if err != nil {
		return nil, 0, err
	}
	packed, err := checkLines(file, size, path, reader)
	if err == nil && packed == batch.Identity {
		return file, size, nil
	}
	defer file.Close()
	if err != nil {
		return nil, 0, err
	}
	return unpackFile(ctx, file, size, packed, path)
}

// unpackedLines are the lines of a file that is uploaded. A packed one is unpacked when a line is read for the first time.
type unpackedLines struct {
	// ctx is that of the command: an io.ReaderAt takes none.
	ctx    context.Context
	upload *os.File
	size   int64
	path   string
	packed batch.Encoding

	once sync.Once
	// content is upload itself if it is not packed.
	content *os.File
	err     error
}

// ReadAt reads unpacked bytes.
func (u *unpackedLines) ReadAt(p []byte, at int64) (int, error) {
	u.once.Do(func() {
		if u.content = u.upload; u.packed != batch.Identity {
			u.content, _, u.err = unpackFile(u.ctx, u.upload, u.size, u.packed, u.path)
		}
	})
	if u.err != nil {
		return 0, u.err
	}
	return u.content.ReadAt(p, at)
}

// Close removes what was unpacked. It does not close the uploaded file.
func (u *unpackedLines) Close() error {
	if u.content == nil || u.content == u.upload {
		return nil
	}
	return u.content.Close()
}
