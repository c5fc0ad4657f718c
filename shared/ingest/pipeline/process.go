package pipeline

import (
	"context"
	"errors"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
)

// Process is the step of the state ProcessFile. For a file of one chunk whose names are not screened, it runs the steps
// from Validate to Close, which each have a state for larger files. The batch keeps its slot of validation until its
// end and needs none of ingestion, so Verdict and Close have a HeldSlot. After a kill, another run begins anew or, if
// there is a verdict, with that.
type Process struct {
	Batches   batch.JobStore
	Validate  func(context.Context, ChunkInput) (struct{}, error)
	Digest    func(context.Context, DigestInput) (struct{}, error)
	Reconcile func(context.Context, PartitionInput) (struct{}, error)
	Settle    func(context.Context, ChunkInput) (struct{}, error)
	Verdict   func(context.Context, BatchInput) (VerdictOutput, error)
	Ingest    func(context.Context, ChunkInput) (IngestOutput, error)
	Close     func(context.Context, CloseInput) (struct{}, error)
	// Slots takes back the slot of validation.
	Slots slots
	Log   *slog.Logger
}

// ProcessOutput tells the state machine whether the batch has ended. If it has not, the state machine runs the step
// again.
type ProcessOutput struct {
	Done bool `json:"done"`
}

// Run brings a batch to its end, or as far as the time of Ingest allows. Its errors are those of the steps.
func (s *Process) Run(ctx context.Context, in BatchInput) (ProcessOutput, error) {
	done, err := s.run(ctx, in)
	if _, isOver := errors.AsType[*BatchOver](err); !isOver && !done {
		return ProcessOutput{}, err
	}
	// The batch has ended, perhaps by another run, which may have been killed before it could leave the slot.
	_, err = runAction(ctx, s.Log, in.ID, func(ctx context.Context) error {
		j, over := openJob(ctx, s.Batches, in.ID)
		if j.Status != batch.Processed && j.Status != batch.ValidationFailed {
			return over
		}
		return s.Slots.Leave(ctx, admission.Validation, j.Batch)
	})
	return ProcessOutput{Done: err == nil}, err
}

// run runs the steps. It returns true once the batch has ended.
func (s *Process) run(ctx context.Context, in BatchInput) (done bool, err error) {
	var j *job
	_, err = runAction(ctx, s.Log, in.ID, func(ctx context.Context) (err error) {
		j, err = openJob(ctx, s.Batches, in.ID)
		return err
	})
	if err == nil && j.Verdict == nil {
		err = s.judgeLines(ctx, in.ID)
	}
	if err != nil {
		return false, err
	}
	verdict, err := s.Verdict(ctx, in)
	if verdict.Digest && err == nil {
		if _, err = s.Digest(ctx, DigestInput{ID: in.ID, Accepted: true}); err == nil {
			verdict, err = s.Verdict(ctx, in)
		}
	}
	if err != nil || !verdict.Ingest {
		return err == nil, err
	}
	if ingested, err := s.Ingest(ctx, ChunkInput{ID: in.ID}); err != nil || !ingested.Done {
		return false, err
	}
	_, err = s.Close(ctx, CloseInput{ID: in.ID})
	return err == nil, err
}

// judgeLines runs the steps before the verdict. If one of the first two fails, the other one runs to its end: the next
// run needs its result, and it would fail, too, without a cause of its own.
func (s *Process) judgeLines(ctx context.Context, id batch.ID) error {
	var g errgroup.Group
	g.Go(func() error { _, err := s.Validate(ctx, ChunkInput{ID: id}); return err })
	g.Go(func() error { _, err := s.Digest(ctx, DigestInput{ID: id}); return err })
	err := g.Wait()
	if err == nil {
		_, err = s.Reconcile(ctx, PartitionInput{ID: id, Partitions: PartitionRange{0, batch.Partitions}})
	}
	if err == nil {
		_, err = s.Settle(ctx, ChunkInput{ID: id})
	}
	return err
}

// HeldSlot is the slots of a batch that keeps its slot of validation until Process leaves it.
type HeldSlot struct{}

// Leave does nothing.
func (HeldSlot) Leave(context.Context, admission.Stage, batch.Batch) error { return nil }

// LeaveAll does nothing.
func (HeldSlot) LeaveAll(context.Context, batch.Batch) error { return nil }
