package validation

import (
	"cmp"
	"context"
	"errors"
	"io"
	"runtime/debug"
	"sync/atomic"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
)

// DefaultWorkMemory is the number of bytes of work files that ValidateFile keeps in memory by default.
const DefaultWorkMemory = 64 << 20

// largeIndexBytes is the total size of all indexes above which no more than one partition of them is in memory at a
// time.
const largeIndexBytes = 256 << 20

// FileInput is the input of ValidateFile.
type FileInput struct {
	// Source is the file, and Plan divides it into the chunks that are worked on at the same time.
	Source chunk.Source
	Plan   chunk.Plan
	// MaxLineBytes is the length of the longest line that is read; 0 means transaction.MaxLineBytes.
	MaxLineBytes int
	// NewScanner returns a scanner for one worker.
	NewScanner func() Scanner
	// Entities are all entities that exist; nil means that references to entities are not checked.
	Entities *Directory
	// DigestKey is the key of the digests of IDs. It should be random.
	DigestKey [16]byte
	// Workers is the number of chunks that are worked on at the same time; 0 means 1.
	Workers int
	// WorkMemory is the number of bytes of work files that are kept in memory; 0 means DefaultWorkMemory.
	WorkMemory int64
	// TempDir is the directory for the work files that do not fit into WorkMemory; "" means that of the system.
	TempDir string
	// MaxReportBytes is the number of bytes of the report after which its entries are short; 0 means no limit.
	MaxReportBytes int64
	// Screening is how names are screened; nil if they are not. The Scanner must collect them.
	Screening *FileScreening
	// CSV receives the report as CSV, and Rejected the rejected lines as they are in the file, but for those that are
	// too long; nil if they are not wanted.
	CSV, Rejected io.Writer
	// Progress is called after each chunk that has been validated or settled, by several goroutines at once. It may be
	// nil.
	Progress func(Progress)
}

// FileScreening is how ValidateFile screens the names of unknown entities.
type FileScreening struct {
	// NewScreener returns a screener for one worker.
	NewScreener func() Screener
	// Reject means that lines with hits are rejected.
	Reject bool
	// Alerts receives the alerts, up to FileInput.MaxReportBytes.
	Alerts io.Writer
}

// Progress is how far ValidateFile is. First Read increases to the size of the file, and then Settled does.
type Progress struct {
	// Read is the number of bytes whose lines have been scanned, and Lines how many those are, without blank ones.
	Read, Lines int64
	// Settled is the number of bytes whose lines are in the report if they are rejected.
	Settled int64
}

// ValidateFile runs all passes over a file and writes the report to out. It returns the summary of the report.
//
// Its memory does not depend on the size of the file, except for some 50 bytes for each modification ID of one
// partition or, while all indexes together have no more than largeIndexBytes (256 MiB), of as many partitions as there
// are workers. Besides that, it is about 2 MiB for each worker and WorkMemory.
//
// If a chunk.MappedSource becomes shorter while it is read, the error is ErrShrank. Temporary files are removed in any
// case.
func ValidateFile(ctx context.Context, in FileInput, out io.Writer) (report.Summary, error) {
	n := in.Plan.Count()
	v := fileValidator{
		in:                  in,
		workers:             max(in.Workers, 1),
		results:             make([]ValidateResult, n),
		findings:            make([]*spool, n),
		indexes:             make([]*spool, n),
		entityRejections:    make([]*spool, n),
		duplicateRejections: make([]*spool, Partitions),
		names:               make([]*spool, n),
		hits:                make([]*spool, Partitions),
	}
	v.memory.tempDir = in.TempDir
	v.memory.unallocated = int(cmp.Or(in.WorkMemory, DefaultWorkMemory) / blockBytes)
	defer func() {
		_ = closeAll(v.findings, v.indexes, v.entityRejections, v.duplicateRejections, v.names, v.hits)
	}()
	if err := v.validate(ctx); err != nil {
		return report.Summary{}, err
	}
	if err := v.reconcile(ctx); err != nil {
		return report.Summary{}, err
	}
	if in.Screening != nil {
		if err := v.screen(ctx); err != nil {
			return report.Summary{}, err
		}
	}
	return v.settleAll(ctx, out)
}

