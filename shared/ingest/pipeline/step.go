// Package pipeline holds the steps of a batch: one type for each state of the state machine
// (statemachine/batch.asl.json), in a file of its name. docs/life-of-a-batch.md describes how they follow each other.
//
// Every step can run twice, also concurrently with its own retry: it reads the committed results, writes objects under
// keys of its own attempt, and makes them its result by one conditional write. Inputs and outputs hold IDs and numbers,
// never lines.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/ingest/validation"
	"sluice/shared/kit/deadline"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/objects"
)

// BatchInput is the input of the steps that concern a batch as a whole.
type BatchInput struct {
	ID batch.ID `json:"batch_id"`
}

// ChunkInput is the input of the steps that concern one chunk.
type ChunkInput struct {
	ID    batch.ID `json:"batch_id"`
	Index int      `json:"chunk"`
}

// The errors of steps. Lambda reports the name of the outermost type, which the state machine's Retry and Catch match:
// steps return these errors bare, never wrapped.

// Transient asks the state machine to run the step again later.
type Transient struct{ Message string }

// Error implements error.
func (e *Transient) Error() string { return e.Message }

// ObjectChanged reports that the uploaded file is gone or is not the pinned one any more. No retry can help.
type ObjectChanged struct{ Message string }

// Error implements error.
func (e *ObjectChanged) Error() string { return e.Message }

// BatchOver reports that the batch reached a terminal status while this step ran; the step must stop.
type BatchOver struct{ Message string }

// Error implements error.
func (e *BatchOver) Error() string { return e.Message }

// WatchlistsUnavailable reports that no version of a watchlist with which names are screened can be loaded.
type WatchlistsUnavailable struct{ Message string }

// Error implements error.
func (e *WatchlistsUnavailable) Error() string { return e.Message }

// TooManyHits reports that names have more hits than can be listed. No retry can help.
type TooManyHits struct{ Message string }

// Error implements error.
func (e *TooManyHits) Error() string { return e.Message }

// margin is the time that a step leaves at the end of its invocation to report an error.
const margin = 2 * time.Second

// runStep runs a step within the time of its invocation and turns its error into one that the state machine acts on.
func runStep[Out any](ctx context.Context, log *slog.Logger, id batch.ID,
	run func(context.Context) (Out, error)) (Out, error) {
	metric.SetProperty(ctx, "batch", string(id))
	shortened, cancel := deadline.Shorten(ctx, margin)
	defer cancel()
	out, err := run(shortened)
	return out, stepError(shortened, log, id, err)
}

// runAction is runStep for a step without output.
func runAction(ctx context.Context, log *slog.Logger, id batch.ID, run func(context.Context) error) (struct{}, error) {
	return runStep(ctx, log, id, func(ctx context.Context) (struct{}, error) { return struct{}{}, run(ctx) })
}

// stepError returns the error by which the state machine decides what to do, and logs its cause. An error that is not
// known to be final is Transient: the state machine limits the number of retries.
func stepError(ctx context.Context, log *slog.Logger, id batch.ID, err error) error {
	if err == nil {
		return nil
	}
	if over, ok := errors.AsType[*BatchOver](err); ok {
		return over
	}
	log.ErrorContext(ctx, "step failed", "batch", id, "error", err)
	switch {
	case errors.Is(err, errUploadChanged):
		return &ObjectChanged{"the uploaded file is gone or has changed"}
	case errors.Is(err, errWatchlists):
		return &WatchlistsUnavailable{"the watchlists cannot be loaded; the log of the step has the cause"}
	case errors.Is(err, validation.ErrTooManyHits):
		return &TooManyHits{"the names have too many hits"}
	case errors.Is(err, errNotAnnounced):
		return &NotAnnounced{"the checksum of the uploaded file is not the one that was announced"}
	}
	return &Transient{"the step did not finish; its log has the cause"}
}

// Measured returns a step that writes a record of each of its runs to a log of metrics. Run is the method Run of the
// step; the functions that it calls add the number of processed bytes and lines to the record.
func Measured[In, Out any](log *metric.Log, step metric.Step,
	run func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) {
		ctx, record := log.Begin(ctx, step)
		switch in := any(in).(type) {
		case ChunkInput:
			metric.SetProperty(ctx, "chunk", in.Index)
		case PartitionInput:
			metric.SetProperty(ctx, "partition", in.Partitions.First)
		}
		out, err := run(ctx, in)
		outcome := metric.OK
		switch err.(type) { // steps return their errors bare
		case nil:
		case *BatchOver:
			outcome = metric.Over
		default:
			outcome = metric.Failed
		}
		record.End(ctx, outcome)
		return out, err
	}
}

