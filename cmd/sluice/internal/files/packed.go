package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"sluice/internal/linefile"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/unpack"
)

// CheckLines returns how a file of lines is packed. Its error says what a file that is not one of lines is and what to
// do, why it cannot be unpacked, or that it has no transaction. Path is the name that the user gave. Reader is the
// command that reads the file from standard input.
func CheckLines(file io.ReaderAt, size int64, path, reader string) (batch.Encoding, error) {
	packed, err := checkFormat(file, size, path, reader)
	if err != nil || packed != batch.Identity || size > linefile.SampleBytes {
		return packed, err
	}
	content := make([]byte, size)
	if _, err := file.ReadAt(content, 0); err != nil && !errors.Is(err, io.EOF) {
		return packed, ExplainUnusable(err, path, reader)
	}
	if len(bytes.Trim(bytes.TrimPrefix(content, []byte("\xEF\xBB\xBF")), " \t\r\n")) == 0 {
		return packed, fmt.Errorf("%s has no transaction, so it cannot be a batch", DisplayName(path))
	}
	return packed, nil
}

// checkFormat is CheckLines for a file that may be empty.
func checkFormat(file io.ReaderAt, size int64, path, reader string) (batch.Encoding, error) {
	packed, err := linefile.Check(file, size)
	return packed, ExplainUnusable(err, path, reader)
}

// CheckRegular is CheckLines for a file that is not open yet. It says nothing of standard input and of what else can
// only be read once.
func CheckRegular(path, reader string) error {
	if path == StdName {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return folderError(path)
	case !info.Mode().IsRegular():
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = CheckLines(file, info.Size(), path, reader)
	return err
}

// ExplainUnusable adds the name of the file and the remedy to an error.
func ExplainUnusable(err error, path, reader string) error {
	var format *linefile.FormatError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &format):
		return explainFormat(format, path, reader)
	case errors.As(err, new(*unpack.Error)):
		return NameUnpackError(path, err)
	}
	return fmt.Errorf("read %s: %w", DisplayName(path), err)
}

// explainFormat returns the error for a file that is not JSON Lines.
func explainFormat(e *linefile.FormatError, path, reader string) error {
	name, input := DisplayName(path), ShellName(path)
	if path == StdName {
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

// NameUnpackError adds the name of a file to the error of its unpacking.
func NameUnpackError(path string, err error) error {
	return fmt.Errorf("%s: %w", DisplayName(path), err)
}

// UnpackFile returns a file without a name that has the unpacked content of another one, and its size.
func UnpackFile(ctx context.Context, file io.ReaderAt, size int64, packed batch.Encoding, path string) (*os.File, int64,
	error) {
	content := linefile.Unpack(file, size, packed)
	defer content.Close()
	copied, n, err := spool(ctx, content)
	if err != nil && errors.As(err, new(*unpack.Error)) {
		err = NameUnpackError(path, err)
	}
	return copied, n, err
}

// OpenLines opens a file of lines for reading at any offset and returns its size; one that is packed is unpacked first,
// into a file without a name. The errors are those of OpenSeekable and CheckLines.
func OpenLines(ctx context.Context, path, reader string) (*os.File, int64, error) {
	file, size, err := OpenSeekable(ctx, path)
	if err != nil {
		return nil, 0, err
	}
	return UnpackLines(ctx, file, size, path, reader)
}

// UnpackLines is OpenLines for a file that is open. It closes it unless it returns it.
func UnpackLines(ctx context.Context, file *os.File, size int64, path, reader string) (*os.File, int64, error) {
	packed, err := checkFormat(file, size, path, reader)
	if err == nil && packed == batch.Identity {
		return file, size, nil
	}
	defer file.Close()
	if err != nil {
		return nil, 0, err
	}
	return UnpackFile(ctx, file, size, packed, path)
}
