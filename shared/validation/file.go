package validation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"sluice/shared/chunk"
	"sluice/shared/report"
)

// DefaultWorkMemory is how much of the work files of one run is kept in memory.
const DefaultWorkMemory = 64 << 20

// FileInput is a whole file to be judged at one place.
type FileInput struct {
	Source       chunk.Source
	Plan         chunk.Plan
	MaxLineBytes int            // 0: transaction.MaxLineBytes
	NewScanner   func() Scanner // called once for each worker
	Entities     *Directory     // nil: the existence of entities is not judged
	Key          [16]byte       // any secret
	Workers      int            // chunks worked on at the same time; 0: 1
	WorkMemory   int64          // bytes of work files that are kept in memory; 0: DefaultWorkMemory
	TempDir      string         // for those that do not fit; "" for the system's
	Progress     func(Progress) // called now and then, from several goroutines; may be nil
}

// Progress is how far File is. Read comes to the file's size first, then Settled does.
type Progress struct {
	Read    int64 // bytes whose lines have been scanned
	Settled int64 // bytes whose lines are in the report
}

// File judges every line of a file and writes the report of those it rejects. Its memory is bounded: about 2 MiB a worker,
// the work files' share, and a partition of the indexes: some 50 bytes for each of its modification IDs.
func File(ctx context.Context, in FileInput, out io.Writer) (report.Summary, error) {
	n := in.Plan.Count()
	f := file{
		in: in, workers: max(in.Workers, 1), results: make([]ChunkResult, n),
		findings: make([]*spool, n), indexes: make([]*spool, n), forbidden: make([]*spool, n),
		marks: make([]*spool, Partitions),
	}
	f.spools.dir = in.TempDir
	f.spools.left = int(cmp.Or(in.WorkMemory, DefaultWorkMemory) / blockBytes)
	defer func() { _ = closeAll(f.findings, f.indexes, f.forbidden, f.marks) }()
	if err := f.chunks(ctx); err != nil {
		return report.Summary{}, err
	}
	if err := f.reconcile(ctx); err != nil {
		return report.Summary{}, err
	}
	return f.settle(ctx, out)
}

type file struct {
	in      FileInput
	workers int
	spools  spools
	results []ChunkResult

	findings  []*spool // by chunk; nil where there is nothing
	indexes   []*spool
	forbidden []*spool // marks for entities
	marks     []*spool // by partition, for duplicates

	read, settled atomic.Int64
}

func (f *file) progress() {
	if f.in.Progress != nil {
		f.in.Progress(Progress{Read: f.read.Load(), Settled: f.settled.Load()})
	}
}

func (f *file) lines(i int, scanner Scanner) Lines {
	return Lines{Source: f.in.Source, Plan: f.in.Plan, Chunk: i, MaxLineBytes: f.in.MaxLineBytes, Scanner: scanner}
}

// guarded makes an error of the fault by which the processor says that a mapped file has become shorter.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = ErrShrank
		default:
			panic(p)
		}
	}()
	return f()
}

func (f *file) chunks(ctx context.Context) error {
	scanners := newPool(f.workers, f.in.NewScanner)
	passes := newPool(f.workers, func() *chunkPass { return &chunkPass{judge: &judge{directory: f.in.Entities}} })
	return inOrder(ctx, len(f.results), f.workers, func(ctx context.Context, i int) (result ChunkResult, err error) {
		scanner, pass := scanners.take(), passes.take()
		defer scanners.give(scanner)
		defer passes.give(pass)
		findings, index := &spool{all: &f.spools}, &spool{all: &f.spools}
		f.findings[i], f.indexes[i], f.forbidden[i] = findings, index, &spool{all: &f.spools}
		err = guarded(func() error {
			result, err = pass.run(ctx, ChunkInput{f.lines(i, scanner), f.in.Key}, findings, index)
			return errors.Join(err, pass.judge.writeTo(f.forbidden[i], i, len(f.results)))
		})
		f.read.Add(result.Bytes)
		f.progress()
		return result, err
	}, func(i int, result ChunkResult) error {
		f.results[i] = result
		return nil
	})
}