// NewAttempt returns a random name for an attempt at a step.
func NewAttempt() string { return uuid.NewString() }

// nameAttempt names the attempt at a step, also in the record of its run.
func nameAttempt(ctx context.Context, newAttempt func() string) string {
	name := newAttempt()
	metric.SetProperty(ctx, "attempt", name)
	return name
}

// job is a batch as one run of a step sees it. The batch is as of the opening of the job or of its latest transition;
// the results that steps have committed are read from the store when they are asked for.
type job struct {
	batch.Batch
	store batch.JobStore
}

// openJob reads the batch of a step. It returns *BatchOver if the status is terminal; the job then holds the batch as
// it is.
func openJob(ctx context.Context, store batch.JobStore, id batch.ID) (*job, error) {
	b, err := store.Get(ctx, id)
	metric.SetProperty(ctx, "tenant", b.Tenant)
	if err == nil && b.Status.IsTerminal() {
		err = errOver(b)
	}
	return &job{b, store}, err
}

func errOver(b batch.Batch) error {
	return &BatchOver{fmt.Sprintf("batch %s is %s", b.ID, b.Status)}
}

// checkOpen returns *BatchOver if the batch has reached a terminal status since the job was opened.
func (j *job) checkOpen(ctx context.Context) error {
	_, err := openJob(ctx, j.store, j.ID)
	return err
}

// transition makes a transition of the batch. A conflict counts as success if the batch has been in the wanted status:
// an earlier or concurrent run of this step has made the transition. It returns *BatchOver if another terminal status
// came first.
func (j *job) transition(ctx context.Context, t batch.Transition) error {
	b, err := applyTransition(ctx, j.store, j.ID, t)
	if err == nil {
		j.Batch = b
	}
	return err
}

// applyTransition is job.transition for a batch that the step need not read first.
func applyTransition(ctx context.Context, store batch.JobStore, id batch.ID, t batch.Transition) (batch.Batch, error) {
	b, err := store.Apply(ctx, id, t)
	if err == nil {
		metric.SetProperty(ctx, "tenant", b.Tenant)
	}
	var conflict *batch.ConflictError
	if !errors.As(err, &conflict) {
		return b, err
	}
	switch current := conflict.Current; {
	case current.Status == t.To:
		return current, nil
	case current.Status.IsTerminal():
		return current, errOver(current)
	case slices.Index(batch.Statuses(), current.Status) > slices.Index(batch.Statuses(), t.To):
		return current, nil
	}
	return batch.Batch{}, conflict
}

// validatedChunk returns one chunk, which must be validated.
func (j *job) validatedChunk(ctx context.Context, index int) (batch.Chunk, error) {
	c, err := j.store.Chunk(ctx, j.ID, index)
	if err == nil && c.Validated == nil {
		err = fmt.Errorf("batch %s: chunk %d is not validated", j.ID, index)
	}
	return c, err
}

// validatedChunks returns all chunks of the plan, each of which must be validated.
func (j *job) validatedChunks(ctx context.Context) ([]batch.Chunk, error) {
	chunks, err := j.store.Chunks(ctx, j.ID)
	if err != nil {
		return nil, err
	}
	if len(chunks) != j.Plan.Count() {
		return nil, fmt.Errorf("batch %s: %d of %d chunks are validated", j.ID, len(chunks), j.Plan.Count())
	}
	for i, c := range chunks {
		if c.Index != i || c.Validated == nil {
			return nil, fmt.Errorf("batch %s: chunk %d is not validated", j.ID, i)
		}
	}
	return chunks, nil
}

// lineCounts returns the line counts that Reconcile has committed. It counts the lines of a batch that was reconciled
// by a release that committed none.
func (j *job) lineCounts(ctx context.Context) (batch.LineCounts, error) {
	committed, err := j.store.LineCounts(ctx, j.ID)
	if err != nil {
		return batch.LineCounts{}, err
	}
	if committed != nil {
		return *committed, nil
	}
	chunks, err := j.validatedChunks(ctx)
	return batch.CountLines(chunks), err
}

