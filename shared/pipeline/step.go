// Package pipeline holds one function per state of the state machine (statemachine/batch.asl.json). Every step can run
// twice, also at the same time as its own retry: it reads what is committed, does its work under keys of its own, and makes
// the result known by one conditional write. Payloads carry names and numbers, never lines.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"sluice/shared/batch"
)

// The errors of steps. Lambda reports the name of the outermost type, and that is what the state machine's Retry and Catch
// match: they are returned bare, never wrapped.

// Transient asks the state machine to run the step again after a while.
type Transient struct{ Message string }

func (e *Transient) Error() string { return e.Message }

// ObjectChanged says that the uploaded file is gone or is not the pinned one any more: no retry can help.
type ObjectChanged struct{ Message string }

func (e *ObjectChanged) Error() string { return e.Message }

// BatchOver says that the batch has ended while a step of it was still on its way: the dead stay dead.
type BatchOver struct{ Message string }

func (e *BatchOver) Error() string { return e.Message }

// margin is how long before the end of its invocation a step gives up: Lambda ends a late one without a word of what it
// waited for.
const margin = 2 * time.Second

// step runs a step within the time of its invocation and gives its error a name.
func step[Out any](ctx context.Context, log *slog.Logger, id batch.ID, run func(context.Context) (Out, error)) (Out, error) {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-margin))
		defer cancel()
	}
	out, err := run(ctx)
	return out, named(ctx, log, id, err)
}

// named gives an error of a step the name that the state machine acts on, and logs its cause, which the name leaves out.
// What is not known to be final is worth another try: the retries are bounded by the state machine.
func named(ctx context.Context, log *slog.Logger, id batch.ID, err error) error {
	var over *BatchOver
	switch {
	case err == nil:
		return nil
	case errors.As(err, &over):
		return over
	}
	log.ErrorContext(ctx, "step failed", "batch", id, "error", err)
	if errors.Is(err, errUpload) {
		return &ObjectChanged{"the uploaded file is gone or has changed"}
	}
	return &Transient{"the step did not finish; see the log"}
}

type batches interface {
	Get(ctx context.Context, id batch.ID) (batch.Batch, error)
	Apply(ctx context.Context, id batch.ID, c batch.Transition) (batch.Batch, error)
}

// open reads the batch of a step, which must not have ended.
func open(ctx context.Context, s batches, id batch.ID) (batch.Batch, error) {
	b, err := s.Get(ctx, id)
	if err == nil && b.Status.IsTerminal() {
		err = &BatchOver{fmt.Sprintf("batch %s is %s", id, b.Status)}
	}
	return b, err
}

// move makes a change, taking it as done when an earlier run of the step has made it already.
func move(ctx context.Context, s batches, id batch.ID, c batch.Transition) (batch.Batch, error) {
	b, err := s.Apply(ctx, id, c)
	var moved *batch.ConflictError
	if !errors.As(err, &moved) {
		return b, err
	}
	if moved.Current.Status == c.To {
		return moved.Current, nil
	}
	if moved.Current.Status.IsTerminal() {
		return moved.Current, &BatchOver{fmt.Sprintf("batch %s is %s", id, moved.Current.Status)}
	}
	if passed(moved.Current.Status, c.To) {
		return moved.Current, nil
	}
	return moved.Current, moved
}

// passed reports whether a batch at now has been through to.
func passed(now, to batch.Status) bool {
	for _, s := range batch.Statuses() {
		if s == to {
			return true
		}
		if s == now {
			return false
		}
	}
	return false
}

// workKey names an object of one attempt at a piece of work: attempts never share a key, and the committed row says which
// one counts.
func workKey(id batch.ID, piece, attempt, name string) string {
	return fmt.Sprintf("work/%s/%s/%s.%s", id, piece, attempt, name)
}

// reportKey names a file of the validation report.
func reportKey(b batch.Batch, attempt, name string) string {
	return fmt.Sprintf("reports/%s/%s/%s.%s", b.Tenant, b.ID, attempt, name)
}

// Clock and Attempts are injected so that tests decide them.
type (
	Clock    func() time.Time
	Attempts func() string
)

// NewAttempt names an attempt by random.
func NewAttempt() string { return uuid.NewString() }
