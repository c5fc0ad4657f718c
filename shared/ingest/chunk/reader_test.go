package chunk

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// splitNaively divides a whole file into lines in the most obvious way.
func splitNaively(file []byte, maxLineBytes int) []Line {
	offset := int64(0)
	if bytes.HasPrefix(file, byteOrderMark) {
		file, offset = file[len(byteOrderMark):], int64(len(byteOrderMark))
	}
	var lines []Line
	for len(file) > 0 {
		text, rest, found := bytes.Cut(file, []byte("\n"))
		l := Line{Number: int64(len(lines)), Offset: offset, Text: text}
		if len(text) > maxLineBytes {
			l.Text, l.TooLong = text[:maxLineBytes], true
		}
		lines = append(lines, l)
		offset += int64(len(text))
		if found {
			offset++
		}
		file = rest
	}
	return lines
}

// recordingSource records which ranges of a file are opened, and can make opening them fail.
type recordingSource struct {
	file []byte
	// mapped makes it a source that can be mapped.
	mapped bool
	// openError returns the error of opening a range; nil means that no range fails.
	openError func(from, to int64) error

	mu sync.Mutex
	// ranges are the ranges opened so far, each as "from-to", and maxEnd is the largest end of them.
	ranges []string
	maxEnd int64
	// open is the number of ranges that have not been closed or released.
	open int
}

func (s *recordingSource) Open(_ context.Context, from, to int64) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if from < 0 || from >= to || to > int64(len(s.file)) {
		return nil, fmt.Errorf("range [%d, %d) of %d", from, to, len(s.file))
	}
	s.ranges = append(s.ranges, fmt.Sprintf("%d-%d", from, to))
	s.maxEnd = max(s.maxEnd, to)
	if s.openError != nil {
		if err := s.openError(from, to); err != nil {
			return nil, err
		}
	}
	s.open++
	return &recordingBody{iotest.OneByteReader(bytes.NewReader(s.file[from:to])), s}, nil
}

func (s *recordingSource) Map(from, to int64) ([]byte, func()) {
	if !s.mapped {
		return nil, nil
	}
	s.maxEnd = max(s.maxEnd, to)
	s.open++
	return s.file[from:to:to], func() { s.open-- }
}

type recordingBody struct {
	io.Reader
	source *recordingSource
}

func (b *recordingBody) Close() error {
	b.source.mu.Lock()
	defer b.source.mu.Unlock()
	b.source.open--
	return nil
}

// nextLine reads a line with Peek and Consume where Peek returns it, and otherwise with Next.
func nextLine(t *testing.T, r *Reader, lookahead int) (line Line, ok bool) {
	t.Helper()
	text := r.Peek()
	if text == nil {
		ok := r.Next()
		return *r.Line(), ok
	}
	n := bytes.IndexByte(text, '\n')
	if n < 0 || len(text)-n-1 < lookahead {
		t.Fatalf("Peek returned %d bytes with the first line feed at %d, want %d bytes after it",
			len(text), n, lookahead)
	}
	l := r.Consume(n)
	if len(l.Text) != n && !l.TooLong {
		t.Fatalf("Consume(%d) returned a line of %d bytes", n, len(l.Text))
	}
	return *l, true
}

// neverPeek is a lookahead that no window has, so that Peek never returns a line.
const neverPeek = 1 << 30

// readAll reads all chunks and renumbers their lines over the whole file.
func readAll(t *testing.T, source *recordingSource, p Plan, o Options) []Line {
	t.Helper()
	var lines []Line
	for i := range p.Count() {
		first := int64(len(lines))
		source.maxEnd = 0
		r := NewReader(t.Context(), source, p, i, o)
		for {
			l, ok := nextLine(t, r, o.Lookahead)
			if !ok {
				break
			}
			difftest.Equal(t, fmt.Sprintf("chunk %d: line number", i), int64(len(lines))-first, l.Number)
			l.Number += first
			l.Text = bytes.Clone(l.Text)
			lines = append(lines, l)
		}
		if err := r.Err(); err != nil {
			t.Fatalf("chunk %d: %v", i, err)
		}
		r.Close()
		if r.Next() || r.Peek() != nil {
			t.Fatalf("chunk %d: got a line after the end", i)
		}
		if _, end := p.Range(i); source.maxEnd > end+int64(o.MaxLineBytes+len(byteOrderMark)) {
			t.Fatalf("chunk %d ends at %d, but was read up to %d", i, end, source.maxEnd)
		}
	}
	difftest.Equal(t, "readers of the source were left open", 0, source.open)
	return lines
}

