package admission

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"sluice/shared/ingest/batch"
)

// Batches answers the questions of a sweep about the batches that wait or have slots.
type Batches interface {
	// Ended returns those of some batches that have ended.
	Ended(ctx context.Context, ids []batch.ID) ([]batch.ID, error)
	// NeedsSlot reports whether a batch needs its slot of a stage: it needs one in its status, and has an execution
	// that runs.
	NeedsSlot(ctx context.Context, s Stage, id batch.ID) (bool, error)
}

// Sweep takes the slots and the tickets of a stage from the batches that have ended, then looks at the holders that
// were to be looked at before a time, takes the slots of those that do not need them, and assigns the free slots. One
// batch that fails does not keep the others waiting.
func (s *Slots) Sweep(ctx context.Context, stage Stage, before time.Time, batches Batches) error {
	errs := []error{s.dismissEnded(ctx, stage, batches)}
	gate, err := s.Queue.Gate(ctx, stage)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, h := range gate.Holders {
		if h.LookAt.Before(before) && ctx.Err() == nil {
			errs = append(errs, s.sweepHolder(ctx, stage, h, batches))
		}
	}
	return errors.Join(append(errs, s.Assign(ctx, stage))...)
}

// sweepHolder takes the slot of a batch that does not need it.
func (s *Slots) sweepHolder(ctx context.Context, stage Stage, h Holder, batches Batches) error {
	needed, err := batches.NeedsSlot(ctx, stage, h.Batch)
	if err != nil {
		return err
	}
	if needed {
		return s.Queue.Postpone(ctx, stage, h.Batch, s.Now())
	}
	s.Log.WarnContext(ctx, "a batch has left its slot", "stage", stage, "batch", h.Batch, "since", h.Since)
	if err := s.Queue.Withdraw(ctx, stage, h.Place); err != nil {
		return err
	}
	return s.Queue.Release(ctx, stage, h.Batch)
}

// maxSwept is the number of batches of a stage whose end one sweep checks.
const maxSwept = 1600

// dismissEnded takes the slots and the tickets from batches that have ended, and resumes their executions: a caller
// that has ended them was killed before it could. Of more batches than it asks about, it chooses some at random.
func (s *Slots) dismissEnded(ctx context.Context, stage Stage, batches Batches) error {
	places, err := s.Queue.Waiting(ctx, stage, 0)
	if err != nil {
		return err
	}
	gate, err := s.Queue.Gate(ctx, stage)
	if err != nil {
		return err
	}
	byID := map[batch.ID]Place{}
	for _, h := range gate.Holders {
		byID[h.Batch] = h.Place
	}
	for _, i := range rand.Perm(len(places)) {
		if len(byID) < maxSwept {
			byID[places[i].Batch] = places[i]
		}
	}
	if len(byID) == 0 {
		return nil
	}
	ended, err := batches.Ended(ctx, slices.Collect(maps.Keys(byID)))
	errs := []error{err}
	for _, id := range ended {
		s.Log.WarnContext(ctx, "a batch that has ended waited or had a slot", "stage", stage, "batch", id)
		errs = append(errs, s.dismiss(ctx, stage, byID[id]))
	}
	return errors.Join(errs...)
}
