// Package validation judges a whole file of transactions in three passes, each of which can run many times, anywhere, and
// with the same outcome:
//
//	Chunk      reads the lines of one chunk and writes down what they say: findings, and an index of the modification
//	           IDs and entity references in partitions
//	Reconcile  reads one partition of all indexes: finds the duplicates of the whole file and looks every entity up once;
//	           writes marks for the lines they reject
//	Settle     merges findings and marks of one chunk into its part of the report and the bitmap of its accepted lines
//
// File runs all of them over one file. The package knows no storage: work files are written to io.Writers as they are made
// and read by ranges. Memory is bounded by the chunk and the partition, not by the share of bad lines.
package validation

import (
	"context"
	"errors"
	"io"

	"sluice/shared/batch"
	"sluice/shared/chunk"
	"sluice/shared/report"
	"sluice/shared/transaction"
)

// DuplicateModificationID is the code of a line whose modification ID another line has too.
const DuplicateModificationID transaction.Code = "duplicate_modification_id"

// Partitions is into how many parts the modification IDs and entity references of a batch are cut.
const Partitions = batch.Partitions

// ErrCorrupt means that a work file is not what an earlier pass wrote.
var ErrCorrupt = errors.New("validation: corrupt work file")

// ErrShrank means that the file became shorter while it was read.
var ErrShrank = errors.New("the file became shorter while it was read")

// Scanner says what one line holds. A *scanner.Scanner is one. The result is valid until the next call.
type Scanner interface {
	Line(line []byte) *transaction.Result
	First(text []byte) (res *transaction.Result, length int)
	TooLong(prefix []byte) *transaction.Result
}

// Lines is how the lines of one chunk are read and judged: the input that Chunk and Settle share, and that must be the
// same for both.
type Lines struct {
	Source       chunk.Source // the file
	Plan         chunk.Plan
	Chunk        int
	MaxLineBytes int // 0: transaction.MaxLineBytes
	Scanner      Scanner
}

// ChunkInput is one chunk to be read.
type ChunkInput struct {
	Lines
	Key [16]byte // of the digests; secret to whoever makes the file, and the same for all chunks of a batch
}

// ChunkResult is what is to be kept of a chunk beside its work files.
type ChunkResult struct {
	Lines         int64 // that start in the chunk, blank ones included
	Transactions  int64 // of these, not blank
	Invalid       int64 // of these, with findings of their own
	Bytes         int64 // of the chunk
	FindingsBytes int64 // written to findings; 0: there are none, and no file is needed
	IndexBytes    int64 // written to index; 0: there is nothing in it, and no file is needed
	// SeekPoints are the positions of some lines, in order, so that a line is found without reading all lines before it.
	SeekPoints []chunk.Position
}

// EntityState is what the onboarding system says of an entity.
type EntityState uint8

const (
	Missing      EntityState = iota // no entity of that ID
	NotOnboarded                    // there, but not fully onboarded
	Onboarded                       // transactions may name it
)

// MaxLookup is the most IDs that are looked up in one call.
const MaxLookup = 1000

// Entities answers which entities exist.
type Entities interface {
	// Lookup returns the state of each of the given entities, in their order. The IDs are distinct, at most MaxLookup.
	Lookup(ctx context.Context, ids []string) ([]EntityState, error)
}

// ReconcileInput is one partition to be reconciled.
type ReconcileInput struct {
	Partition int
	Lines     []int64                      // ChunkResult.Lines of every chunk
	Index     func(chunk int) chunk.Source // index file of a chunk; nil when there is none. Safe for concurrent use
	Entities  Entities                     // nil: the existence of entities is not judged
	Key       [16]byte                     // as for Chunk
	Fetch     int                          // indexes read at the same time; 0: 1
}

// ReconcileResult is what is to be kept of a partition beside its marks.
type ReconcileResult struct {
	Duplicates int64 // lines that share their modification ID
	Entities   int64 // distinct entities looked up
	Failed     int64 // of these, missing or not onboarded
	MarksBytes int64 // written to marks; 0: there are none, and no file is needed
}

// SettleInput is one chunk to be settled.
type SettleInput struct {
	Lines
	FirstLine    int64            // absolute number, from 1, of the chunk's first line: 1 + the lines of the chunks before
	LineCount    int64            // ChunkResult.Lines
	Transactions int64            // ChunkResult.Transactions
	Findings     io.Reader        // what Chunk wrote; nil when there is nothing
	Marks        []chunk.Source   // what Reconcile wrote, by partition; nil where there is nothing
	Fetch        int              // marks read at the same time; 0: 1
	SeekPoints   []chunk.Position // ChunkResult.SeekPoints; may be left out
}

// SettleResult is what is to be kept of a settled chunk beside its part of the report and its bitmap.
type SettleResult struct {
	Summary     report.Summary // of the chunk; report.Summary.Add in the order of the chunks gives the file's
	ReportBytes int64          // written to part; 0: no line is rejected
}
