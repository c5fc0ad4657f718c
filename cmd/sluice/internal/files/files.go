// Package files opens the files that commands read and write. The name - is standard input or output.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"sluice/internal/command"
	"sluice/internal/linefile"
)

// StdName is the name of standard input, and of standard output, wherever a file can be named.
const StdName = "-"

// DisplayName returns the name of a file for people.
func DisplayName(path string) string {
	if path == StdName {
		return "standard input"
	}
	return linefile.Printable(path)
}

// ShellName writes the name of a file as an argument of a command that a shell runs.
func ShellName(path string) string { return linefile.ShellQuote(ArgumentName(path)) }

// ArgumentName returns the name of a file as an argument of a command, which is not a flag.
func ArgumentName(path string) string {
	if path != StdName && strings.HasPrefix(path, "-") {
		return "./" + path
	}
	return path
}

// RequireOneStdin returns an error if more than one input of a command is standard input.
func RequireOneStdin(names ...string) error {
	n := 0
	for _, name := range names {
		if name == StdName {
			n++
		}
	}
	if n > 1 {
		return command.Usagef("only one input can be standard input (-)")
	}
	return nil
}

// OpenSeekable opens a file for reading at any offset and returns its size. Standard input ("-"), and anything else
// that can only be read from start to end, is copied into a temporary file first. That file has no name any more, so it
// is gone when the process ends.
func OpenSeekable(ctx context.Context, path string) (*os.File, int64, error) {
	file := os.Stdin
	if path != StdName {
		var err error
		if file, err = os.Open(path); err != nil {
			return nil, 0, err
		}
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	if info.Mode().IsRegular() && path != StdName {
		return file, info.Size(), nil
	}
	if info.IsDir() {
		return nil, 0, folderError(path)
	}
	return spool(ctx, file)
}

func folderError(path string) error {
	return fmt.Errorf("%s is a folder, not a file", DisplayName(path))
}

// spool copies what can be read into a temporary file without a name.
func spool(ctx context.Context, from io.Reader) (*os.File, int64, error) {
	to, err := os.CreateTemp("", "sluice-")
	if err != nil {
		return nil, 0, err
	}
	if err := os.Remove(to.Name()); err != nil {
		return nil, 0, err
	}
	input := newInterruptible(ctx, from)
	defer input.Close()
	n, err := io.Copy(to, input)
	if err != nil {
		to.Close()
		return nil, 0, err
	}
	return to, n, nil
}

// OpenInput opens a file for reading; "-" is standard input, of which reading ends with the context.
func OpenInput(ctx context.Context, path string) (io.ReadCloser, error) {
	if path != StdName {
		return os.Open(path)
	}
	return newInterruptible(ctx, os.Stdin), nil
}

// newInterruptible returns what can be read from r until the context ends, which is command.ErrInterrupted.
func newInterruptible(ctx context.Context, r io.Reader) io.ReadCloser {
	from, to := io.Pipe()
	context.AfterFunc(ctx, func() { to.CloseWithError(command.ErrInterrupted) })
	go func() { // a read that waits for input cannot be ended, only left
		_, err := io.Copy(to, r)
		to.CloseWithError(err)
	}()
	return from
}

// ReadSecret reads a secret, which is not empty, from a file or from standard input.
func ReadSecret(ctx context.Context, path string) (string, error) {
	file, err := OpenInput(ctx, path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	secret := strings.TrimSpace(string(text))
	if err == nil && secret == "" {
		err = fmt.Errorf("%s is empty; it must hold the secret", DisplayName(path))
	}
	return secret, err
}

// Output is a file in which a command stores its output. It is opened before the command begins its work, so that a
// Path that cannot be written is reported at once, but what it held is only replaced when there is something to store.
// A nil *Output is one that the user did not ask for.
type Output struct {
	// Path is what the user named; "-" is standard output.
	Path string
	file *os.File
	// created means that this command has created the file.
	created bool
	// begun means that the file's content has been replaced.
	begun bool
	w     io.Writer
}

// OpenOutput opens a file for writing and creates it if it does not exist. What is what it will hold, for the error. It
// returns nil if path is "".
func OpenOutput(path, what string, stdout io.Writer) (*Output, error) {
	switch path {
	case "":
		return nil, nil
	case StdName:
		return &Output{Path: path, w: stdout}, nil
	}
	o := &Output{Path: path}
	var err error
	o.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if o.created = err == nil; errors.Is(err, fs.ErrExist) {
		o.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	}
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("%s cannot be written to %s: %w", what, path, failed.Err)
	}
	o.w = o.file
	return o, err
}

// IsStdout reports whether the output takes standard output, which must then hold nothing else.
func (o *Output) IsStdout() bool { return o != nil && o.Path == StdName }

// isRegular reports whether the output is a file that can be emptied and removed.
func (o *Output) isRegular() bool {
	if o.file == nil {
		return false
	}
	info, err := o.file.Stat()
	return err == nil && info.Mode().IsRegular()
}

// Write adds to the output. The first call replaces what the file held.
func (o *Output) Write(p []byte) (int, error) {
	if err := o.begin(); err != nil {
		return 0, err
	}
	return o.w.Write(p)
}

// begin replaces what the file held by nothing.
func (o *Output) begin() error {
	if o.begun {
		return nil
	}
	o.begun = true
	if !o.isRegular() {
		return nil
	}
	return o.file.Truncate(0)
}

// Finish closes the output. Its content is then what was written, even if that is nothing.
func (o *Output) Finish() error {
	if o == nil {
		return nil
	}
	err := o.begin()
	if o.file != nil {
		err = errors.Join(err, o.file.Close())
		o.file = nil
	}
	return err
}

// Discard closes an output that is not finished. It removes the file if this command created it or left it incomplete.
// After finish it does nothing.
func (o *Output) Discard() {
	if o == nil || o.file == nil {
		return
	}
	if o.isRegular() && (o.created || o.begun) {
		_ = os.Remove(o.Path)
	}
	_ = o.file.Close()
	o.file = nil
}
