package lineindex_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/lineindex/lineindextest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

var errKilled = errors.New("killed")

// interruption interrupts a worker at call n of its stores.
type interruption struct {
	calls atomic.Int64
	n     int64
	// isLate means that the worker is killed after call n has had its effect, instead of before.
	isLate bool
	// meanwhile is what others do while the worker, instead of being killed, pauses before call n; nil to kill it.
	meanwhile func()
}

// call makes a call, unless the worker is killed before it.
func (i *interruption) call(do func() error) error {
	call := i.calls.Add(1)
	if i.meanwhile != nil && call == i.n {
		i.meanwhile()
	}
	if i.meanwhile != nil || call < i.n {
		return do()
	}
	if i.isLate && call == i.n {
		_ = do()
	}
	return errKilled
}

// interruptedStores are the stores of a worker that is interrupted.
type interruptedStores struct {
	lineindex.Catalog
	lineindex.Files
	*interruption
}

func (s interruptedStores) Segments(ctx context.Context, tenant string) (segments []lineindex.Segment,
	merges []lineindex.Merge, err error) {
	err = s.call(func() (err error) {
		segments, merges, err = s.Catalog.Segments(ctx, tenant)
		return err
	})
	return segments, merges, err
}

func (s interruptedStores) Register(ctx context.Context, tenant string, segment lineindex.Segment) error {
	return s.call(func() error { return s.Catalog.Register(ctx, tenant, segment) })
}

func (s interruptedStores) BeginMerge(ctx context.Context, tenant string, m lineindex.Merge) error {
	return s.call(func() error { return s.Catalog.BeginMerge(ctx, tenant, m) })
}

func (s interruptedStores) ClaimMerge(ctx context.Context, tenant, id, worker string, now, until time.Time) (
	m lineindex.Merge, err error) {
	err = s.call(func() (err error) {
		m, err = s.Catalog.ClaimMerge(ctx, tenant, id, worker, now, until)
		return err
	})
	return m, err
}

func (s interruptedStores) SaveMerge(ctx context.Context, tenant, worker string, m lineindex.Merge,
	until time.Time) error {
	return s.call(func() error { return s.Catalog.SaveMerge(ctx, tenant, worker, m, until) })
}

func (s interruptedStores) PublishMerge(ctx context.Context, tenant, worker string, m lineindex.Merge) error {
	return s.call(func() error { return s.Catalog.PublishMerge(ctx, tenant, worker, m) })
}

func (s interruptedStores) RemoveInputs(ctx context.Context, tenant string, m lineindex.Merge) error {
	return s.call(func() error { return s.Catalog.RemoveInputs(ctx, tenant, m) })
}

func (s interruptedStores) EndMerge(ctx context.Context, tenant string, m lineindex.Merge) error {
	return s.call(func() error { return s.Catalog.EndMerge(ctx, tenant, m) })
}

func (s interruptedStores) Open(ctx context.Context, key, etag string, from, to int64) (body io.ReadCloser,
	err error) {
	err = s.call(func() (err error) {
		body, err = s.Files.Open(ctx, key, etag, from, to)
		return err
	})
	return body, err
}

func (s interruptedStores) WriteObject(ctx context.Context, key string, write func(io.Writer) error) error {
	return s.call(func() error { return s.Files.WriteObject(ctx, key, write) })
}

func (s interruptedStores) Remove(ctx context.Context, key string) error {
	return s.call(func() error { return s.Files.Remove(ctx, key) })
}

// interrupted returns a worker that is interrupted.
func (f *fixture) interrupted(i *interruption) lineindex.Indexer {
	stores, worker := interruptedStores{f.Catalog, f.files, i}, *f.Indexer
	worker.Catalog, worker.Files = stores, stores
	return worker
}

// TestInterruptedMerge interrupts a worker at each call of its stores in turn. Before the lease of one that is killed
// ends, others add batches and merge them, perhaps with the output of the first merge; after that, another worker goes
// on. Searches have all lines at any time, and no object is left over in the end.
func TestInterruptedMerge(t *testing.T) {
	t.Parallel()
	eachInterruption(t, 40, func(t *testing.T, i *interruption, pauses bool) bool {
		return newFixture().interruptMerge(t, i, pauses)
	})
}

// eachInterruption calls run for each way and call of interrupting a worker, until run reports that the worker made
// fewer calls, which are at least some.
func eachInterruption(t *testing.T, least int64, run func(t *testing.T, i *interruption, pauses bool) bool) {
	t.Helper()
	for name, mode := range map[string]struct{ isLate, pauses bool }{
		"killed before a call": {}, "killed after a call": {isLate: true}, "paused": {pauses: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := int64(1)
			for run(t, &interruption{n: n, isLate: mode.isLate}, mode.pauses) {
				n++
			}
			if n < least {
				t.Errorf("only %d calls", n)
			}
		})
	}
}

