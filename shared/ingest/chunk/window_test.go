package chunk

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// TestRequestsOfAChunk pins the ranges that are requested to read a chunk.
func TestRequestsOfAChunk(t *testing.T) {
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
		t.Run(c.name, func(t *testing.T) {
			source := &recordingSource{file: []byte(c.file)}
			p := NewPlan(int64(len(c.file)), 5)
			readLines(t, NewReader(t.Context(), source, p, c.chunk, Options{MaxLineBytes: 10}))
			difftest.Equal(t, "ranges", c.want, source.ranges)
		})
	}
}

// TestSourceFails makes the source fail, and requires its error and no line after it.
func TestSourceFails(t *testing.T) {
	broken := errors.New("broken")
	file := []byte(strings.Repeat("abcdefghi\n", 10))
	p := NewPlan(int64(len(file)), 55)
	for name, openError := range map[string]func(from, to int64) error{
		"in the chunk": func(from, _ int64) error { return broken },
		"after the chunk": func(from, _ int64) error {
			if from == 55 {
				return broken
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			source := &recordingSource{file: file, openError: openError}
			r := NewReader(t.Context(), source, p, 0, Options{MaxLineBytes: 100})
			defer r.Close()
			for r.Next() {
			}
			errtest.Is(t, "error", r.Err(), broken)
			if r.Next() {
				t.Error("got a line after an error, want none")
			}
		})
	}
}

// TestShortSource reads a source with fewer bytes than Plan.Size: the end of a connection must not count as the
// end of the file.
func TestShortSource(t *testing.T) {
	file := strings.Repeat("abcdefghi\n", 10)
	for n := range len(file) {
		short := NewSource(strings.NewReader(file[:n]))
		r := NewReader(t.Context(), short, NewPlan(int64(len(file)), 55), 0, Options{MaxLineBytes: 100})
		for r.Next() {
		}
		if n < 60 && !errors.Is(r.Err(), io.ErrUnexpectedEOF) {
			t.Errorf("source of %d bytes: error is %v, want %v", n, r.Err(), io.ErrUnexpectedEOF)
		}
		r.Close()
	}
}

// blockedSource is a source whose reads wait until the context is cancelled.
type blockedSource struct{ ctx context.Context }

func (b blockedSource) Open(ctx context.Context, _, _ int64) (io.ReadCloser, error) {
	return io.NopCloser(blockedSource{ctx}), nil
}

func (b blockedSource) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func TestContextIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := NewReader(ctx, blockedSource{}, NewPlan(100, 50), 1, Options{MaxLineBytes: 10})
	defer r.Close()
	cancel()
	if r.Next() || !errors.Is(r.Err(), context.Canceled) {
		t.Errorf("error is %v, want %v", r.Err(), context.Canceled)
	}
}

func TestContextIsCancelledBeforeMapping(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	source := &recordingSource{file: []byte("a\nb\n"), mapped: true}
	r := NewReader(ctx, source, NewPlan(4, 0), 0, Options{MaxLineBytes: 10})
	if r.Next() || !errors.Is(r.Err(), context.Canceled) {
		t.Errorf("error is %v, want %v", r.Err(), context.Canceled)
	}
	r.Close()
	difftest.Equal(t, "mappings were left open", 0, source.open)
}

func TestCloseEarly(t *testing.T) {
	file := []byte(strings.Repeat("abcdefghi\n", 1000))
	source := &recordingSource{file: file}
	r := NewReader(t.Context(), source, NewPlan(int64(len(file)), 0), 0, Options{MaxLineBytes: 10, Window: 10})
	if !r.Next() {
		t.Fatal(r.Err())
	}
	r.Close()
	difftest.Equal(t, "readers of the source were left open", 0, source.open)
	NewReader(t.Context(), blockedSource{}, NewPlan(100, 50), 1, Options{MaxLineBytes: 10}).Close()
}
