package validation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/errtest"
)

var errFault = errors.New("fault")

// faultyWriter fails when more than a number of bytes have been written.
type faultyWriter struct{ remaining int }

func (w *faultyWriter) Write(p []byte) (int, error) {
	if w.remaining -= len(p); w.remaining < 0 {
		return 0, errFault
	}
	return len(p), nil
}

// faultyReader fails at once.
type faultyReader struct{}

func (faultyReader) Read([]byte) (int, error) { return 0, errFault }

// faultySource counts the ranges that are opened, and fails to open one of them. If failAt is 0, it fails to open none.
type faultySource struct {
	chunk.Source
	failAt int64
	opened atomic.Int64
}

func (s *faultySource) Open(ctx context.Context, from, to int64) (io.ReadCloser, error) {
	if s.opened.Add(1) == s.failAt {
		return nil, errFault
	}
	return s.Source.Open(ctx, from, to)
}

// TestWriterFails requires that an error of the writer of any file, wherever it occurs, is the error of the pass.
func TestWriterFails(t *testing.T) {
	file, plan, w := sampleWorkFiles(t)
	for name, run := range map[string]func(io.Writer) error{
		"findings": func(out io.Writer) error {
			_, err := ValidateChunk(t.Context(), validateInput(file, plan, 0), out, io.Discard)
			return err
		},
		"index": func(out io.Writer) error {
			_, err := ValidateChunk(t.Context(), validateInput(file, plan, 0), io.Discard, out)
			return err
		},
		"rejections": func(out io.Writer) error {
			_, err := ReconcilePartition(t.Context(), reconcileInput(w, indexOfLongest(w.rejections)), out)
			return err
		},
		"part of the report": func(out io.Writer) error {
			_, err := SettleChunk(t.Context(), settleInput(file, plan, w, 0), out, io.Discard)
			return err
		},
		"accept bitmap": func(out io.Writer) error {
			_, err := SettleChunk(t.Context(), settleInput(file, plan, w, 0), io.Discard, out)
			return err
		},
		"report of a file": func(out io.Writer) error {
			_, err := ValidateFile(t.Context(), fileInput(file, plan), out)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var whole bytes.Buffer
			if err := run(&whole); err != nil || whole.Len() == 0 {
				t.Fatalf("without a fault: wrote %d bytes, %v, want some and no error", whole.Len(), err)
			}
			for _, n := range []int{0, 1, whole.Len() / 2, whole.Len() - 1} {
				if err := run(&faultyWriter{n}); !errors.Is(err, errFault) {
					t.Errorf("writer fails after %d of %d bytes: error is %v, want %v", n, whole.Len(), err, errFault)
				}
			}
		})
	}
}

func indexOfLongest(files [][]byte) (longest int) {
	for i := range files {
		if len(files[i]) > len(files[longest]) {
			longest = i
		}
	}
	return longest
}

// TestSourceFails lets each read of a file fail in turn, and requires that ValidateFile fails with that error.
func TestSourceFails(t *testing.T) {
	file, plan, _ := sampleWorkFiles(t)
	counting := &faultySource{Source: sourceOf(file)}
	in := fileInput(file, plan)
	in.Source = counting
	errtest.Fatal(t, errtest.Of(ValidateFile(t.Context(), in, io.Discard)))
	for n := range counting.opened.Load() {
		in.Source = &faultySource{Source: sourceOf(file), failAt: n + 1}
		if _, err := ValidateFile(t.Context(), in, io.Discard); !errors.Is(err, errFault) {
			t.Errorf("read %d fails: error is %v, want %v", n+1, err, errFault)
		}
	}
}

// TestWorkFileCannotBeRead lets each read of a work file fail, and requires that the pass fails with that error.
func TestWorkFileCannotBeRead(t *testing.T) {
	file, plan, w := sampleWorkFiles(t)
	settle := func(in SettleInput) error {
		_, err := SettleChunk(t.Context(), in, io.Discard, io.Discard)
		return err
	}
	reconcile := func(failAt int64) error {
		in := reconcileInput(w, 0)
		in.LineCounts = in.LineCounts[:1]
		in.Index = func(int) chunk.Source { return &faultySource{Source: sourceOf(w.index[0]), failAt: failAt} }
		_, err := ReconcilePartition(t.Context(), in, io.Discard)
		return err
	}
	for name, run := range map[string]func() error{
		"header of the index":  func() error { return reconcile(1) },
		"section of the index": func() error { return reconcile(2) },
		"rejections": func() error {
			in := settleInput(file, plan, w, 0)
			in.Rejections = []chunk.Source{&faultySource{Source: sourceOf(w.rejections[0]), failAt: 1}}
			return settle(in)
		},
		"findings": func() error {
			in := settleInput(file, plan, w, 0)
			in.Findings = io.MultiReader(bytes.NewReader(w.findings[0][:20]), faultyReader{})
			return settle(in)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := run(); !errors.Is(err, errFault) {
				t.Errorf("error is %v, want %v", err, errFault)
			}
		})
	}
}

