package console

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/client"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
)

const (
	// maxRejectedBytes is how much of the rejected lines of a batch is fetched. Errors of lines that follow have no
	// excerpt.
	maxRejectedBytes = 1 << 30
	// bytesPerMark is about how many bytes are between two lines whose places are known.
	bytesPerMark = 64 << 10
	// maxLeftOut is how many lines may be left out of the rejected ones. With more, errors have no excerpts.
	maxLeftOut = 100_000
	// excerptPatience is how long a page of errors waits for the lines that it shows parts of.
	excerptPatience = 3 * time.Second
)

// rejectedLines are the rejected lines of a batch, which are fetched in the background: parts of them are shown beside
// the errors of the report. It is safe for concurrent use.
type rejectedLines struct {
	// leftOut are the entries of the report whose lines are not among them, in order.
	leftOut []int64
	file    *os.File

	mu sync.Mutex
	// marks are places of some lines, in order.
	marks []lineMark
	// count is how many whole lines there are, and end where they end.
	count, end int64
	// isDone means that no line follows.
	isDone bool
	// grown is closed, and replaced, when there are more lines or isDone.
	grown chan struct{}
}

// lineMark is where a line begins, by its number from 0.
type lineMark struct{ line, offset int64 }

// newRejectedLines returns rejected lines that are stored in a file, which they take over.
func newRejectedLines(file *os.File, leftOut []int64) *rejectedLines {
	return &rejectedLines{file: file, leftOut: leftOut, grown: make(chan struct{})}
}

// entriesLeftOut returns the entries of the report whose lines are too long to be among the rejected ones.
func entriesLeftOut(ctx context.Context, index *ErrorIndex, r client.ValidationResult) ([]int64, error) {
	if r.RejectedLeftOut == nil || *r.RejectedLeftOut == 0 {
		return nil, nil
	}
	page, err := index.Page(ctx, ErrorQuery{Code: string(transaction.CodeLineTooLong), Limit: *r.RejectedLeftOut}, nil)
	var entries []int64
	for _, e := range page.Errors {
		entries = append(entries, e.Entry)
	}
	return slices.Compact(entries), err
}

// fetch reads the lines, up to maxRejectedBytes. What cannot be read is not there: the errors are shown all the same.
func (l *rejectedLines) fetch(ctx context.Context, open func() (io.ReadCloser, error)) {
	defer l.update(func() { l.isDone = true })
	body, err := open()
	if err != nil {
		return
	}
	defer body.Close()
	var written int64
	for buf := make([]byte, 256<<10); written < maxRejectedBytes && ctx.Err() == nil; {
		n, err := body.Read(buf)
		if n > 0 {
			if _, err := l.file.WriteAt(buf[:n], written); err != nil {
				return
			}
			l.add(buf[:n], written)
			written += int64(n)
		}
		if err != nil {
			return
		}
	}
}

// add notes where the lines of a part of the file end.
func (l *rejectedLines) add(part []byte, offset int64) {
	l.update(func() {
		for at := 0; ; {
			i := bytes.IndexByte(part[at:], '\n')
			if i < 0 {
				return
			}
			if n := len(l.marks); n == 0 || l.end-l.marks[n-1].offset >= bytesPerMark {
				l.marks = append(l.marks, lineMark{l.count, l.end})
			}
			at += i + 1
			l.count, l.end = l.count+1, offset+int64(at)
		}
	})
}

// update changes what there is, and tells those who wait for it.
func (l *rejectedLines) update(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	close(l.grown)
	l.grown = make(chan struct{})
}

// close closes the file. Fetching has ended or ends with an error.
func (l *rejectedLines) close() { _ = l.file.Close() }

// line returns the line of an entry of the report, without its line feed; nil if it is not at hand. It waits for the
// line until the context ends.
func (l *rejectedLines) line(ctx context.Context, entry int64) []byte {
	before := sort.Search(len(l.leftOut), func(i int) bool { return l.leftOut[i] >= entry })
	if before < len(l.leftOut) && l.leftOut[before] == entry {
		return nil
	}
	number := entry - int64(before)
	for {
		l.mu.Lock()
		count, end, isDone, grown := l.count, l.end, l.isDone, l.grown
		var mark lineMark
		if number < count {
			mark = l.marks[sort.Search(len(l.marks), func(i int) bool { return l.marks[i].line > number })-1]
		}
		l.mu.Unlock()
		switch {
		case number < count:
			return l.read(mark.offset, end, number-mark.line)
		case isDone:
			return nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return nil
		}
	}
}

