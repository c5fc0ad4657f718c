package console

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"unicode/utf8"

	"sluice/internal/linefile"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/validation"
)

// checkProgress is how far the check of a file is. It is safe for concurrent use.
type checkProgress struct {
	// running is false while the check waits for its turn.
	running atomic.Bool
	// unpacked is how many bytes were unpacked, and total how many bytes are validated; 0 until they are known.
	unpacked, total atomic.Int64
	// done is how much of total is done, and read and lines how many bytes and transactions are read.
	done, read, lines atomic.Int64
	// started is when the check began, in nanoseconds since 1970.
	started atomic.Int64
}

// CheckResult is what the check of a file has found.
type CheckResult struct {
	Lines   int64 `json:"lines"`
	Valid   int64 `json:"valid"`
	Invalid int64 `json:"invalid"`
	// Errors is the number of errors: a line can have several.
	Errors int64 `json:"errors"`
	// Codes count the errors by code, and Fields by code and field; the most frequent first.
	Codes  []codeCount    `json:"codes"`
	Fields []report.Entry `json:"fields"`
	// ReportComplete is false if some errors have no message, because there are too many.
	ReportComplete bool `json:"report_complete"`
	// Packed is how the file is packed, and Bytes its size unpacked.
	Packed batch.Encoding `json:"packed"`
	Bytes  int64          `json:"bytes"`
	// Seconds is how long the check took, and BytesPerSecond how fast it was.
	Seconds        float64 `json:"seconds"`
	BytesPerSecond float64 `json:"bytes_per_second"`
	// Suspicions are what the file may suffer from as a whole.
	Suspicions []fileProblem `json:"suspicions"`
}

// codeCount is how often a code occurs.
type codeCount struct {
	Code       string  `json:"code"`
	Count      int64   `json:"count"`
	FirstLines []int64 `json:"first_lines"`
	// Reason and Hint say what causes the errors and what to do.
	Reason string `json:"reason,omitempty"`
	Hint   string `json:"hint,omitempty"`
}

// runCheck checks a file when it is its turn.
func (f *Files) runCheck(ctx context.Context, x *file) {
	select {
	case f.checks <- struct{}{}:
		defer func() { <-f.checks }()
	case <-ctx.Done():
		return
	}
	started := f.config.Now()
	x.progress.started.Store(started.UnixNano())
	x.progress.running.Store(true)
	result, err := f.check(ctx, x)
	if ctx.Err() != nil {
		return // the file is removed, or the console ends
	}
	if err != nil {
		f.fail(x, f.problemOfCheck(x, err))
		return
	}
	elapsed := f.config.Now().Sub(started)
	result.Seconds = elapsed.Seconds()
	result.BytesPerSecond = float64(result.Bytes) / max(elapsed.Seconds(), 0.001)
	f.update(func() {
		result.Suspicions = append(result.Suspicions, f.findSame(x)...)
		x.check, x.state = result, stateChecked
	})
}

// check checks a file and keeps an index of what is wrong with it.
func (f *Files) check(ctx context.Context, x *file) (*CheckResult, error) {
	if x.size == 0 {
		return nil, errEmpty
	}
	var err error
	if x.packed, err = linefile.Check(x.content, x.size); err != nil {
		return nil, err
	}
	lines, size := x.content, x.size
	if x.packed != batch.Identity {
		if lines, size, err = f.unpack(ctx, x); err != nil {
			return nil, err
		}
		f.update(func() { x.lines = lines })
	}
	x.progress.total.Store(size)
	reportFile, err := f.newFile()
	if err != nil {
		return nil, err
	}
	indexer := NewErrorIndexer(reportFile)
	folder, err := f.folder()
	if err != nil {
		return nil, err
	}
	in := linefile.Validation{ReceivedAt: f.config.Now(), TempDir: folder, Progress: func(p linefile.Progress) {
		x.progress.done.Store(p.Done)
		x.progress.read.Store(p.Read)
		x.progress.lines.Store(p.Lines)
	}}
	summary, err := in.Run(ctx, lines, size, indexer)
	var index *ErrorIndex
	if err == nil {
		index, err = indexer.Finish()
	}
	if err == nil {
		err = f.reserve(x, index.end)
	}
	if err != nil {
		_ = reportFile.Close()
		return nil, err
	}
	f.update(func() { x.index = index })
	return newCheckResult(summary, index, x.packed, lines, size), nil
}

// unpack returns what a packed file holds, and its size.
func (f *Files) unpack(ctx context.Context, x *file) (*os.File, int64, error) {
	to, err := f.newFile()
	if err != nil {
		return nil, 0, err
	}
	content := linefile.Unpack(x.content, x.size, x.packed)
	defer content.Close()
	out := f.newWriter(x, to, func(n int) { x.progress.unpacked.Add(int64(n)) })
	n, err := io.CopyBuffer(out, struct{ io.Reader }{untilDone{ctx, content}}, make([]byte, receiveBuffer))
	if err != nil {
		_ = to.Close()
		return nil, 0, err
	}
	return to, n, nil
}

