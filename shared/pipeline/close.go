package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sluice/shared/batch"
)

// Close is the step of the states Close, which ends a batch with the transition to PROCESSED, and GiveUp, which ends it
// with the transition to ERROR.
type Close struct {
	Batches batch.JobStore
	Now     func() time.Time
	Log     *slog.Logger
}

// CloseInput is the input of the states Close and GiveUp.
type CloseInput struct {
	ID batch.ID `json:"batch_id"`
	// Failure is why the batch failed; nil if all its steps succeeded.
	Failure *Failure `json:"failure,omitempty"`
}

// Failure is the error of a step as the state machine's Catch passes it on.
type Failure struct {
	// Error is the name of the error.
	Error string `json:"Error"`
	// Cause is internal: it is logged and never shown to the client.
	Cause string `json:"Cause"`
}

// Run ends a batch. It does nothing if the batch has ended in that way.
func (s *Close) Run(ctx context.Context, in CloseInput) (struct{}, error) {
	return runAction(ctx, s.Log, in.ID, func(ctx context.Context) error {
		if in.Failure == nil {
			return s.complete(ctx, in.ID)
		}
		return s.fail(ctx, in.ID, *in.Failure)
	})
}

// complete makes the stored lines visible. It counts them first: no accepted line may be missing without anyone
// noticing.
func (s *Close) complete(ctx context.Context, id batch.ID) error {
	j, err := openJob(ctx, s.Batches, id)
	if j.Status == batch.Processed { // by an earlier run
		return nil
	}
	if err != nil {
		return err
	}
	chunks, err := s.Batches.Chunks(ctx, id)
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
		return fmt.Errorf("batch %s: %d lines are stored; the verdict is %+v", id, stored, j.Verdict)
	}
	return j.transition(ctx, batch.Transition{To: batch.Processed, At: s.Now()})
}

// fail ends the batch in ERROR unless its status is terminal.
func (s *Close) fail(ctx context.Context, id batch.ID, f Failure) error {
	s.Log.ErrorContext(ctx, "batch failed", "batch", id, "error", f.Error, "cause", f.Cause)
	t := batch.Transition{To: batch.Failed, At: s.Now(), ErrorMessage: failureMessage(f.Error)}
	_, err := s.Batches.Apply(ctx, id, t)
	var conflict *batch.ConflictError
	if errors.As(err, &conflict) && conflict.Current.Status.IsTerminal() {
		return nil
	}
	return err
}

// failureMessage tells the client what to do about a failure. The cause is in the log only.
func failureMessage(name string) string {
	if name == "ObjectChanged" {
		return "The uploaded file changed or was removed after it was received. Upload it again as a new batch."
	}
	return "Processing failed for a technical reason; nothing of the batch was ingested. " +
		"Upload it again as a new batch."
}
