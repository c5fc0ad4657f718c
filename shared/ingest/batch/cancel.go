package batch

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Cancelled is the message of a batch that its client has cancelled. No other batch has it.
const Cancelled = "Cancelled by the client."

// RowLifetime is how long the store keeps a batch that has ended and was never uploaded.
const RowLifetime = 30 * 24 * time.Hour

// cancellable are the statuses of batches that can be cancelled: all until ingestion begins.
var cancellable = []Status{AwaitingUpload, Uploaded, ValidationStarted, PendingIngestion}

// IsCancelled reports whether the batch was cancelled.
func (b Batch) IsCancelled() bool { return b.Status == Failed && b.ErrorMessage == Cancelled }

// Canceller is the part of Store that Cancel needs.
type Canceller interface {
	// Get is as in JobStore.
	Get(ctx context.Context, id ID) (Batch, error)
	// Apply is as in JobStore.
	Apply(ctx context.Context, id ID, t Transition) (Batch, error)
}

// Cancel ends a batch in ERROR with the message Cancelled, and returns it as it is then. It can be repeated, also at
// the same time. It returns a *ConflictError if ingestion has begun or the batch has ended otherwise, and ErrNotFound
// if there is no such batch. Of a cancel and a transition at the same time, the one that is written first decides; a
// transition out of a status that allows it only puts the cancel off.
func Cancel(ctx context.Context, s Canceller, id ID, now func() time.Time) (Batch, error) {
	b, err := s.Get(ctx, id)
	for err == nil && !b.IsCancelled() {
		if !slices.Contains(cancellable, b.Status) {
			return Batch{}, &ConflictError{Wanted: Failed, Current: b}
		}
		// The write names the status that was read, because a transition to ERROR is legal out of later ones, too. No
		// status comes twice, so that this ends.
		t := Transition{To: Failed, From: b.Status, At: now(), ErrorMessage: Cancelled}
		if b.Status == AwaitingUpload {
			t.Expires = t.At.Add(RowLifetime)
		}
		b, err = s.Apply(ctx, id, t)
		if conflict, ok := errors.AsType[*ConflictError](err); ok {
			b, err = conflict.Current, nil
		}
	}
	return b, err
}