// files are files with lines of about eight bytes, by a name.
var files = map[string]string{
	"empty":                 "",
	"one newline":           "\n",
	"only newlines":         "\n\n\n\n\n",
	"one line":              "abcdefg",
	"one line, ended":       "abcdefg\n",
	"no final newline":      "ab\ncdefgh\ni",
	"final newline":         "ab\ncdefgh\ni\n",
	"crlf":                  "ab\r\n\r\ncdefgh\r\ni\r\n",
	"blank lines":           "\n\nab\n\n \n\ncd\n\n",
	"mark":                  "\xEF\xBB\xBFabc\nd\n",
	"mark only":             "\xEF\xBB\xBF",
	"mark and newline":      "\xEF\xBB\xBF\n",
	"two marks":             "\xEF\xBB\xBF\xEF\xBB\xBFa\n",
	"part of a mark":        "\xEF\xBB",
	"mark in a later line":  "a\n\xEF\xBB\xBFb\n",
	"mark and longest line": "\xEF\xBB\xBF12345678\nb",
	"mark and too long":     "\xEF\xBB\xBF123456789\nb",
	"n-1, n, n+1":           "1234567\n12345678\n123456789\n12345678\r\n1",
	"long":                  "a\n" + strings.Repeat("x", 40) + "\nb\nc",
	"long at the start":     strings.Repeat("x", 40) + "\nb\nc\n",
	"long at the end":       "a\nb\n" + strings.Repeat("x", 40),
	"nul bytes":             "\x00\x00\n\x00",
}

// TestEveryChunkSize reads small files in chunks of every size, with windows of several sizes, mapped (as window 0),
// and both with Peek and without it.
func TestEveryChunkSize(t *testing.T) {
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			for _, maxLineBytes := range []int{8, 1, 64} {
				want := splitNaively([]byte(file), maxLineBytes)
				for chunkBytes := 1; chunkBytes <= len(file)+2; chunkBytes++ {
					for _, window := range []int{0, 1, 2, 3, 7, 64} {
						for _, lookahead := range []int{neverPeek, 0, 3} {
							source := &recordingSource{file: []byte(file), mapped: window == 0}
							p := NewPlan(int64(len(file)), int64(chunkBytes))
							o := Options{MaxLineBytes: maxLineBytes, Window: window, Lookahead: lookahead}
							if got := readAll(t, source, p, o); !equalLines(want, got) {
								t.Fatalf("chunks of %d bytes, %+v (-want +got):\n%s", chunkBytes, o,
									cmp.Diff(want, got))
							}
						}
					}
				}
			}
		})
	}
}

// FuzzReader compares a Reader with splitNaively.
func FuzzReader(f *testing.F) {
	for _, file := range files {
		f.Add([]byte(file), uint16(5), uint8(8), uint8(3), uint8(0))
	}
	f.Fuzz(func(t *testing.T, file []byte, chunkBytes uint16, maxLineBytes, window, lookahead uint8) {
		if len(file) > 1<<10 {
			return // Longer files show nothing that short files do not.
		}
		source := &recordingSource{file: file, mapped: window == 0}
		p := NewPlan(int64(len(file)), max(int64(chunkBytes), int64(len(file)/100), 1))
		o := Options{MaxLineBytes: int(maxLineBytes) + 1, Window: int(window), Lookahead: int(lookahead)}
		difftest.Equal(t, "lines", splitNaively(file, o.MaxLineBytes), readAll(t, source, p, o))
	})
}

// TestResume resumes every chunk of a file at each of its lines.
func TestResume(t *testing.T) {
	file := []byte("\xEF\xBB\xBFone\n\ntwo\r\n" + strings.Repeat("x", 30) + "\nthree\nfour")
	for chunkBytes := int64(1); chunkBytes <= int64(len(file)); chunkBytes++ {
		p := NewPlan(int64(len(file)), chunkBytes)
		o := Options{MaxLineBytes: 10, Window: 4}
		for i := range p.Count() {
			all := readLines(t, NewReader(t.Context(), NewSource(bytes.NewReader(file)), p, i, o))
			for n, l := range all {
				o := o
				o.Start = Position{l.Number, l.Offset}
				got := readLines(t, NewReader(t.Context(), &recordingSource{file: file, mapped: n%2 == 0}, p, i, o))
				difftest.Equal(t, fmt.Sprintf("chunks of %d bytes, chunk %d, from line %d on", chunkBytes, i, n),
					all[n:], got)
			}
		}
	}
}

// equalLines reports whether lines are the same. It costs much less than cmp.Diff, which explains a difference.
func equalLines(a, b []Line) bool { return reflect.DeepEqual(a, b) }

// readLines reads all remaining lines and closes the reader.
func readLines(t *testing.T, r *Reader) []Line {
	t.Helper()
	defer r.Close()
	var lines []Line
	for {
		l, ok := nextLine(t, r, 0)
		if !ok {
			break
		}
		l.Text = bytes.Clone(l.Text)
		lines = append(lines, l)
	}
	errtest.Fatal(t, r.Err())
	return lines
}

func TestReadAllocatesNothingPerLine(t *testing.T) {
	file := []byte(strings.Repeat(strings.Repeat("x", 99)+"\n", 20000))
	p := NewPlan(int64(len(file)), 0)
	allocs := testing.AllocsPerRun(3, func() {
		r := NewReader(t.Context(), NewSource(bytes.NewReader(file)), p, 0, Options{MaxLineBytes: 1 << 10})
		for r.Next() {
		}
		r.Close()
	})
	if allocs > 50 {
		t.Errorf("%v allocations for 20000 lines, want at most 50", allocs)
	}
}

func BenchmarkReader(b *testing.B) {
	file := []byte(strings.Repeat(strings.Repeat("x", 1103)+"\n", 64<<10))
	p := NewPlan(int64(len(file)), int64(len(file)))
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		r := NewReader(b.Context(), NewSource(bytes.NewReader(file)), p, 0, Options{MaxLineBytes: 256 << 10})
		for r.Next() {
		}
		r.Close()
	}
}
