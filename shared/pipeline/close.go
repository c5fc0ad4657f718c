package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"sluice/shared/batch"
)

// CloseInput says how a batch ends: without a failure it is processed.
type CloseInput struct {
	ID      batch.ID `json:"batch_id"`
	Failure *Failure `json:"failure,omitempty"`
}

// Failure is what the state machine's Catch hands on.
type Failure struct {
	Error string `json:"Error"`
	Cause string `json:"Cause"` // internal: it goes to the log only
}

type closer interface {
	batches
	Chunks(ctx context.Context, id batch.ID) ([]batch.Chunk, error)
}

// Close ends a batch.
type Close struct {
	Batches closer
	Now     Clock
	Log     *slog.Logger
}

// Run is the states Close and GiveUp.
func (s *Close) Run(ctx context.Context, in CloseInput) (struct{}, error) {
	return step(ctx, s.Log, in.ID, func(ctx context.Context) (struct{}, error) {
		if in.Failure == nil {
			return struct{}{}, s.processed(ctx, in.ID)
		}
		return struct{}{}, s.failed(ctx, in.ID, *in.Failure)
	})
}

// processed makes the stored lines visible. Before that it counts them: a line that was accepted and is not stored must
// never be passed over in silence.
func (s *Close) processed(ctx context.Context, id batch.ID) error {
	b, err := open(ctx, s.Batches, id)
	var over *BatchOver
	if errors.As(err, &over) && b.Status == batch.Processed {
		return nil
	}
	if err != nil {
		return err
	}
	chunks, err := s.Batches.Chunks(ctx, id)
	if err != nil {
		return err
	}
	stored := stored(chunks)
	if b.Verdict == nil || stored != b.Verdict.Accepted {
		return fmt.Errorf("batch %s: %d lines stored, verdict %+v", id, stored, b.Verdict)
	}
	_, err = move(ctx, s.Batches, id, batch.Transition{To: batch.Processed, At: s.Now()})
	return err
}

func stored(chunks []batch.Chunk) int64 {
	var n int64
	for _, c := range chunks {
		if c.Ingested != nil {
			n += c.Ingested.Stored
		}
	}
	return n
}

// failed ends the batch in ERROR, unless it has ended already.
func (s *Close) failed(ctx context.Context, id batch.ID, f Failure) error {
	s.Log.ErrorContext(ctx, "batch failed", "batch", id, "error", f.Error, "cause", f.Cause)
	_, err := s.Batches.Apply(ctx, id, batch.Transition{To: batch.Failed, At: s.Now(), ErrorMessage: message(f.Error)})
	var moved *batch.ConflictError
	if errors.As(err, &moved) && moved.Current.Status.IsTerminal() {
		return nil
	}
	return err
}

// message says to the client what it can do; the cause stays in the log.
func message(failure string) string {
	if failure == "ObjectChanged" {
		return "The uploaded file is no longer what it was when it was received. Upload it again as a new batch."
	}
	return "Processing failed for a technical reason; none of the batch was ingested. Upload it again as a new batch."
}
