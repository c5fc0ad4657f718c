// Package pipeline holds the steps of a batch: one type for each state of the state machine
// (statemachine/batch.asl.json), in a file of its name. docs/life-of-a-batch.md describes how they follow each other.
//
// Every step can run twice, also concurrently with its own retry: it reads what is committed, writes objects under keys
// of its own attempt, and makes them its result by one conditional write. Inputs and outputs hold IDs and numbers,
// never lines.
package pipeline

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"sluice/shared/batch"
	"sluice/shared/deadline"
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

func (e *Transient) Error() string { return e.Message }

// ObjectChanged reports that the uploaded file is gone or is not the pinned one any more. No retry can help.
type ObjectChanged struct{ Message string }

func (e *ObjectChanged) Error() string { return e.Message }

// BatchOver reports that the batch reached a terminal status while this step ran; the step must stop.
type BatchOver struct{ Message string }

func (e *BatchOver) Error() string { return e.Message }

// margin is the time that a step leaves at the end of its invocation to report an error.
const margin = 2 * time.Second

// runStep runs a step within the time of its invocation and turns its error into one that the state machine acts on.
func runStep[Out any](ctx context.Context, log *slog.Logger, id batch.ID,
	run func(context.Context) (Out, error)) (Out, error) {
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
	var over *BatchOver
	switch {
	case err == nil:
		return nil
	case errors.As(err, &over):
		return over
	}
	log.ErrorContext(ctx, "step failed", "batch", id, "error", err)
	if errors.Is(err, errUploadChanged) {
		return &ObjectChanged{"the uploaded file is gone or has changed"}
	}
	return &Transient{"the step did not finish; its log has the cause"}
}

// NewAttempt returns a random name for an attempt at a step.
func NewAttempt() string { return uuid.NewString() }
