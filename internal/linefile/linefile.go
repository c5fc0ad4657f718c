// Package linefile reads files of transactions on the machine of whoever is going to upload them: it recognizes what is
// not JSON Lines, unpacks what is packed, validates with the service's own code, and shows the place of an error. The
// commands and the console use it.
package linefile

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sluice/shared/access/auth"
	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/ingest/unpack"
	"sluice/shared/ingest/validation"
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

// Validation says how a file of lines is validated: as the service does it for a tenant with the usual settings.
type Validation struct {
	// ReceivedAt takes the place of the receipt time.
	ReceivedAt time.Time
	// MainEntity says which entity of a line is the main entity.
	MainEntity tenancy.MainEntityRule
	// Entities are all entities that exist; nil means that references to entities are not checked.
	Entities *validation.Directory
	// Screening is how names are screened; nil if they are not.
	Screening *validation.FileScreening
	// CSV receives the report as CSV, and Rejected the rejected lines; nil if they are not wanted.
	CSV, Rejected io.Writer
	// Workers is how many chunks are worked on at the same time; 0 means one for each core.
	Workers int
	// TempDir is the folder for temporary files; "" means that of the system.
	TempDir string
	// Progress, unless it is nil, is called with how much is done, by several goroutines at once.
	Progress func(Progress)
}

// Progress is how far the validation of a file is.
type Progress struct {
	// Done is how much of the file's size is done: reading it is most of the work, and what follows is the last tenth.
	Done int64
	// Read is how many bytes are read, and Lines how many transactions those have.
	Read, Lines int64
}

// Run validates a file, which is not packed, and writes the report to out. If the file has become shorter meanwhile,
// the error is validation.ErrShrank.
func (v Validation) Run(ctx context.Context, file *os.File, size int64, out io.Writer) (report.Summary, error) {
	settings := auth.DefaultSettings()
	rules := transaction.Rules{
		ReceivedAt: v.ReceivedAt, MaxPast: settings.MaxPast, MaxFuture: settings.MaxFuture, MainEntity: v.MainEntity,
		CollectNames: v.Screening != nil,
	}
	in := validation.FileInput{
		Source:     NewSource(file),
		Plan:       chunk.NewPlan(size, 0),
		NewScanner: func() validation.Scanner { return scanner.New(rules) },
		Entities:   v.Entities,
		Screening:  v.Screening,
		CSV:        v.CSV,
		Rejected:   v.Rejected,
		Workers:    v.Workers,
		TempDir:    v.TempDir,

		MaxReportBytes: report.DefaultMaxBytes,
	}
	if in.Workers == 0 {
		in.Workers = runtime.GOMAXPROCS(0)
	}
	if v.Progress != nil {
		in.Progress = func(p validation.Progress) {
			v.Progress(Progress{Done: (9*p.Read + p.Settled) / 10, Read: p.Read, Lines: p.Lines})
		}
	}
	rand.Read(in.DigestKey[:])
	summary, err := validation.ValidateFile(ctx, in, out)
	if info, statErr := file.Stat(); err == nil && statErr == nil && info.Size() < size {
		err = validation.ErrShrank // the last page of a mapped file reads as zeros beyond its new end
	}
	return summary, err
}

// Printable makes text that comes from a file harmless for whoever reads it: every character is visible, controls are
// replaced.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ':
			return '␀' + r
		case r == 0x7F:
			return '␡'
		case IsHidden(r):
			return '·'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// IsHidden reports whether a character is not visible itself and may change how others look: a control, a format
// character or a separator of lines.
func IsHidden(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }

// ShellQuote writes an argument for a POSIX shell.
func ShellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_./:=@%+,-", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" && s[0] != '-' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// excerptBytes is how much of a line, on each side of a byte, an excerpt has at most.
const excerptBytes = 512

// Excerpt returns the part of a line around a byte of the file: what precedes the byte, and what begins with it. The
// text is printable. Both are "" if the file has no such byte or cannot be read.
func Excerpt(file io.ReaderAt, offset int64) (before, after string) {
	start := max(offset-excerptBytes, 0)
	window := make([]byte, 2*excerptBytes)
	n, _ := file.ReadAt(window, start)
	middle := int(offset - start)
	if middle > n {
		return "", ""
	}
	left, right := window[:middle], window[middle:n]
	if i := bytes.LastIndexByte(left, '\n'); i >= 0 {
		left = left[i+1:]
	} else if start > 0 {
		left = dropPartialRune(left)
	}
	if i := bytes.IndexByte(right, '\n'); i >= 0 {
		right = right[:i]
	}
	return Printable(string(left)), Printable(strings.TrimRight(string(right), "\r"))
}

// dropPartialRune drops the rest of a character at the beginning of a text.
func dropPartialRune(b []byte) []byte {
	for len(b) > 0 && !utf8.RuneStart(b[0]) {
		b = b[1:]
	}
	return b
}