// fileValidator is one run of ValidateFile.
type fileValidator struct {
	in      FileInput
	workers int
	memory  spoolMemory
	results []ValidateResult

	// Work files by chunk. The rejections for entities are made by the first pass, which can use the directory.
	findings         []*spool
	indexes          []*spool
	entityRejections []*spool
	// duplicateRejections are work files by partition; nil where there are no duplicates.
	duplicateRejections []*spool
	// names are work files by chunk, and hits by partition; nil where there are none.
	names, hits []*spool
	// screened is the number of distinct names.
	screened int64

	read, lines, settled atomic.Int64
}

func (v *fileValidator) reportProgress() {
	if v.in.Progress != nil {
		v.in.Progress(Progress{Read: v.read.Load(), Lines: v.lines.Load(), Settled: v.settled.Load()})
	}
}

func (v *fileValidator) newSpool() *spool { return &spool{memory: &v.memory} }

func (v *fileValidator) chunkInput(i int, scanner Scanner) ChunkInput {
	return ChunkInput{
		Source: v.in.Source, Plan: v.in.Plan, Chunk: i, MaxLineBytes: v.in.MaxLineBytes, Scanner: scanner,
	}
}

// catchFault calls f and returns ErrShrank if it accesses a page of a mapped file that is no longer there.
func catchFault(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // a runtime.Error for a memory fault
			err = ErrShrank
		default:
			panic(p)
		}
	}()
	return f()
}

// validate runs the first pass over all chunks.
func (v *fileValidator) validate(ctx context.Context) error {
	scanners := newPool(v.workers, v.in.NewScanner)
	validators := newPool(v.workers, func() *chunkValidator {
		return &chunkValidator{entities: &directoryCheck{directory: v.in.Entities}}
	})
	produce := func(ctx context.Context, i int) (result ValidateResult, err error) {
		scanner, validator := scanners.get(), validators.get()
		defer scanners.put(scanner)
		defer validators.put(validator)
		v.findings[i], v.indexes[i], v.entityRejections[i] = v.newSpool(), v.newSpool(), v.newSpool()
		err = catchFault(func() error {
			in := ValidateInput{ChunkInput: v.chunkInput(i, scanner), DigestKey: v.in.DigestKey}
			if v.in.Screening != nil {
				v.names[i] = v.newSpool()
				in.Names = v.names[i]
			}
			result, err = validator.validate(ctx, in, v.findings[i], v.indexes[i])
			return errors.Join(err, validator.entities.writeRejections(v.entityRejections[i], i, len(v.results)))
		})
		v.read.Add(result.Bytes)
		v.lines.Add(result.Transactions)
		v.reportProgress()
		return result, err
	}
	return forEachInOrder(ctx, len(v.results), v.workers, produce, func(i int, result ValidateResult) error {
		v.results[i] = result
		return nil
	})
}

// reconcile runs the second pass over all partitions. It finds duplicates only.
func (v *fileValidator) reconcile(ctx context.Context) error {
	lineCounts, indexBytes := make([]int64, len(v.results)), int64(0)
	for i := range lineCounts {
		lineCounts[i] = v.results[i].Lines
		indexBytes += v.results[i].IndexBytes
	}
	workers := v.workers
	if indexBytes > largeIndexBytes {
		workers = 1
	}
	reconcilers := newPool(workers, func() *reconciler { return new(reconciler) })
	produce := func(ctx context.Context, p int) (ReconcileResult, error) {
		r := reconcilers.get()
		defer reconcilers.put(r)
		v.duplicateRejections[p] = v.newSpool()
		return r.reconcile(ctx, ReconcileInput{
			Partition:  p,
			LineCounts: lineCounts,
			Index: func(i int) chunk.Source {
				if v.results[i].IndexBytes == 0 {
					return nil
				}
				return v.indexes[i]
			},
			DigestKey: v.in.DigestKey,
		}, v.duplicateRejections[p])
	}
	return forEachInOrder(ctx, Partitions, workers, produce, func(p int, result ReconcileResult) error {
		if result.RejectionsBytes == 0 {
			v.duplicateRejections[p] = nil
		}
		return nil
	})
}
