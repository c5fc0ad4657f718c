// Package linefile reads files of transactions on the machine of whoever is going to upload them: it recognizes what is
// not JSON Lines, unpacks what is packed, validates with the service's own code, and shows the place of an error. The
// commands and the console use it.
package linefile

import (
	"errors"
	"io"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/unpack"
)

// UnpackFilters are the shell commands that unpack a file, their last argument or their standard input.
var UnpackFilters = map[batch.Encoding]string{batch.Gzip: "gzip -dc", batch.Zstd: "zstd -dc"}

// FormatError means that a file is not JSON Lines.
type FormatError struct {
	// Format is what the file is or, if it is packed, what it holds.
	Format *Format
	// Packed is how it is packed.
	Packed batch.Encoding
}

// Error says what the file is, and not yet what to do.
func (e *FormatError) Error() string {
	if e.Packed != batch.Identity {
		return "the unpacked file is " + e.Format.Name + ", not JSON Lines (one JSON object a line)"
	}
	return "the file is " + e.Format.Name + ", not JSON Lines (one JSON object a line)"
}

// Command returns the shell commands that turn the file into JSON Lines on their standard output, given the argument
// that names the file, or "" if it comes from a pipe. It returns "" if there are no such commands.
func (e *FormatError) Command(input string) string {
	if e.Format.Filter == "" {
		return ""
	}
	unpacking := UnpackFilters[e.Packed]
	switch {
	case unpacking != "" && input == "":
		return "... | " + unpacking + " | " + e.Format.Filter
	case unpacking != "":
		return unpacking + " " + input + " | " + e.Format.Filter
	case input == "":
		return "... | " + e.Format.Filter
	}
	return e.Format.Filter + " " + input
}

// CheckFormat returns a *FormatError if a file that is not packed is recognized as something else than JSON Lines.
func CheckFormat(file io.ReaderAt, size int64) error {
	sample := make([]byte, min(size, SampleBytes))
	n, err := file.ReadAt(sample, 0)
	if err != nil && err != io.EOF {
		return err
	}
	return formatError(Recognize(sample[:n], size <= SampleBytes), batch.Identity)
}

func formatError(f *Format, packed batch.Encoding) error {
	if f == nil {
		return nil
	}
	return &FormatError{f, packed}
}

// Check returns how a file of lines is packed. Its error is a *FormatError, of the unpacked file if it is packed, or an
// *unpack.Error that says why it cannot be unpacked; of a packed file only the beginning is looked at.
func Check(file io.ReaderAt, size int64) (batch.Encoding, error) {
	head := make([]byte, min(size, unpack.HeadBytes))
	if _, err := file.ReadAt(head, 0); err != nil && err != io.EOF {
		return "", err
	}
	packed := unpack.Recognize(head)
	if packed == batch.Identity {
		return packed, CheckFormat(file, size)
	}
	content := Unpack(file, size, packed)
	defer content.Close()
	sample := make([]byte, SampleBytes+1)
	n, err := io.ReadFull(content, sample)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return packed, err
	}
	return packed, formatError(Recognize(sample[:min(n, SampleBytes)], n <= SampleBytes), packed)
}

// Unpack returns the unpacked content of a file, within the limits of the service. It must be closed.
func Unpack(file io.ReaderAt, size int64, packed batch.Encoding) *unpack.Reader {
	return unpack.NewReader(io.NewSectionReader(file, 0, size), packed, size, unpack.DefaultLimits)
}