// interruptMerge interrupts a worker that merges four segments into several files, and checks the index then and in the
// end. It reports whether the worker got as far as the call.
func (f *fixture) interruptMerge(t *testing.T, i *interruption, pauses bool) bool {
	t.Helper()
	f.FileEntries = 4
	f.add(t, start.Add(time.Minute), []line{{"q", "", "", ""}})
	f.advance(2 * time.Hour)
	want := []string{}
	add := func(n int) {
		for range n {
			id := fmt.Sprintf("%d 1 0", len(f.added)+1)
			want = slices.Insert(want, 0, id)
			f.add(t, time.Time{}, []line{{"p", "t" + id, "m" + id, ""}})
		}
	}
	check := func(when string) {
		t.Helper()
		difftest.Equal(t, fmt.Sprintf("lines %s, call %d", when, i.n), want, f.search(t, "p", 10))
	}
	add(3)
	goOn := func() {
		errtest.Fatal(t, f.Maintain(t.Context(), f.tenant))
		check("of others")
		f.advance(2 * time.Minute)
		errtest.Fatal(t, f.Maintain(t.Context(), f.tenant))
	}
	if pauses {
		i.meanwhile = func() {
			f.advance(2 * time.Minute)
			add(4)
			goOn()
		}
	}
	worker := f.interrupted(i)
	err := worker.Maintain(t.Context(), f.tenant)
	if pauses && err != nil && !lineindextest.IsGone(err) {
		t.Errorf("call %d: %v", i.n, err)
	}
	isInterrupted := i.calls.Load() >= i.n
	check("after it")
	if !pauses {
		add(4)
	}
	goOn()
	check("in the end")
	if !pauses {
		f.checkObjects(t)
	}
	return isInterrupted
}

// TestInterruptedAdd interrupts a worker that adds a batch. Another one adds it again and merges it. If the first one
// only paused, the batch is in the index twice, and its lines are found once.
func TestInterruptedAdd(t *testing.T) {
	t.Parallel()
	eachInterruption(t, 6, func(t *testing.T, i *interruption, pauses bool) bool {
		f := newFixture()
		f.FileEntries = 1
		b := lineindex.Batch{ID: "00000000-0000-7000-8000-00000000000a", ReceivedAt: start}
		chunks := f.writeChunks(t, "a", [][]line{{{"p", "t", "m", "r"}}, {{"p", "", "", ""}}})
		worker := f.interrupted(i)
		again := func() {
			errtest.Fatal(t, f.Add(t.Context(), f.tenant, b, chunks))
			for range 3 {
				f.add(t, time.Time{}, []line{{"q", "", "", ""}})
			}
			errtest.Fatal(t, f.Maintain(t.Context(), f.tenant))
		}
		if pauses {
			i.meanwhile = again
		}
		err := worker.Add(t.Context(), f.tenant, b, chunks)
		if (err != nil) != (!pauses && i.calls.Load() >= i.n) {
			t.Errorf("call %d: error %v", i.n, err)
		}
		isInterrupted := i.calls.Load() >= i.n
		if !pauses || !isInterrupted {
			again()
		}
		for range 2 {
			difftest.Equal(t, fmt.Sprintf("lines, call %d", i.n), []string{"a 1 0", "a 2 0"}, f.search(t, "p", 10))
			again()
		}
		return isInterrupted
	})
}

// TestSearchMeetsMerges ends a merge before each call of a search in turn.
func TestSearchMeetsMerges(t *testing.T) {
	t.Parallel()
	for n, isOver := int64(1), false; !isOver; n++ {
		f, i := newFixture(), &interruption{n: n}
		for range 5 {
			f.add(t, time.Time{}, []line{{"p", "t", "", ""}})
		}
		want := []string{"5 1 0", "4 1 0", "3 1 0", "2 1 0", "1 1 0"}
		i.meanwhile = func() { errtest.Fatal(t, f.Maintain(t.Context(), f.tenant)) }
		stores := interruptedStores{f.Catalog, f.files, i}
		f.searcher.Catalog, f.searcher.Files = stores, stores
		difftest.Equal(t, fmt.Sprintf("lines, call %d", n), want, f.search(t, "p", 10))
		isOver = i.calls.Load() < n
	}
}

// mergingCatalog ends merges each time after its segments are read.
type mergingCatalog struct {
	lineindex.Catalog
	merge func()
}

func (c mergingCatalog) Segments(ctx context.Context, tenant string) ([]lineindex.Segment, []lineindex.Merge, error) {
	segments, merges, err := c.Catalog.Segments(ctx, tenant)
	c.merge()
	return segments, merges, err
}

func TestSearchMeetsSeveralMerges(t *testing.T) {
	f := newFixture()
	f.add(t, time.Time{}, []line{{"p", "t", "", ""}})
	merges := 0
	f.searcher.Catalog = mergingCatalog{f.Catalog, func() {
		if merges == 4 {
			return
		}
		merges++
		for range 3 {
			f.add(t, time.Time{}, []line{{"q", "", "", ""}})
		}
		errtest.Fatal(t, f.Maintain(t.Context(), f.tenant))
		difftest.Equal(t, "segments", 1, len(f.segments(t)))
	}}
	difftest.Equal(t, "lines", []string{"1 1 0"}, f.search(t, "p", 10))
	difftest.Equal(t, "merges", 4, merges)
}

// TestConcurrentWorkers adds batches and maintains the index in several workers at once, while searches go on.
func TestConcurrentWorkers(t *testing.T) {
	f := newFixture()
	want := []string{}
	f.add(t, time.Time{}, []line{{"p", "", "", ""}})
	var workers errgroup.Group
	for range 24 {
		f.add(t, time.Time{}, []line{{"q", "", "", ""}})
		workers.Go(func() error { return f.Maintain(t.Context(), f.tenant) })
		difftest.Equal(t, "lines of p", []string{"1 1 0"}, f.search(t, "p", 10))
	}
	errtest.Fatal(t, workers.Wait())
	for i := 25; i > 1; i-- {
		want = append(want, fmt.Sprintf("%x 1 0", i))
	}
	difftest.Equal(t, "lines of q", want, f.search(t, "q", 100))
}