// largeIndex is how many bytes of indexes are too many for more than one partition of them to be in memory at a time.
const largeIndex = 256 << 20

func (f *file) reconcile(ctx context.Context) error {
	lines, size := make([]int64, len(f.results)), int64(0)
	for i := range lines {
		lines[i] = f.results[i].Lines
		size += f.results[i].IndexBytes
	}
	workers := f.workers
	if size > largeIndex {
		workers = 1
	}
	reconcilers := newPool(workers, func() *reconciler { return new(reconciler) })
	return inOrder(ctx, Partitions, workers, func(ctx context.Context, p int) (int64, error) {
		r := reconcilers.take()
		defer reconcilers.give(r)
		f.marks[p] = &spool{all: &f.spools}
		result, err := r.reconcile(ctx, ReconcileInput{
			Partition: p,
			Lines:     lines,
			Index: func(i int) chunk.Source {
				if f.results[i].IndexBytes == 0 {
					return nil
				}
				return f.indexes[i]
			},
			Key: f.in.Key,
		}, f.marks[p])
		return result.MarksBytes, err
	}, func(p int, marked int64) error {
		if marked == 0 {
			f.marks[p] = nil
		}
		return nil
	})
}

// settledChunk is a part of the report that waits for its turn.
type settledChunk struct {
	part   *spool
	result SettleResult
}

func (f *file) settle(ctx context.Context, out io.Writer) (report.Summary, error) {
	if err := closeAll(f.indexes); err != nil {
		return report.Summary{}, err
	}
	marks := make([]chunk.Source, Partitions)
	for p, s := range f.marks {
		if s != nil {
			marks[p] = s
		}
	}
	first := make([]int64, len(f.results)+1)
	first[0] = 1
	for i, r := range f.results {
		first[i+1] = first[i] + r.Lines
	}
	var sum report.Summary
	scanners := newPool(f.workers, f.in.NewScanner)
	settlements := newPool(f.workers, func() *settlement { return new(settlement) })
	parts := make([]*spool, len(f.results))
	defer func() { _ = closeAll(parts) }()
	err := inOrder(ctx, len(f.results), f.workers, func(ctx context.Context, i int) (settled settledChunk, err error) {
		scanner, s := scanners.take(), settlements.take()
		defer scanners.give(scanner)
		defer settlements.give(s)
		parts[i] = &spool{all: &f.spools}
		in := SettleInput{
			Lines:        f.lines(i, scanner),
			FirstLine:    first[i],
			LineCount:    f.results[i].Lines,
			Transactions: f.results[i].Transactions,
			Marks:        marks,
			SeekPoints:   f.results[i].SeekPoints,
		}
		if f.forbidden[i].size > 0 {
			in.Marks = append(slices.Clip(marks), f.forbidden[i])
		}
		if f.results[i].FindingsBytes > 0 {
			in.Findings = f.findings[i].reader()
		}
		settled.part = parts[i]
		err = guarded(func() error {
			settled.result, err = s.run(ctx, in, parts[i], io.Discard)
			return err
		})
		return settled, err
	}, func(i int, c settledChunk) error {
		sum.Add(c.result.Summary)
		if _, err := c.part.WriteTo(out); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
		f.settled.Add(f.results[i].Bytes)
		f.progress()
		return errors.Join(c.part.close(), f.findings[i].close(), f.forbidden[i].close())
	})
	return sum, err
}

// pool lends out what each worker needs one of.
type pool[T any] struct {
	idle chan T
	make func() T
}

func newPool[T any](n int, make_ func() T) *pool[T] {
	return &pool[T]{make(chan T, n), make_}
}

func (p *pool[T]) take() T {
	select {
	case v := <-p.idle:
		return v
	default:
		return p.make()
	}
}

func (p *pool[T]) give(v T) {
	select {
	case p.idle <- v:
	default:
	}
}
