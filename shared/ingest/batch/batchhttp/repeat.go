package batchhttp

import (
	"context"
	"errors"
	"fmt"

	"sluice/openapi/wire"
	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/idempotency"
	"sluice/shared/ingest/batch"
)

// newIDText makes the ID that an idempotency key pins.
func (s *Batches) newIDText() (string, error) {
	id, err := s.NewID()
	return string(id), err
}

// newBatchID returns the ID for the batch of a request: the one that its idempotency key has pinned, or else a new one.
func (s *Batches) newBatchID(run *idempotency.Run) (batch.ID, error) {
	if run != nil {
		return batch.ID(run.ID), nil
	}
	id, err := s.NewID()
	if err != nil {
		return "", fmt.Errorf("make a batch ID: %w", err)
	}
	return id, nil
}

// begun returns the batch that an earlier run of a request has created; nil if no run has, also after a restore of the
// table of batches.
func (s *Batches) begun(ctx context.Context, caller httpapi.Caller, run *idempotency.Run) (*batch.Batch, error) {
	if run == nil || !run.Repeats && run.Answer == nil {
		return nil, nil
	}
	b, err := s.Store.Get(ctx, batch.ID(run.ID))
	switch {
	case errors.Is(err, batch.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case b.Tenant != caller.Tenant:
		return nil, fmt.Errorf("batch %s of an idempotency key belongs to another tenant", b.ID)
	}
	return &b, nil
}

// create stores the batch of a request. If another run of the same request has stored it before, it returns that batch,
// otherwise nil.
func (s *Batches) create(ctx context.Context, b batch.Batch, run *idempotency.Run) (*batch.Batch, error) {
	err := s.Store.Create(ctx, b)
	if err == nil || run == nil {
		return nil, err
	}
	stored, getErr := s.Store.Get(ctx, b.ID)
	if getErr != nil || stored.Tenant != b.Tenant {
		return nil, err
	}
	return &stored, nil
}

// answerAgain answers a repeated request with the batch that it has created. While the batch awaits its upload, the URL
// is signed anew, and the batch is given as long for its upload as if it was created now.
func (s *Batches) answerAgain(ctx context.Context, caller httpapi.Caller, b batch.Batch) (wire.Upload, error) {
	audit.AddObject(ctx, "batch_id", string(b.ID))
	out, err := s.signAgain(ctx, caller, b)
	if conflict, ok := errors.AsType[*batch.ConflictError](err); ok {
		return wire.Upload{BatchID: string(b.ID), MaxBytes: s.MaxBytes, Message: describeNotAwaiting(conflict.Current)},
			nil
	}
	return out, err
}
