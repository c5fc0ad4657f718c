package validation

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/shared/chunk"
)

var errFault = errors.New("fault")

// failing fails once so many bytes are written.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFault
	}
	return len(p), nil
}

// TestWriterFails: an error of any work file, wherever it comes, is the error of the pass.
func TestWriterFails(t *testing.T) {
	file, plan, w := sampleWorkFiles(t)
	var counts []int64
	for _, r := range w.results {
		counts = append(counts, r.Lines)
	}
	for name, pass := range map[string]func(io.Writer) error{
		"findings": func(to io.Writer) error {
			_, err := ValidateChunk(t.Context(), ValidateInput{chunkInput(file, plan, 0), key}, to, io.Discard)
			return err
		},
		"index": func(to io.Writer) error {
			_, err := ValidateChunk(t.Context(), ValidateInput{chunkInput(file, plan, 0), key}, io.Discard, to)
			return err
		},
		"marks": func(to io.Writer) error {
			_, err := ReconcilePartition(t.Context(), reconcileInput(w, counts, largest(w.rejections)), to)
			return err
		},
		"part": func(to io.Writer) error {
			_, err := SettleChunk(t.Context(), settleInput(file, plan, w, 0), to, io.Discard)
			return err
		},
		"accepted": func(to io.Writer) error {
			_, err := SettleChunk(t.Context(), settleInput(file, plan, w, 0), io.Discard, to)
			return err
		},
		"report": func(to io.Writer) error {
			_, err := ValidateFile(t.Context(), fileInput(file, plan), to)
			return err
		},
	} {
		var whole bytes.Buffer
		if err := pass(&whole); err != nil || whole.Len() == 0 {
			t.Fatalf("%s: %d bytes, %v", name, whole.Len(), err)
		}
		for _, n := range []int{0, 1, whole.Len() / 2, whole.Len() - 1} {
			if err := pass(&failing{n}); !errors.Is(err, errFault) {
				t.Errorf("%s fails after %d of %d bytes: %v", name, n, whole.Len(), err)
			}
		}
	}
}

func largest(files [][]byte) (at int) {
	for i := range files {
		if len(files[i]) > len(files[at]) {
			at = i
		}
	}
	return at
}

func fileInput(file []byte, plan chunk.Plan) FileInput {
	return FileInput{Source: source(file), Plan: plan, MaxLineBytes: limit, DigestKey: key, Workers: 2, Entities: knownOf(file),
		NewScanner: func() Scanner { return new(plainScanner) }}
}

// failingSource fails one of the ranges it is asked for, and counts them all.
type failingSource struct {
	chunk.Source
	failAt int64
	opened atomic.Int64
}

func (f *failingSource) Open(ctx context.Context, from, to int64) (io.ReadCloser, error) {
	if f.opened.Add(1) == f.failAt {
		return nil, errFault
	}
	return f.Source.Open(ctx, from, to)
}

// TestSourceFails: whichever read fails, the run does, with that error, and a run after it is whole.
func TestSourceFails(t *testing.T) {
	file, plan, _ := sampleWorkFiles(t)
	counting := &failingSource{Source: source(file)}
	in := fileInput(file, plan)
	in.Source = counting
	if _, err := ValidateFile(t.Context(), in, io.Discard); err != nil {
		t.Fatal(err)
	}
	for n := range counting.opened.Load() {
		in.Source = &failingSource{Source: source(file), failAt: n + 1}
		if _, err := ValidateFile(t.Context(), in, io.Discard); !errors.Is(err, errFault) {
			t.Errorf("read %d fails: %v", n+1, err)
		}
	}
}