// lookupFunc is a function as Entities.
type lookupFunc func(ids []string) ([]EntityState, error)

func (f lookupFunc) Lookup(_ context.Context, ids []string) ([]EntityState, error) { return f(ids) }

func TestLookupFails(t *testing.T) {
	_, _, w := sampleWorkFiles(t)
	// reconcile returns the errors of all partitions, because some of them have no entities.
	reconcile := func(entities lookupFunc) error {
		var errs []error
		for p := range Partitions {
			in := reconcileInput(w, p)
			in.Entities = entities
			_, err := ReconcilePartition(t.Context(), in, io.Discard)
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
	t.Run("error", func(t *testing.T) {
		err := reconcile(func([]string) ([]EntityState, error) { return nil, errFault })
		if !errors.Is(err, errFault) {
			t.Errorf("error is %v, want %v", err, errFault)
		}
	})
	t.Run("a state too few", func(t *testing.T) {
		err := reconcile(func(ids []string) ([]EntityState, error) { return make([]EntityState, len(ids)-1), nil })
		if err == nil {
			t.Error("got no error, want one")
		}
	})
}

// TestLookupsAreBounded requires that no more than MaxLookup entities are looked up at a time, and each only once.
func TestLookupsAreBounded(t *testing.T) {
	var file strings.Builder
	entityCount := 2*MaxLookup*Partitions + 1
	for i := range 2 * entityCount {
		file.WriteString("s=" + strings.Repeat("x", 1+i%3) + strconv.Itoa(i%entityCount) + "\n")
	}
	lookups := &countedLookups{map[string]int{}}
	mostAtOnce := 0
	runPasses(t, []byte(file.String()), int64(file.Len()/5), lookupFunc(func(ids []string) ([]EntityState, error) {
		mostAtOnce = max(mostAtOnce, len(ids))
		return lookups.Lookup(context.Background(), ids)
	}))
	lookups.requireOneEach(t, "all partitions")
	if mostAtOnce != MaxLookup {
		t.Errorf("up to %d entities were looked up at a time, want %d", mostAtOnce, MaxLookup)
	}
}

// cancellingSource cancels a context when the range cancelAt is opened.
type cancellingSource struct {
	chunk.Source
	cancel   context.CancelFunc
	cancelAt int64
	opened   atomic.Int64
}

func (s *cancellingSource) Open(ctx context.Context, from, to int64) (io.ReadCloser, error) {
	if s.opened.Add(1) == s.cancelAt {
		s.cancel()
	}
	return s.Source.Open(ctx, from, to)
}

// TestCancelled cancels ValidateFile at any read, and requires that it leaves no goroutine running.
func TestCancelled(t *testing.T) {
	file, plan, _ := sampleWorkFiles(t)
	goroutinesBefore := runtime.NumGoroutine()
	for n := range int64(40) {
		ctx, cancel := context.WithCancel(t.Context())
		in := fileInput(file, plan)
		in.Source = &cancellingSource{Source: sourceOf(file), cancel: cancel, cancelAt: n + 1}
		if _, err := ValidateFile(ctx, in, io.Discard); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at read %d: error is %v, want none or %v", n+1, err, context.Canceled)
		}
		cancel()
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutinesBefore; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are running, want the %d from before", runtime.NumGoroutine(), goroutinesBefore)
		}
	}
	t.Run("before it begins", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := ValidateFile(ctx, fileInput(file, plan), io.Discard); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v, want %v", err, context.Canceled)
		}
	})
}

// TestReadsOfSettleChunk pins how many ranges of the file SettleChunk reads, because each is a request.
func TestReadsOfSettleChunk(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       int64
	}{
		{"valid lines", "m=1\nm=2\n\n", 0},
		{"findings", "m=1 !enum\nm=2\n", 0},
		{"rejections of lines that have findings", "m=1 !enum\nm=1 s=no !enum\n", 0},
		{"rejections of valid lines", "m=1 s=a\nm=2 s=no1\nm=3\n!enum m=3\n \n!enum\n", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := []byte(c.file)
			plan := chunk.NewPlan(int64(len(file)), 0)
			w := validateChunks(t, file, plan)
			reconcilePartitions(t, w, statesByID{})
			in := settleInput(file, plan, w, 0)
			counting := &faultySource{Source: in.Source}
			in.Source = counting
			errtest.Fatal(t, errtest.Of(SettleChunk(t.Context(), in, io.Discard, io.Discard)))
			if got := counting.opened.Load(); got != c.want {
				t.Errorf("the file was read %d times, want %d", got, c.want)
			}
		})
	}
}

// TestChunkIsTooLarge requires an error for a chunk of more than chunk.MaxBytes.
func TestChunkIsTooLarge(t *testing.T) {
	in := validateInput(nil, chunk.Plan{Size: chunk.MaxBytes + 1, ChunkBytes: chunk.MaxBytes + 1}, 0)
	_, err := ValidateChunk(t.Context(), in, io.Discard, io.Discard)
	if want := fmt.Sprint(chunk.MaxBytes + 1); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v, want one that names %s bytes", err, want)
	}
}
