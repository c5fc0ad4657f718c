package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"sluice/internal/linefile"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/unpack"
)

// checkLines returns how a file of lines is packed. Its error says what a file that is not one of lines is and what to
// do, or why it cannot be unpacked. Path is the name that the user gave. Reader is the command that reads the file from
// standard input.
func checkLines(file io.ReaderAt, size int64, path, reader string) (batch.Encoding, error) {
	packed, err := linefile.Check(file, size)
	return packed, explainUnusable(err, path, reader)
}

// explainUnusable adds the name of the file and the remedy to an error.
func explainUnusable(err error, path, reader string) error {
	var format *linefile.FormatError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &format):
		return explainFormat(format, path, reader)
	case errors.As(err, new(*unpack.Error)):
		return nameUnpackError(path, err)
	}
	return fmt.Errorf("read %s: %w", displayName(path), err)
}

// explainFormat returns the error for a file that is not JSON Lines.
func explainFormat(e *linefile.FormatError, path, reader string) error {
	name, input := displayName(path), shellName(path)
	if path == stdName {
		input = ""
	}
	if e.Packed != batch.Identity {
		name += ", unpacked,"
	}
	text := name + " is " + e.Format.Name + ", not JSON Lines (one JSON object a line)"
	command := e.Command(input)
	if command == "" {
		return errors.New(text + "; " + e.Format.Advice)
	}
	return fmt.Errorf("%s; convert it: %s | %s", text, command, reader)
}

// nameUnpackError adds the name of a file to the error of its unpacking.
func nameUnpackError(path string, err error) error {
	return fmt.Errorf("%s: %w", displayName(path), err)
}

// unpackFile returns a file without a name that has the unpacked content of another one, and its size.
func unpackFile(ctx context.Context, file io.ReaderAt, size int64, packed batch.Encoding, path string) (*os.File, int64,
	error) {
	content := linefile.Unpack(file, size, packed)
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
	return unpackLines(ctx, file, size, path, reader)
}

// unpackLines is openLines for a file that is open. It closes it unless it returns it.
func unpackLines(ctx context.Context, file *os.File, size int64, path, reader string) (*os.File, int64, error) {
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

// unpackedLines are the lines of a file that is uploaded. A packed one is unpacked when a line is read for the first
// time.
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
