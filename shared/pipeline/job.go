package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"sluice/shared/batch"
	"sluice/shared/chunk"
	"sluice/shared/objects"
	"sluice/shared/transaction"
	"sluice/shared/transaction/scanner"
	"sluice/shared/validation"
)

// job is a batch as one run of a step sees it. The batch is as of the opening of the job or of its latest transition;
// what steps have committed is read from the store when it is asked for.
type job struct {
	batch.Batch
	store batch.JobStore
}

// openJob reads the batch of a step. It returns *BatchOver if the status is terminal; the job then holds the batch as
// it is.
func openJob(ctx context.Context, store batch.JobStore, id batch.ID) (*job, error) {
	b, err := store.Get(ctx, id)
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
	return conflict.Current, conflict
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

// chunkInput describes how the lines of a chunk are read and judged. It depends only on what is pinned, so that both
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
	})
}

// chunkWorkKey and partitionWorkKey return the key of a work file of one attempt at a chunk or partition. Attempts
// never share a key; the committed result says which attempt counts.
func (j *job) chunkWorkKey(index int, attempt, kind string) string {
	return fmt.Sprintf("work/%s/chunk-%05d/%s.%s", j.ID, index, attempt, kind)
}

func (j *job) partitionWorkKey(partition int, attempt, kind string) string {
	return fmt.Sprintf("work/%s/partition-%02d/%s.%s", j.ID, partition, attempt, kind)
}

// reportKey returns the key of a file of the validation report.
func (j *job) reportKey(attempt, extension string) string {
	return fmt.Sprintf("reports/%s/%s/%s.%s", j.Tenant, j.ID, attempt, extension)
}

// uploads is the bucket of the files that clients upload.
type uploads interface {
	Source(key, etag string) chunk.Source
}

// errUploadChanged means that the uploaded file is gone or is not the pinned one. It is never returned for a work file:
// the service writes those itself, so a missing one is a fault of the service, and a retry may find it.
var errUploadChanged = errors.New("the uploaded file is not the pinned one")

// pinnedUpload returns the uploaded file of a batch.
func pinnedUpload(b batch.Batch, u uploads) chunk.Source {
	return pinnedSource{u.Source(b.Object.Key, b.Object.ETag)}
}

type pinnedSource struct{ chunk.Source }

func (s pinnedSource) Open(ctx context.Context, from, to int64) (io.ReadCloser, error) {
	r, err := s.Source.Open(ctx, from, to)
	if errors.Is(err, objects.ErrChanged) || errors.Is(err, objects.ErrNotFound) || errors.Is(err, objects.ErrDenied) {
		err = errors.Join(errUploadChanged, err)
	}
	return r, err
}
