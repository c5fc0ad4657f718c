package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/shared/chunk"
)

// Partitions is into how many parts the modification IDs and entity references of a batch are cut.
const Partitions = 16

// ErrNotFound means that there is no batch of that ID.
var ErrNotFound = errors.New("batch: not found")

// Moved is the outcome of a change that came too late or too early: the batch stands elsewhere. Now is the batch as it is,
// so that the caller can see whether its own earlier run, or its twin, has already done the work.
type Moved struct {
	To  Status // what was wanted
	Now Batch
}

func (m *Moved) Error() string {
	return fmt.Sprintf("batch %s: cannot become %s, is %s", m.Now.ID, m.To, m.Now.Status)
}

// Change is one step of a batch and everything that becomes true with it.
type Change struct {
	To              Status
	From            Status // the only status that it may follow; "": every one of Before(To)
	At              time.Time
	Object          *Object     // with Uploaded
	ReceivedAt      time.Time   // with Uploaded
	Plan            *chunk.Plan // with ValidationStarted
	MaxLineBytes    int64       // with ValidationStarted
	MaxTransactions int64       // with ValidationStarted
	Verdict         *Verdict    // with PendingIngestion and ValidationFailed
	ErrorMessage    string      // with ValidationFailed and Failed
}

// Store keeps batches. Every method is safe for concurrent use; every write is durable when it returns and is one
// conditional write of one item; a write whose outcome is unknown can be repeated.
type Store interface {
	// Create stores a new batch. An ID that exists already is an error, but for the same batch, DigestKey and all, that
	// nothing has happened to yet.
	Create(ctx context.Context, b Batch) error
	// Get reads a batch as of every write acknowledged before. ErrNotFound.
	Get(ctx context.Context, id ID) (Batch, error)
	// Move makes the change if the batch stands where the change may follow (Before(c.To)), and returns the batch as it
	// then is. *Moved if it stands elsewhere; ErrNotFound.
	Move(ctx context.Context, id ID, c Change) (Batch, error)
	// Recent returns up to limit batches of a tenant, newest first; it may lag behind writes.
	Recent(ctx context.Context, tenant string, limit int) ([]Batch, error)

	// Chunk reads what is committed about a chunk; the zero Chunk with its index when nothing is.
	Chunk(ctx context.Context, id ID, index int) (Chunk, error)
	// Chunks reads all chunks about which anything is committed, in order of index.
	Chunks(ctx context.Context, id ID) ([]Chunk, error)
	// CommitValidated makes v the result of a chunk unless one is committed already, and returns the committed one.
	CommitValidated(ctx context.Context, id ID, index int, v Validated) (Validated, error)
	// CommitSettled does the same for the second pass.
	CommitSettled(ctx context.Context, id ID, index int, s Settled) (Settled, error)
	// Advance records how far the ingestion of a chunk is, and returns the furthest recorded point: it never goes back.
	Advance(ctx context.Context, id ID, index int, i Ingested) (Ingested, error)

	// CommitMarks makes key the reconciled marks of a partition unless one is committed already, and returns the
	// committed one.
	CommitMarks(ctx context.Context, id ID, partition int, key string) (string, error)
	// Marks reads the committed keys of all partitions, by partition; "" where there is none yet.
	Marks(ctx context.Context, id ID) ([Partitions]string, error)
}