// chunkInput describes how the lines of a chunk are read and judged. It depends only on pinned values, so that both
// passes see the same lines.
func (j *job) chunkInput(index int, u uploads) validation.ChunkInput {
	return validation.ChunkInput{
		Source:       pinnedUpload(j.Batch, u),
		Plan:         j.Plan,
		Chunk:        index,
		MaxLineBytes: int(j.MaxLineBytes),
		Scanner:      j.newScanner(),
	}
}

func (j *job) newScanner() *scanner.Scanner {
	return scanner.New(transaction.Rules{
		ReceivedAt:   j.ReceivedAt,
		MaxPast:      j.Settings.MaxPast,
		MaxFuture:    j.Settings.MaxFuture,
		MainEntity:   j.Settings.MainEntity,
		MaxLineBytes: int(j.MaxLineBytes),
		CollectNames: j.Screening != nil,
	})
}

// chunkWorkKey and partitionWorkKey return the key of a work file of one attempt at a chunk or partition. Attempts
// never share a key; the committed result says which attempt counts.
func (j *job) chunkWorkKey(index int, attempt, kind string) string {
	return workKey(fmt.Sprintf("%s/chunk-%05d", j.ID, index), attempt, kind)
}

func (j *job) partitionWorkKey(partition int, attempt, kind string) string {
	return workKey(fmt.Sprintf("%s/partition-%02d", j.ID, partition), attempt, kind)
}

// workKey returns the key of a work file of a folder: work/3f/<batch>/chunk-00007/<attempt>.index. S3 allows a number
// of requests a second for each prefix into which it has divided a bucket. The IDs of batches begin with the time of
// their creation, so that those of one day would all be in one; a hash before them spreads the files of each batch.
func workKey(folder, attempt, kind string) string {
	h := fnv.New32a()
	h.Write([]byte(folder))
	sum := h.Sum32()
	return fmt.Sprintf("work/%02x/%s/%s.%s", byte(sum^sum>>8^sum>>16^sum>>24), folder, attempt, kind)
}

// AcceptedLines returns the function that reads from a bucket of work files which lines of a settled chunk are
// accepted. For a blank line its result has no meaning.
func AcceptedLines(work *objects.Bucket) lineindex.Accepted {
	return func(ctx context.Context, c batch.Chunk) (func(line int64) bool, error) {
		switch c.Settled.Acceptance() {
		case batch.AcceptNone:
			return func(int64) bool { return false }, nil
		case batch.AcceptAll:
			return func(int64) bool { return true }, nil
		}
		body, err := work.Open(ctx, c.Settled.AcceptedKey, "", 0, -1)
		if err != nil {
			return nil, err
		}
		defer body.Close()
		bitmap, err := validation.ReadBitmap(body, c.Validated.Lines)
		return bitmap.Accepted, err
	}
}

// sectionedFile returns a work file with its validation.Sections, if they are known; nil if there is no file.
func sectionedFile(work *objects.Bucket, key, sections string) chunk.Source {
	if key == "" {
		return nil
	}
	return validation.SectionedFile{Source: work.Source(key, ""), Sections: validation.Sections(sections)}
}

// reportKey returns the key of a file of the validation report.
func (j *job) reportKey(attempt, extension string) string {
	return fmt.Sprintf("reports/%s/%s/%s.%s", j.Tenant, j.ID, attempt, extension)
}

// uploads is the bucket of the files that clients upload, and of their unpacked copies.
type uploads interface {
	Source(key, etag string) chunk.Source
}

// errUploadChanged means that the uploaded file is gone or is not the pinned one. It is never returned for a work file:
// the service writes those itself, so a missing one is a fault of the service, and a retry may find it.
var errUploadChanged = errors.New("the uploaded file is not the pinned one")

// pinnedUpload returns the file that has the lines of a batch.
func pinnedUpload(b batch.Batch, u uploads) chunk.Source {
	o := b.Source()
	return pinnedSource{u.Source(o.Key, o.ETag)}
}

type pinnedSource struct{ chunk.Source }

func (s pinnedSource) Open(ctx context.Context, from, to int64) (io.ReadCloser, error) {
	r, err := s.Source.Open(ctx, from, to)
	if errors.Is(err, objects.ErrChanged) || objects.IsGone(err) {
		err = errors.Join(errUploadChanged, err)
	}
	return r, err
}
