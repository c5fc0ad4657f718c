package batch

import (
	"context"
	"errors"
	"time"
)

// ErrNotFound means that there is no batch with the given ID.
var ErrNotFound = errors.New("batch: not found")

// ErrNothingToAnnounce means that there is nothing to announce about a batch, or that another attempt announces it.
var ErrNothingToAnnounce = errors.New("batch: nothing to announce")

// ErrNothingToExport means that the accepted lines of a batch are not to be written as Parquet, or not any more, or
// that another attempt writes them.
var ErrNothingToExport = errors.New("batch: nothing to export")

// Backlog is the batches that are in one status.
type Backlog struct {
	Batches int
	// Since is when the first of them got into the status.
	Since time.Time
	// IsCut means that not all open batches were counted: there may be more of them, and longer.
	IsCut bool
}

// OpenWork is how much of a tenant is open.
type OpenWork struct {
	// Batches is the number of batches that count as open.
	Batches int64
	// Awaiting is how many of them await their upload. It is known if a limit is reached.
	Awaiting int64
	// UnvalidatedBytes is the size of the files that are uploaded and not validated, with what batches have reserved.
	UnvalidatedBytes int64
	// ReservedBytes is the sum of Batch.Reserved of those that await their upload. It is known if a limit is reached.
	ReservedBytes int64
}

// ReachesAny reports whether either number reaches its limit.
func (o OpenWork) ReachesAny(limit OpenWork) bool {
	return o.Batches >= limit.Batches || o.UnvalidatedBytes >= limit.UnvalidatedBytes
}

// Store keeps batches and the results that the steps commit.
//
// Every method may be called concurrently, for the same batch too. A write is one conditional write of one item and is
// durable when the method returns. Unless a method says otherwise, a read returns the effect of every write
// acknowledged before it began, and any error that is not named here means that the outcome is unknown: the call can be
// repeated. Package batchtest tests an implementation against these promises.
type Store interface {
	JobStore

	// Create stores a new batch. It is idempotent: repeating it with the same DigestKey succeeds while the batch is
	// AWAITING_UPLOAD. For any other batch with the same ID it returns an error and changes nothing.
	Create(ctx context.Context, b Batch) error
	// ExtendUpload sets the UploadBy of a batch that is AWAITING_UPLOAD and returns the batch after it, which CountOpen
	// inspects again. It returns a *ConflictError if the batch has another status, and ErrNotFound if there is no such
	// batch. Repeating it succeeds.
	ExtendUpload(ctx context.Context, id ID, by time.Time) (Batch, error)
	// RecordCompletion sets the Completion and the AskedAt of the Multipart of a batch that is AWAITING_UPLOAD, and has
	// one, and returns the batch after it. Its errors are the errors of ExtendUpload. Repeating it is success.
	RecordCompletion(ctx context.Context, id ID, completion string, at time.Time) (Batch, error)
	// Statuses returns the statuses of several batches of any tenant. Unknown IDs are left out.
	Statuses(ctx context.Context, ids []ID) (map[ID]Status, error)
	// CommitContent commits the unpacked copy of a batch's packed file, and how the file is packed, once, while the
	// batch is UPLOADED; a later call, or one in another status, changes nothing. It returns the batch as it is then,
	// so that of two concurrent runs both learn which copy counts. The size of the copy takes the place of that of the
	// upload in OpenWork. It returns ErrNotFound if there is no such batch.
	CommitContent(ctx context.Context, id ID, packed Encoding, content Object) (Batch, error)
	// EachUnfinished calls visit with the batches that are not in a terminal status and were to be looked at before a
	// time, until visit returns an error, which it returns. A batch is to be looked at from its creation and from each
	// of its transitions on, unless Postpone has said otherwise. One call visits no more than some thousand batches, in
	// no particular order; it may miss the latest writes, and visit batches that have just ended.
	EachUnfinished(ctx context.Context, before time.Time, visit func(ID) error) error
	// Postpone sets the time from which a batch is to be looked at. It does nothing for a batch in a terminal status.
	Postpone(ctx context.Context, id ID, at time.Time) error
	// EachUnannounced calls visit with the batches that have ended, whose end is not announced to everyone, and that
	// were to be looked at before a time, until visit returns an error, which it returns. A batch is to be looked at
	// from its end on, unless PostponeAnnouncement has said otherwise. It visits as many as EachUnfinished, and as
	// inexactly.
	EachUnannounced(ctx context.Context, before time.Time, visit func(ID) error) error
	// PostponeAnnouncement sets the time from which a batch is to be looked at whose end is not announced to everyone.
	// It does nothing for any other batch.
	PostponeAnnouncement(ctx context.Context, id ID, at time.Time) error
	// ClaimAnnouncement gives the announcement of a batch's end to the attempt of a name, until a time, and returns the
	// batch. It returns ErrNothingToAnnounce if the batch has not ended, its end is announced, or another attempt has
	// the announcement by now. It returns ErrNotFound if there is no such batch. Repeating it extends the time.
	ClaimAnnouncement(ctx context.Context, id ID, attempt string, now, until time.Time) (Batch, error)
	// MarkAnnounced records that the end of a batch is announced to some of its receivers. The batch is as it was read,
	// for example by ClaimAnnouncement; if its debts have changed since, that is taken into account. Repeating it does
	// nothing.
	MarkAnnounced(ctx context.Context, b Batch, to []Receiver) error
	// ClaimExport is ClaimAnnouncement for the Export that a batch owes, which has attempts of its own. It returns
	// ErrNothingToExport or ErrNotFound.
	ClaimExport(ctx context.Context, id ID, attempt string, now, until time.Time) (Batch, error)
	// MarkExported records that the accepted lines of a batch are in an object, or, if the key is empty, that they
	// never will be. The batch is then announced to Export. It does nothing for a batch that does not owe it.
	MarkExported(ctx context.Context, id ID, key string) error
	// Backlogs returns how many batches are in each status that is not terminal; a status without a batch is left out.
	// It counts no more than some thousand batches, and may miss the latest writes.
	Backlogs(ctx context.Context) (map[Status]Backlog, error)
	// AdoptUnfinished makes batches that an earlier release created, and that no transition has reached since, known to
	// EachUnfinished. Each call goes a limited number of batches further; once all are adopted, it does nothing.
	AdoptUnfinished(ctx context.Context, now time.Time) error
	// CountOpen returns how much of a tenant is open: the batches for which CountsAsOpen is true now, and the bytes of
	// those that are uploaded and not validated. It stops counting when it has reached the limit enough, in one of the
	// two. Below it, the count may have batches that count no more. It may miss the latest writes, and does not count
	// batches that await their upload since a release which knew no limit of them.
	CountOpen(ctx context.Context, tenant string, enough OpenWork, now time.Time) (OpenWork, error)
	// Uncount spares CountOpen the inspection of a batch that is AWAITING_UPLOAD and has that UploadBy, until its
	// upload arrives or is extended. It does nothing to any other batch.
	Uncount(ctx context.Context, id ID, uploadBy time.Time) error
	// List returns up to limit batches of a tenant that a filter selects, newest first by their IDs, after the batch of
	// an ID, or from the newest one on if that is empty. next is the ID after which the next page begins, empty at the
	// end. One call inspects a limited number of batches, so that it may return fewer than limit, also none, and a
	// next. It may miss the latest writes. Batches that are created meanwhile neither hide nor repeat others.
	List(ctx context.Context, tenant string, f Filter, after ID, limit int) (found []Batch, next ID, err error)
}

