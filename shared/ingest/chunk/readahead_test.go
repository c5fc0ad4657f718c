package chunk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// file returns n bytes, no two neighbouring parts of which are equal.
func file(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8)
	}
	return b
}

func TestReadAhead(t *testing.T) {
	t.Parallel()
	for size := range 40 {
		for _, o := range []ReadAhead{{PartBytes: 1, Parts: 1}, {PartBytes: 7, Parts: 3}, {PartBytes: 8, Parts: 2},
			{PartBytes: 100, Parts: 4}} {
			source := &recordingSource{file: file(size)}
			for name, read := range map[string]func(io.Reader) ([]byte, error){
				"ReadAll": io.ReadAll,
				"Read":    func(r io.Reader) ([]byte, error) { return io.ReadAll(iotest.OneByteReader(r)) },
				"WriteTo": func(r io.Reader) ([]byte, error) {
					var b bytes.Buffer
					_, err := io.Copy(&b, r)
					return b.Bytes(), err
				},
			} {
				r := o.Open(t.Context(), source, int64(size))
				got, err := read(r)
				if !bytes.Equal(got, source.file) || err != nil {
					t.Errorf("%s of %d bytes by %+v: got %d other bytes, %v", name, size, o, len(got), err)
				}
				if r.Close(); source.open != 0 {
					t.Errorf("%d ranges are still open", source.open)
				}
			}
		}
	}
}

// gatedSource answers no range until it is let, and counts those that wait.
type gatedSource struct {
	Source
	waiting sync.WaitGroup
	gate    chan struct{}
}

func (s *gatedSource) Open(ctx context.Context, from, to int64) (io.ReadCloser, error) {
	s.waiting.Done()
	select {
	case <-s.gate:
		return s.Source.Open(ctx, from, to)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestReadAheadReadsPartsAtOnce waits until as many ranges are asked for as there are parts: no more, or the counter
// would become negative.
func TestReadAheadReadsPartsAtOnce(t *testing.T) {
	t.Parallel()
	s := &gatedSource{Source: NewSource(bytes.NewReader(file(100))), gate: make(chan struct{})}
	s.waiting.Add(3)
	r := ReadAhead{PartBytes: 10, Parts: 3}.Open(t.Context(), s, 100)
	s.waiting.Wait()
	s.waiting.Add(7)
	close(s.gate)
	difftest.Equal(t, "bytes", 100, len(errtest.Must(io.ReadAll(r))(t)))
	r.Close()
}

func TestReadAheadEnds(t *testing.T) {
	t.Parallel()
	errBroken := errors.New("broken")
	t.Run("a range fails", func(t *testing.T) {
		s := &recordingSource{file: file(100), openError: func(from, _ int64) error {
			if from == 20 {
				return errBroken
			}
			return nil
		}}
		r := ReadAhead{PartBytes: 10, Parts: 4}.Open(t.Context(), s, 100)
		got, err := io.ReadAll(r)
		if !bytes.Equal(got, s.file[:20]) || !errors.Is(err, errBroken) {
			t.Errorf("got %d bytes, %v, want 20 and that the range is broken", len(got), err)
		}
		errtest.Is(t, "after", errtest.Of(r.Read(make([]byte, 1))), errBroken)
		r.Close()
	})
	t.Run("the file is shorter", func(t *testing.T) {
		r := ReadAhead{PartBytes: 10, Parts: 2}.Open(t.Context(), NewSource(strings.NewReader("12345")), 15)
		errtest.Is(t, "ReadAll", errtest.Of(io.ReadAll(r)), io.ErrUnexpectedEOF)
		r.Close()
	})
	t.Run("closed while ranges are read", func(t *testing.T) {
		s := &gatedSource{Source: NewSource(bytes.NewReader(file(100))), gate: make(chan struct{})}
		s.waiting.Add(2)
		r := ReadAhead{PartBytes: 10, Parts: 2}.Open(t.Context(), s, 100)
		s.waiting.Wait()
		r.Close() // returns only when nothing is being read
	})
	t.Run("cancelled while ranges are read", func(t *testing.T) {
		s := &gatedSource{Source: NewSource(bytes.NewReader(file(100))), gate: make(chan struct{})}
		s.waiting.Add(2)
		ctx, cancel := context.WithCancelCause(t.Context())
		r := ReadAhead{PartBytes: 10, Parts: 2}.Open(ctx, s, 100)
		s.waiting.Wait()
		cancel(errBroken)
		if _, err := io.ReadAll(r); !errors.Is(err, errBroken) && !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the cause of the cancellation", err)
		}
		r.Close()
	})
	t.Run("the writer fails", func(t *testing.T) {
		r := ReadAhead{PartBytes: 10, Parts: 2}.Open(t.Context(), NewSource(bytes.NewReader(file(100))), 100)
		errtest.Is(t, "Copy", errtest.Of(io.Copy(failingWriter{errBroken}, r)), errBroken)
		r.Close()
	})
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
