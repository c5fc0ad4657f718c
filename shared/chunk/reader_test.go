package chunk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// naive splits a whole file the obvious way.
func naive(file []byte, limit int) []Line {
	offset := int64(0)
	if bytes.HasPrefix(file, mark) {
		file, offset = file[len(mark):], int64(len(mark))
	}
	var lines []Line
	for len(file) > 0 {
		text, rest, found := bytes.Cut(file, []byte("\n"))
		l := Line{Number: int64(len(lines)), Offset: offset, Text: text}
		if len(text) > limit {
			l.Text, l.TooLong = text[:limit], true
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

// watched records what is read of a file, and fails where it is told to.
type watched struct {
	file   []byte
	mapped bool // gives its bytes where they lie
	fail   func(from, to int64) error

	mu     sync.Mutex
	opened []string
	last   int64 // end of the highest range
	open   int
}

func (w *watched) Open(_ context.Context, from, to int64) (io.ReadCloser, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if from < 0 || from >= to || to > int64(len(w.file)) {
		return nil, fmt.Errorf("range [%d, %d) of %d", from, to, len(w.file))
	}
	w.opened = append(w.opened, fmt.Sprintf("%d-%d", from, to))
	w.last = max(w.last, to)
	if w.fail != nil {
		if err := w.fail(from, to); err != nil {
			return nil, err
		}
	}
	w.open++
	return &closing{iotest.OneByteReader(bytes.NewReader(w.file[from:to])), w}, nil
}

func (w *watched) Map(from, to int64) ([]byte, func()) {
	if !w.mapped {
		return nil, nil
	}
	w.last = max(w.last, to)
	w.open++
	return w.file[from:to:to], func() { w.open-- }
}

type closing struct {
	io.Reader
	w *watched
}

func (c *closing) Close() error {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.w.open--
	return nil
}

// nextLine takes a line by Ahead where it can, which it never can when too much must lie behind it.
func nextLine(t *testing.T, r *Reader, behind int) (Line, bool) {
	t.Helper()
	text := r.Ahead()
	if text == nil {
		ok := r.Next()
		return *r.Line(), ok
	}
	n := bytes.IndexByte(text, '\n')
	if n < 0 || len(text)-n-1 < behind {
		t.Fatalf("%d bytes ahead, of which the first line feed is at %d: %d must lie behind it", len(text), n, behind)
	}
	l := r.Take(n)
	if len(l.Text) != n && !l.TooLong {
		t.Fatalf("a line of %d bytes was taken for one of %d", n, len(l.Text))
	}
	return *l, true
}

const neverAhead = 1 << 30

// readAll reads all chunks and numbers their lines through.
func readAll(t *testing.T, w *watched, p Plan, o Options) []Line {
	t.Helper()
	var lines []Line
	for i := range p.Count() {
		first := int64(len(lines))
		w.last = 0
		r := Read(t.Context(), w, p, i, o)
		for {
			l, ok := nextLine(t, r, o.Behind)
			if !ok {
				break
			}
			if l.Number != int64(len(lines))-first {
				t.Fatalf("chunk %d: line number %d after %d lines", i, l.Number, int64(len(lines))-first)
			}
			l.Number += first
			l.Text = bytes.Clone(l.Text)
			lines = append(lines, l)
		}
		if err := r.Err(); err != nil {
			t.Fatalf("chunk %d: %v", i, err)
		}
		r.Close()
		if r.Next() || r.Ahead() != nil {
			t.Fatalf("chunk %d: a line after the end", i)
		}
		if _, end := p.Range(i); w.last > end+int64(o.MaxLineBytes+len(mark)) {
			t.Fatalf("chunk %d ends at %d, read to %d", i, end, w.last)
		}
	}
	if w.open != 0 {
		t.Fatalf("%d readers left open", w.open)
	}
	return lines
}

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

// TestEveryChunkSize reads small files in chunks of every size, by windows of every size and, as window 0, where they lie.
func TestEveryChunkSize(t *testing.T) {
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			for _, limit := range []int{8, 1, 64} {
				want := naive([]byte(file), limit)
				for bytes := range len(file) + 2 {
					for n, window := range []int{0, 0, 0, 1, 2, 3, 7, 7, 64, 64, 64} {
						w := &watched{file: []byte(file), mapped: window == 0}
						p := NewPlan(int64(len(file)), int64(bytes+1))
						behind := []int{neverAhead, 0, 3}[n%3]
						got := readAll(t, w, p, Options{MaxLineBytes: limit, Window: window, Behind: behind})
						if diff := cmp.Diff(want, got); diff != "" {
							t.Fatalf("limit %d, chunks of %d, window %d, %d behind (-want +got):\n%s", limit, bytes+1, window, behind, diff)
						}
					}
				}
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, file := range files {
		f.Add([]byte(file), uint16(5), uint8(8), uint8(3), uint8(0))
	}
	f.Fuzz(func(t *testing.T, file []byte, bytes uint16, limit, window, behind uint8) {
		if len(file) > 1<<10 {
			return // what there is to find shows in short files
		}
		w := &watched{file: file, mapped: window == 0}
		p := NewPlan(int64(len(file)), max(int64(bytes), int64(len(file)/100), 1))
		o := Options{MaxLineBytes: int(limit) + 1, Window: int(window), Behind: int(behind)}
		if diff := cmp.Diff(naive(file, o.MaxLineBytes), readAll(t, w, p, o)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestResume(t *testing.T) {
	file := []byte("\xEF\xBB\xBFone\n\ntwo\r\n" + strings.Repeat("x", 30) + "\nthree\nfour")
	for bytes := int64(1); bytes <= int64(len(file)); bytes++ {
		p := NewPlan(int64(len(file)), bytes)
		o := Options{MaxLineBytes: 10, Window: 4}
		for i := range p.Count() {
			all := collect(t, Read(t.Context(), At(strings.NewReader(string(file))), p, i, o))
			for n, l := range all {
				o := o
				o.From, o.Line = l.Offset, l.Number
				got := collect(t, Read(t.Context(), &watched{file: file, mapped: n%2 == 0}, p, i, o))
				if diff := cmp.Diff(all[n:], got); diff != "" {
					t.Fatalf("chunks of %d, chunk %d, from line %d (-want +got):\n%s", bytes, i, n, diff)
				}
			}
		}
	}
}

func collect(t *testing.T, r *Reader) []Line {
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
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestReadsNoMoreThanItNeeds holds the requests that a chunk costs.
func TestReadsNoMoreThanItNeeds(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, c := range []struct {
		name, file string
		chunk      int
		want       []string
	}{
		{"ends with a line", "abcd\nefgh\n", 0, []string{"0-5"}},
		{"begins with a line", "abcd\nefgh\n", 1, []string{"4-10"}},
		{"ends within a line", "abcdefgh\nij\n", 0, []string{"0-5", "5-12"}},
		{"within a long line", long, 7, []string{"34-40"}},
		{"begins within a long line", long + "\nab\n", 20, []string{"99-104"}},
		{"ends within a long line", "abc\n" + long, 0, []string{"0-5", "5-15"}},
	} {
		w := &watched{file: []byte(c.file)}
		collect(t, Read(t.Context(), w, NewPlan(int64(len(c.file)), 5), c.chunk, Options{MaxLineBytes: 10}))
		if diff := cmp.Diff(c.want, w.opened); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestSourceFails(t *testing.T) {
	broken := errors.New("broken")
	file := []byte(strings.Repeat("abcdefghi\n", 10))
	p := NewPlan(int64(len(file)), 55)
	for name, w := range map[string]*watched{
		"chunk": {file: file, fail: func(from, _ int64) error { return broken }},
		"tail": {file: file, fail: func(from, _ int64) error {
			if from == 55 {
				return broken
			}
			return nil
		}},
	} {
		r := Read(t.Context(), w, p, 0, Options{MaxLineBytes: 100})
		for r.Next() {
		}
		if !errors.Is(r.Err(), broken) {
			t.Errorf("%s: %v, want the source's error", name, r.Err())
		}
		if r.Next() {
			t.Errorf("%s: a line after an error", name)
		}
		r.Close()
	}
}

// TestShortSource: the end of a connection must not pass for the end of a file.
func TestShortSource(t *testing.T) {
	file := strings.Repeat("abcdefghi\n", 10)
	for n := range len(file) {
		short := At(strings.NewReader(file[:n]))
		r := Read(t.Context(), short, NewPlan(int64(len(file)), 55), 0, Options{MaxLineBytes: 100})
		for r.Next() {
		}
		if n < 60 && !errors.Is(r.Err(), io.ErrUnexpectedEOF) {
			t.Errorf("source of %d bytes: %v, want an unexpected end", n, r.Err())
		}
		r.Close()
	}
}

// blocked is a source whose reads wait for the context.
type blocked struct{ ctx context.Context }

func (b blocked) Open(ctx context.Context, _, _ int64) (io.ReadCloser, error) {
	return io.NopCloser(blocked{ctx}), nil
}

func (b blocked) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := Read(ctx, blocked{}, NewPlan(100, 50), 1, Options{MaxLineBytes: 10})
	defer r.Close()
	cancel()
	if r.Next() || !errors.Is(r.Err(), context.Canceled) {
		t.Errorf("error %v, want that of the context", r.Err())
	}
}

func TestContextEndedBeforeMapping(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := &watched{file: []byte("a\nb\n"), mapped: true}
	r := Read(ctx, w, NewPlan(4, 0), 0, Options{MaxLineBytes: 10})
	if r.Next() || !errors.Is(r.Err(), context.Canceled) {
		t.Errorf("error %v, want that of the context", r.Err())
	}
	r.Close()
	if w.open != 0 {
		t.Error("mapping left open")
	}
}

func TestCloseEarly(t *testing.T) {
	file := []byte(strings.Repeat("abcdefghi\n", 1000))
	w := &watched{file: file}
	r := Read(t.Context(), w, NewPlan(int64(len(file)), 0), 0, Options{MaxLineBytes: 10, Window: 10})
	if !r.Next() {
		t.Fatal(r.Err())
	}
	r.Close()
	if w.open != 0 {
		t.Error("source left open")
	}
	Read(t.Context(), blocked{}, NewPlan(100, 50), 1, Options{MaxLineBytes: 10}).Close()
}

func TestReadAllocatesNothingPerLine(t *testing.T) {
	file := []byte(strings.Repeat(strings.Repeat("x", 99)+"\n", 20000))
	p := NewPlan(int64(len(file)), 0)
	allocs := testing.AllocsPerRun(3, func() {
		r := Read(t.Context(), At(bytes.NewReader(file)), p, 0, Options{MaxLineBytes: 1 << 10})
		for r.Next() {
		}
		r.Close()
	})
	if allocs > 50 {
		t.Errorf("%v allocations for 20000 lines", allocs)
	}
}

func BenchmarkRead(b *testing.B) {
	file := []byte(strings.Repeat(strings.Repeat("x", 1103)+"\n", 64<<10))
	p := NewPlan(int64(len(file)), int64(len(file)))
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		r := Read(b.Context(), At(bytes.NewReader(file)), p, 0, Options{MaxLineBytes: 256 << 10})
		for r.Next() {
		}
		r.Close()
	}
}