// read returns the n-th line, from 0, of those that begin at a mark and end before end.
func (l *rejectedLines) read(mark, end, n int64) []byte {
	lines := newLineReader(io.NewSectionReader(l.file, mark, end-mark))
	for ; n > 0; n-- {
		if lines.skip() != nil {
			return nil
		}
	}
	line, err := lines.next()
	if err != nil {
		return nil
	}
	return line
}

// excerpts adds to errors the part of their lines around them.
type excerpts struct {
	ctx context.Context
	// lines are nil if there are none.
	lines   *rejectedLines
	scanner *scanner.Scanner

	// entry is the one whose line was read last, -1 before; findings are what is wrong with that line by itself.
	entry    int64
	line     []byte
	findings []transaction.Finding
}

// newExcerpts returns what describes the errors of one page. It waits for lines that are still being fetched until the
// context ends.
func newExcerpts(ctx context.Context, lines *rejectedLines) *excerpts {
	return &excerpts{ctx: ctx, lines: lines, entry: -1}
}

// describe adds to an error the part of its line around it.
func (x *excerpts) describe(e *LineError) {
	if x.lines == nil {
		return
	}
	if e.Entry != x.entry {
		x.entry, x.findings = e.Entry, nil
		if x.line = x.lines.line(x.ctx, e.Entry); x.line != nil {
			x.scan()
		}
	}
	if x.line == nil {
		return
	}
	// The report has the place in the file; where its line begins there is not known.
	place := e.Offset
	offset := x.place(e)
	e.Offset = &offset
	describeError(bytes.NewReader(x.line), e)
	e.Offset = place
}

// scan finds what is wrong with the line.
func (x *excerpts) scan() {
	if x.scanner == nil {
		x.scanner = scanner.New(transaction.Rules{MaxLineBytes: maxEntryBytes})
	}
	x.findings = slices.Clone(x.scanner.Line(x.line).Findings)
}

// place returns where in its line an error is: where the scanner finds it or, of an error that the line does not have
// by itself, such as a duplicate, where the value is.
func (x *excerpts) place(e *LineError) int64 {
	for _, f := range x.findings {
		if string(f.Code) == e.Code && f.Pointer == e.Field {
			return int64(f.Offset)
		}
	}
	return valueOffset(x.line, e.Field)
}

// valueOffset returns where the value at a JSON pointer begins in a line; 0 if there is none.
func valueOffset(line []byte, pointer string) int64 {
	if pointer == "" {
		return 0
	}
	d := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		kind := d.PeekKind()
		before := d.InputOffset()
		isName := isNextName(d)
		if _, err := d.ReadToken(); err != nil {
			return 0
		}
		if isName || kind == '}' || kind == ']' || string(d.StackPointer()) != pointer {
			continue
		}
		gap := bytes.IndexFunc(line[before:], func(r rune) bool { return !strings.ContainsRune(" \t\r\n,:", r) })
		return before + int64(max(gap, 0))
	}
}

// isNextName reports whether the next token is the name of a member.
func isNextName(d *jsontext.Decoder) bool {
	kind, length := d.StackIndex(d.StackDepth())
	return kind == '{' && length%2 == 0
}

// lineReader reads lines one after the other.
type lineReader struct{ in *bufio.Reader }

func newLineReader(r io.Reader) lineReader { return lineReader{bufio.NewReaderSize(r, 64<<10)} }

// skip reads a line.
func (l lineReader) skip() error {
	for {
		_, err := l.in.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// next returns a line without its line feed.
func (l lineReader) next() ([]byte, error) {
	line, err := l.in.ReadBytes('\n')
	return bytes.TrimSuffix(line, []byte{'\n'}), err
}
