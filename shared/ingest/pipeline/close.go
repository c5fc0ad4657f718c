package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/machine"
)

// Close ends batches. It is the step of the states Close, which ends a batch with the transition to PROCESSED, and
// GiveUp, which ends it with the transition to ERROR. EventBridge invokes it, too, for every execution that did not
// succeed: one that was stopped, ran out of time or broke a limit of Step Functions has not reached GiveUp. A client or
// operator who cancels a batch asks it to take back the slots of the batch.
type Close struct {
	Batches batch.JobStore
	// Slots takes back the slots of the batches that end.
	Slots slots
	Now   func() time.Time
	Log   *slog.Logger
}

// CloseInput is the input of the states Close and GiveUp.
type CloseInput struct {
	ID batch.ID `json:"batch_id"`
	// Failure is why the batch failed; nil if all its steps succeeded.
	Failure *machine.Failure `json:"failure,omitempty"`
	// Ended means that the batch has ended, and only its slots are to be left: see admission.LeaveInput.
	Ended bool `json:"ended,omitempty"`
}

// newCloseInput returns the input of Close for an event. It returns an error if the event is not about the execution of
// a batch that ended without success.
func newCloseInput(e machine.Event) (CloseInput, error) {
	id, err := batch.ParseID(e.Detail.Name)
	switch {
	case !e.IsFromStepFunctions() || err != nil:
		return CloseInput{}, fmt.Errorf("event from %q about the execution %q", e.Source, e.Detail.Name)
	case e.Detail.Status != "FAILED" && e.Detail.Status != "TIMED_OUT" && e.Detail.Status != "ABORTED":
		return CloseInput{}, fmt.Errorf("event about the execution %s with the status %q", id, e.Detail.Status)
	}
	return CloseInput{ID: id, Failure: e.Failure()}, nil
}

// Handle handles the input of a state, which is a CloseInput, or an event about an execution that has ended. It returns
// an error for anything else, so that an event that nobody expected is kept as a dead letter.
func (s *Close) Handle(ctx context.Context, input json.RawMessage) (struct{}, error) {
	var event machine.Event
	if err := json.Unmarshal(input, &event); err != nil {
		return struct{}{}, fmt.Errorf("read input: %w", err)
	}
	var in CloseInput
	var err error
	switch event.DetailType {
	case machine.ExecutionEnded:
		if in, err = newCloseInput(event); err != nil {
			return struct{}{}, err
		}
		if _, err = s.Batches.Get(ctx, in.ID); errors.Is(err, batch.ErrNotFound) {
			s.Log.WarnContext(ctx, "an execution without a batch has ended", "batch", in.ID)
			return struct{}{}, nil
		}
	case "":
		if err = json.Unmarshal(input, &in); err != nil || in.ID == "" {
			return struct{}{}, fmt.Errorf("input without a batch_id: %w", err)
		}
	default:
		return struct{}{}, fmt.Errorf("unknown kind of event: detail-type %q", event.DetailType)
	}
	return s.Run(ctx, in)
}

// Run ends a batch. It does nothing if the batch has ended in that way, and a failure does nothing if it has ended at
// all: of a step that ends the batch and an event that reports its execution, one makes the transition.
func (s *Close) Run(ctx context.Context, in CloseInput) (struct{}, error) {
	return runAction(ctx, s.Log, in.ID, func(ctx context.Context) error {
		switch {
		case in.Ended:
			return s.leave(ctx, in.ID)
		case in.Failure == nil:
			return s.complete(ctx, in.ID)
		}
		return s.fail(ctx, in.ID, *in.Failure)
	})
}

// complete ends the batch in PROCESSED, and leaves its slot.
func (s *Close) complete(ctx context.Context, id batch.ID) error {
	j, err := openJob(ctx, s.Batches, id)
	if j.Status != batch.Processed { // by an earlier run
		if err == nil {
			err = s.publish(ctx, j)
		}
		if err != nil {
			return err
		}
	}
	return s.Slots.Leave(ctx, admission.Ingestion, j.Batch)
}

// publish makes the stored lines visible. It counts them first: no accepted line may be missing without anyone
// noticing.
func (s *Close) publish(ctx context.Context, j *job) error {
	chunks, err := s.Batches.Chunks(ctx, j.ID)
	if err != nil {
		return err
	}
	var stored int64
	for _, c := range chunks {
		if c.Ingested != nil {
			stored += c.Ingested.Stored
		}
	}
	if j.Verdict == nil || stored != j.Verdict.Accepted {
		return fmt.Errorf("batch %s: %d lines are stored; the verdict is %+v", j.ID, stored, j.Verdict)
	}
	return j.transition(ctx, batch.Transition{
		To: batch.Processed, At: s.Now(), File: j.File(), Export: j.Settings.Parquet, Index: true,
	})
}

// fail ends the batch in ERROR unless its status is terminal, and leaves its slots in any case.
func (s *Close) fail(ctx context.Context, id batch.ID, f machine.Failure) error {
	t := batch.Transition{To: batch.Failed, At: s.Now(), ErrorMessage: failureMessage(f.Error), Index: true}
	b, err := s.Batches.Apply(ctx, id, t)
	var conflict *batch.ConflictError
	if errors.As(err, &conflict) && conflict.Current.Status.IsTerminal() {
		b = conflict.Current // an earlier or concurrent run has ended the batch
	} else {
		s.Log.ErrorContext(ctx, "batch failed", "batch", id, "error", f.Error, "cause", f.Cause)
		if err != nil {
			return err
		}
	}
	return s.Slots.LeaveAll(ctx, b)
}

// leave takes back the slots of a batch that has ended, and tells its execution if that waits for one.
func (s *Close) leave(ctx context.Context, id batch.ID) error {
	b, err := s.Batches.Get(ctx, id)
	if err != nil {
		return err
	}
	if !b.Status.IsTerminal() {
		return fmt.Errorf("batch %s is %s: it has not ended", id, b.Status)
	}
	return s.Slots.LeaveAll(ctx, b)
}

// failureMessage tells the client what to do about a failure. The cause is in the log only.
func failureMessage(name string) string {
	switch name {
	case "ObjectChanged":
		return "The uploaded file changed or was removed after it was received. Upload it again as a new batch."
	case "NotAnnounced":
		return batch.OtherFile
	case "WatchlistsUnavailable":
		return "The watchlists to screen with could not be loaded; nothing of the batch was ingested. " +
			"Upload it again as a new batch."
	case "TooManyHits":
		return "The names of the batch have too many hits at this threshold of screen_unknown; nothing of the " +
			"batch was ingested. Upload it again as a new batch with a higher threshold."
	}
	return batch.TechnicalFailure
}