// JobStore is the part of Store that the steps of the pipeline use.
//
// The Commit methods share one contract: the first call for a batch and a chunk or partition makes its argument the
// result; every later call changes nothing. Each call returns the committed result, so that of two concurrent attempts
// of a step both learn which one counts.
type JobStore interface {
	// Get returns a batch. It returns ErrNotFound if the batch does not exist.
	Get(ctx context.Context, id ID) (Batch, error)
	// Apply makes a transition and returns the batch after it. It returns a *ConflictError if the batch has a status
	// from which the transition is not legal, so repeating a transition that was made is a conflict whose Current is in
	// the wanted status or past it. Of several concurrent transitions out of one status, one is made. It returns
	// ErrNotFound if there is no such batch. A transition to a visible status is added to the History. With a
	// transition to a terminal status, the batch is Unannounced to all Receivers, and to Export and Index if the
	// transition says so.
	Apply(ctx context.Context, id ID, t Transition) (Batch, error)

	// ProcessedAs returns the batch of its tenant that was PROCESSED last with a file, if that is not longer ago than
	// DuplicateWindow before now; otherwise "". Only batches count whose transition named the file.
	ProcessedAs(ctx context.Context, f File, now time.Time) (ID, error)

	// Chunk returns the committed results of a chunk: the zero Chunk with its index if there are none.
	Chunk(ctx context.Context, id ID, index int) (Chunk, error)
	// Chunks returns all chunks about which anything is committed, in the order of their indexes.
	Chunks(ctx context.Context, id ID) ([]Chunk, error)
	// CommitValidated commits the result of validating a chunk.
	CommitValidated(ctx context.Context, id ID, index int, r ValidateResult) (ValidateResult, error)
	// CommitSettled commits the result of settling a chunk.
	CommitSettled(ctx context.Context, id ID, index int, r SettleResult) (SettleResult, error)
	// AdvanceCursor records how far the ingestion of a chunk is and returns the furthest cursor recorded. A cursor
	// never moves back: a call with fewer lines than recorded, or for a chunk that is done, changes nothing.
	AdvanceCursor(ctx context.Context, id ID, index int, c IngestCursor) (IngestCursor, error)

	// CommitReconciled commits the result of reconciling a partition.
	CommitReconciled(ctx context.Context, id ID, partition int, r ReconcileResult) (ReconcileResult, error)
	// Reconciled returns the committed results of all partitions; nil for a partition without a result.
	Reconciled(ctx context.Context, id ID) ([Partitions]*ReconcileResult, error)

	// CommitFileDigests commits the digests of the file of a batch, and returns the committed ones. It returns a
	// *ConflictError if none are committed and the batch is not in VALIDATION_STARTED: the receipt of a batch that has
	// ended does not change any more. It returns ErrNotFound if there is no such batch.
	CommitFileDigests(ctx context.Context, id ID, d FileDigests) (FileDigests, error)
	// CommitAcceptedDigest commits Batch.AcceptedSHA256, as CommitFileDigests does.
	CommitAcceptedDigest(ctx context.Context, id ID, sum []byte) ([]byte, error)

	// CommitScreened commits the result of screening the names of one partition.
	CommitScreened(ctx context.Context, id ID, partition int, r ScreenResult) (ScreenResult, error)
	// Screened returns the committed results of all partitions; nil for a partition without a result.
	Screened(ctx context.Context, id ID) ([Partitions]*ScreenResult, error)

	// CommitLineCounts commits the line counts of a batch, so that settling a chunk need not read every chunk.
	CommitLineCounts(ctx context.Context, id ID, c LineCounts) (LineCounts, error)
	// LineCounts returns the committed line counts; nil if there are none. Batches that were reconciled by a release
	// without line counts have none.
	LineCounts(ctx context.Context, id ID) (*LineCounts, error)
}
