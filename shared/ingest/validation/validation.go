// Package validation judges a file of transactions in three passes over its chunks and partitions. Each run of a pass
// is independent of the others of that pass: it can run anywhere, at the same time as they do, and any number of times,
// and always writes the same bytes.
//
//	                        chunk 0           chunk 1     ...
//	                           |                 |
//	ValidateChunk              |                 |            judges each line of the chunk by itself
//	                           v                 v
//	                    findings, index   findings, index
//	                            \               /
//	ReconcilePartition           \             /              compares the whole batch in one partition of its IDs;
//	                              v           v               reads the index of every chunk
//	                                rejections
//	                              /           \
//	SettleChunk                  /             \              merges the findings of the chunk with its rejections
//	                            v               v             from every partition
//	                     report, bitmap    report, bitmap
//
// If names are screened, ValidateChunk writes the names of the chunk, too, ScreenPartition compares those of a
// partition with watchlists and writes hits, and SettleChunk joins the hits to the lines and writes alerts.
//
// The parts of the report, in the order of the chunks, are the report of the batch (package report). The accept bitmap
// of a chunk marks the lines that will be ingested. The formats of the work files are documented where they are
// written: findings.go, index.go, rejections.go, names.go, screen.go and bitmap.go. Each begins with a magic that ends
// with a version, because two releases may work on one batch; golden files in testdata/stored pin every byte.
//
// How work files are stored is left to the caller: the package writes them to an io.Writer from their start to their
// end, and reads them from an io.Reader or by ranges from a chunk.Source.
//
// ValidateFile runs all passes over a file on one machine, with the work files in memory or in temporary files.
//
// # Errors
//
// An error that wraps ErrCorrupt means that a work file is damaged, incomplete or of another version; repeating the
// pass with the same files cannot help. Errors of a Source, of an io.Reader or io.Writer, and of Entities are wrapped
// too, so that a caller recognizes its own errors, such as the error about a changed upload. After an error, the output
// is useless.
//
// # Memory
//
// Memory is bounded by the size of a chunk and of a partition, and does not depend on how many lines are invalid. A
// chunk has at most chunk.MaxBytes.
//
//   - ValidateChunk holds the buffers of a chunk.Reader, 28 bytes for each modification ID of the chunk, 20 for each
//     reference to an entity, the IDs of these entities once each, and up to bufferedSectionBytes (8 MiB) or the
//     largest section of the index.
//   - ReconcilePartition holds 48 bytes for each modification ID of the partition, the references to entities of the
//     partition as they were written, and up to bufferedSectionBytes or the largest section of the rejections.
//   - ScreenPartition holds 24 bytes for each name of the partition, the names of one chunk, and up to
//     MaxPartitionHitBytes (64 MiB) of hits with their references.
//   - SettleChunk holds the rejections of the chunk, 16 bytes each, and one record of findings, at most maxRecordBytes
//     (64 MiB).
package validation

import (
	"errors"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/transaction"
)

// CodeDuplicateModificationID is the code of a line whose modification ID occurs in other lines of the batch too.
const CodeDuplicateModificationID transaction.Code = "duplicate_modification_id"

// Partitions is the number of partitions into which the modification IDs and entity references of a batch are divided.
const Partitions = batch.Partitions

var (
	// ErrCorrupt means that a work file is not one that an earlier pass wrote for the same batch.
	ErrCorrupt = errors.New("validation: corrupt work file")

	// ErrShrank means that a mapped file became shorter while ValidateFile read it.
	ErrShrank = errors.New("the file became shorter while it was read; validate it again when nothing writes to it")
)

// Scanner judges single lines. A *scanner.Scanner is one. A result is valid until the next call of any method. A
// Scanner is not used concurrently.
type Scanner interface {
	// Line judges a line, given without its line feed.
	Line(line []byte) *transaction.Result
	// First judges the first line of text and returns its length. The line must end with a line feed that has
	// transaction.Lookahead more bytes after it.
	First(text []byte) (res *transaction.Result, length int)
	// TooLong returns the result for a line that is too long and begins with prefix.
	TooLong(prefix []byte) *transaction.Result
}

// ChunkInput is a chunk, and how its lines are read and judged. It must be the same for all passes over the chunk.
type ChunkInput struct {
	// Source is the whole file.
	Source chunk.Source
	// Plan divides the file into chunks, and Chunk is the index of the chunk.
	Plan  chunk.Plan
	Chunk int
	// MaxLineBytes is the length of the longest line that is read; 0 means transaction.MaxLineBytes.
	MaxLineBytes int
	// Scanner judges the lines.
	Scanner Scanner
}

// EntityState is the state of an entity in the onboarding system. The numbers are part of the format of rejections.
type EntityState uint8

const (
	// Missing means that there is no entity with that ID.
	Missing EntityState = iota
	// NotOnboarded means that the entity exists, but that transactions may not name it yet.
	NotOnboarded
	// Onboarded means that transactions may name the entity.
	Onboarded
)