func TestWorkFileCannotBeRead(t *testing.T) {
	file, plan, w := sampleWorkFiles(t)
	counts := []int64{w.results[0].Lines}
	for n := range int64(2) {
		in := reconcileInput(w, counts, 0)
		in.Index = func(int) chunk.Source { return &failingSource{Source: source(w.index[0]), failAt: n + 1} }
		if _, err := ReconcilePartition(t.Context(), in, io.Discard); !errors.Is(err, errFault) {
			t.Errorf("read %d of the index fails: %v", n+1, err)
		}
	}
	in := settleInput(file, plan, w, 0)
	in.Rejections = []chunk.Source{&failingSource{Source: source(w.rejections[0]), failAt: 1}}
	if _, err := SettleChunk(t.Context(), in, io.Discard, io.Discard); !errors.Is(err, errFault) {
		t.Errorf("read of the marks fails: %v", err)
	}
	in = settleInput(file, plan, w, 0)
	in.Findings = io.MultiReader(bytes.NewReader(w.findings[0][:20]), failingReader{})
	if _, err := SettleChunk(t.Context(), in, io.Discard, io.Discard); !errors.Is(err, errFault) {
		t.Errorf("read of the findings fails: %v", err)
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errFault }

type lookup func(ids []string) ([]EntityState, error)

func (f lookup) Lookup(_ context.Context, ids []string) ([]EntityState, error) { return f(ids) }

func TestLookupFails(t *testing.T) {
	_, _, w := sampleWorkFiles(t)
	reconcile := func(entities lookup) (err error) {
		for p := range Partitions {
			in := reconcileInput(w, []int64{w.results[0].Lines}, p)
			in.Entities = entities
			_, failed := ReconcilePartition(t.Context(), in, io.Discard)
			err = errors.Join(err, failed)
		}
		return err
	}
	if err := reconcile(func([]string) ([]EntityState, error) { return nil, errFault }); !errors.Is(err, errFault) {
		t.Errorf("lookup fails: %v", err)
	}
	if reconcile(func(ids []string) ([]EntityState, error) { return make([]EntityState, len(ids)-1), nil }) == nil {
		t.Error("an answer is missing, and nobody notices")
	}
}

// TestLookupsAreBounded: no more than MaxLookup entities at a time, each once.
func TestLookupsAreBounded(t *testing.T) {
	var file strings.Builder
	entities := 2*MaxLookup*Partitions + 1
	for i := range 2 * entities {
		file.WriteString("s=" + strings.Repeat("x", 1+i%3) + strconv.Itoa(i%entities) + "\n")
	}
	asked := &states{map[string]int{}}
	var mostAtOnce int
	passes(t, []byte(file.String()), int64(file.Len()/5), lookup(func(ids []string) ([]EntityState, error) {
		mostAtOnce = max(mostAtOnce, len(ids))
		return asked.Lookup(context.Background(), ids)
	}))
	for id, n := range asked.looked {
		if n != 1 {
			t.Fatalf("entity %s looked up %d times", id, n)
		}
	}
	if mostAtOnce != MaxLookup {
		t.Errorf("%d entities at a time, want up to %d", mostAtOnce, MaxLookup)
	}
}

// TestCancelled: a run ends with its context, at whatever point, and leaves nothing running and no file behind.
func TestCancelled(t *testing.T) {
	file, plan, _ := sampleWorkFiles(t)
	before := runtime.NumGoroutine()
	for n := range int64(40) {
		ctx, cancel := context.WithCancel(t.Context())
		in := fileInput(file, plan)
		in.Source = &cancelling{source(file), cancel, n + 1, new(atomic.Int64)}
		if _, err := ValidateFile(ctx, in, io.Discard); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at read %d: %v", n+1, err)
		}
		cancel()
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ValidateFile(ctx, fileInput(file, plan), io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before it began: %v", err)
	}
}

type cancelling struct {
	chunk.Source
	cancel context.CancelFunc
	at     int64
	opened *atomic.Int64
}

func (c *cancelling) Open(ctx context.Context, from, to int64) (io.ReadCloser, error) {
	if c.opened.Add(1) == c.at {
		c.cancel()
	}
	return c.Source.Open(ctx, from, to)
}

// TestReadsAreCounted holds what the passes cost where every range is a request.
func TestReadsAreCounted(t *testing.T) {
	file := []byte("m=1 s=a\nm=2 s=no1\nm=3\n!enum m=3\n \n!enum\n")
	for _, c := range []struct {
		name  string
		file  string
		reads int64
	}{
		{"nothing wrong", "m=1\nm=2\n\n", 0},
		{"findings", "m=1 !enum\nm=2\n", 0},
		{"marks of lines that have findings", "m=1 !enum\nm=1 s=no !enum\n", 0},
		{"marks alone", string(file), 1},
	} {
		plan := chunk.NewPlan(int64(len(c.file)), 0)
		w := runChunks(t, []byte(c.file), plan)
		for p := range Partitions {
			var marks bytes.Buffer
			if _, err := ReconcilePartition(t.Context(), reconcileInput(w, []int64{w.results[0].Lines}, p), &marks); err != nil {
				t.Fatal(err)
			}
			w.rejections = append(w.rejections, marks.Bytes())
		}
		in := settleInput([]byte(c.file), plan, w, 0)
		again := &failingSource{Source: source([]byte(c.file))}
		in.Source = again
		if _, err := SettleChunk(t.Context(), in, io.Discard, io.Discard); err != nil {
			t.Fatal(err)
		}
		if again.opened.Load() != c.reads {
			t.Errorf("%s: settled with %d reads of the file, want %d", c.name, again.opened.Load(), c.reads)
		}
	}
}

// TestSpools moves work files from memory to temporary files at every point, and leaves none of them behind.
func TestSpools(t *testing.T) {
	dir := t.TempDir()
	data := make([]byte, 3*blockBytes+5)
	for i := range data {
		data[i] = byte(i / 7)
	}
	for blocks := range 6 {
		for _, piece := range []int{1000, blockBytes - 1, blockBytes, blockBytes + 1, len(data)} {
			all := &spoolMemory{tempDir: dir, unallocated: blocks}
			s := &spool{memory: all}
			for rest := data; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
				if n, err := s.Write(rest[:min(piece, len(rest))]); n != min(piece, len(rest)) || err != nil {
					t.Fatal(n, err)
				}
			}
			if got, err := io.ReadAll(s.reader()); err != nil || !bytes.Equal(got, data) {
				t.Fatalf("%d blocks, by %d: read %d bytes, %v", blocks, piece, len(got), err)
			}
			for _, from := range []int64{0, 1, blockBytes - 1, blockBytes, 2*blockBytes + 1, 3 * blockBytes} {
				body, err := s.Open(t.Context(), from, int64(len(data))-1)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := io.ReadAll(body); err != nil || !bytes.Equal(got, data[from:len(data)-1]) {
					t.Fatalf("%d blocks, from %d: read %d bytes, %v", blocks, from, len(got), err)
				}
			}
			if n, err := s.ReadAt(make([]byte, 2), int64(len(data))-1); n != 1 || err != io.EOF {
				t.Errorf("at the end: %d bytes, %v", n, err)
			}
			if (s.file != nil) != (blocks < 4) {
				t.Errorf("%d blocks: in a file %v", blocks, s.file != nil)
			}
			if err := s.close(); err != nil {
				t.Error(err)
			}
			if made := len(all.free); made != min(blocks, 4) {
				t.Errorf("%d of %d blocks given back", made, min(blocks, 4))
			}
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%d files left behind", len(left))
	}
	s := &spool{memory: &spoolMemory{tempDir: dir + "/none"}}
	if _, err := s.Write([]byte("x")); err == nil {
		t.Error("wrote to a folder that does not exist")
	}
}