// untilDone ends reading with its context.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (r untilDone) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// newCheckResult returns what a validation has found.
func newCheckResult(
	s report.Summary, index *ErrorIndex, packed batch.Encoding, lines io.ReaderAt, size int64,
) *CheckResult {
	r := &CheckResult{Lines: s.Counts.Total, Valid: s.Counts.Accepted, Invalid: s.Counts.Invalid, Errors: index.Total(),
		Codes: []codeCount{}, Fields: s.Entries(), ReportComplete: s.ReportComplete == nil || *s.ReportComplete,
		Packed: packed, Bytes: size, Suspicions: []fileProblem{}}
	for code, info := range s.Codes {
		c := codeCount{Code: string(code), Count: info.Count}
		c.Reason, c.Hint = explainCode(c.Code)
		for _, e := range info.Examples {
			if !slices.Contains(c.FirstLines, e.Line) {
				c.FirstLines = append(c.FirstLines, e.Line)
			}
		}
		r.Codes = append(r.Codes, c)
	}
	slices.SortFunc(r.Codes, func(a, b codeCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code))
	})
	r.Suspicions = append(r.Suspicions, suspect(s, lines)...)
	return r
}

// suspect returns what a file may suffer from as a whole, judged by its summary and its first errors.
func suspect(s report.Summary, lines io.ReaderAt) []fileProblem {
	var out []fileProblem
	c := s.Counts
	if c.Total == 0 {
		return append(out, fileProblem{Code: "no_lines", Title: "The file contains no transaction",
			Detail: "It has only blank lines. The service would refuse it."})
	}
	isUTF8 := func(e report.Example) bool { return isUTF8At(lines, e.Offset) }
	if info := s.Codes[transaction.CodeJSONInvalid]; info.Count > 0 && !slices.ContainsFunc(info.Examples, isUTF8) {
		out = append(out, fileProblem{Code: "not_utf8", Title: "The file is probably not UTF-8",
			Detail: "The first lines that cannot be read have bytes that no UTF-8 text has. Files of older " +
				"programs are often in ISO 8859-1 or Windows-1252.",
			Hint:    "Export it as UTF-8, or convert it, if you know its encoding.",
			Command: "iconv -f WINDOWS-1252 -t UTF-8"})
	}
	if c.Accepted == 0 && c.Total > 1 && len(s.Codes) > 0 {
		out = append(out, fileProblem{Code: "all_invalid", Title: "Not one line is valid",
			Detail: "What makes the file has probably one fault that is in every line.",
			Hint:   "Mend what the first line names, and drop the file again."})
	}
	if n := s.Codes[validation.CodeDuplicateModificationID].Count; n > 1 && n*10 >= c.Total*9 {
		out = append(out, fileProblem{Code: "mostly_duplicates", Title: "Most lines share their modification IDs",
			Detail: "Perhaps two exports were joined, or the ID is that of something else, such as the customer."})
	}
	return out
}

// isUTF8At reports whether the rest of a line after a byte of the file is UTF-8, as far as it is looked at.
func isUTF8At(file io.ReaderAt, offset int64) bool {
	window := make([]byte, 1<<10)
	n, err := file.ReadAt(window, offset)
	window = window[:n]
	if end := bytes.IndexByte(window, '\n'); end >= 0 {
		return utf8.Valid(window[:end])
	}
	if err == nil { // the last character may be cut
		for i := 0; i < utf8.UTFMax-1 && len(window) > 0 && !utf8.FullRune(window[len(window)-1-i:]); i++ {
			if utf8.RuneStart(window[len(window)-1-i]) {
				window = window[:len(window)-1-i]
				break
			}
		}
	}
	return utf8.Valid(window)
}

// findSame returns that an earlier file has the same content. The caller holds f.mu.
func (f *Files) findSame(x *file) []fileProblem {
	for _, other := range f.files {
		if other == x {
			break
		}
		if other.digest == x.digest && other.size == x.size && other.state != stateReceiving && other.content != nil {
			return []fileProblem{{Code: "same_file", Title: "This is the same file as " + other.name,
				Detail: "Both have the same content. Uploading both would make two batches of it.",
				Hint:   "Remove one of them, unless that is what you want."}}
		}
	}
	return nil
}

// errEmpty means that a file has no bytes.
var errEmpty = errors.New("the file is empty")

// problemOfCheck explains why a file was not checked.
func (f *Files) problemOfCheck(x *file, err error) *fileProblem {
	var format *linefile.FormatError
	switch {
	case errors.Is(err, errEmpty):
		return &fileProblem{Code: "empty", Title: "The file is empty",
			Detail: "It has 0 bytes. The service would refuse it.", Hint: "Check the export that made it."}
	case errors.As(err, &format):
		p := &fileProblem{Code: "not_lines", Title: "The file is not JSON Lines", Detail: sentence(format.Error()),
			Hint: sentence(format.Format.Advice)}
		if command := format.Command(linefile.ShellQuote(x.name)); command != "" {
			p.Hint, p.Command = "Convert it, then drop what comes out.", command+" > converted.jsonl"
		}
		return p
	case errors.Is(err, validation.ErrShrank):
		return &fileProblem{Code: "failed", Title: "The copy of the file became shorter",
			Detail: "Something has changed it while it was checked.", Hint: "Drop the file again."}
	}
	return f.problemOf(x, err)
}

// describeError adds to an error of a checked file the part of the line around it.
func describeError(lines io.ReaderAt, e *LineError) {
	if e.Offset == nil || lines == nil {
		return
	}
	const before, after = 60, 100 // characters
	left, right := linefile.Excerpt(lines, *e.Offset)
	l, r := []rune(left), []rune(right)
	l, r = l[max(0, len(l)-before):], r[:min(len(r), after)]
	e.Excerpt, e.Column = string(l)+string(r), len(l)
}
