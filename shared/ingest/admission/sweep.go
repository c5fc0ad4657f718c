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

// Sweep takes the slots and the tickets of a pool from the batches that have ended, then looks at the holders that
// were to be looked at before a time, takes the slots of those that do not need them, and assigns the free slots. One
// batch that fails does not keep the others waiting.
func (s *Slots) Sweep(ctx context.Context, pool Pool, before time.Time, batches Batches) error {
	errs := []error{s.dismissEnded(ctx, pool, batches)}
	gate, err := s.Queue.Gate(ctx, pool)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, h := range gate.Holders {
		if h.LookAt.Before(before) && ctx.Err() == nil {
			errs = append(errs, s.sweepHolder(ctx, pool, h, batches))
		}
	}
	return errors.Join(append(errs, s.Assign(ctx, pool))...)
}

// sweepHolder takes the slot of a batch that does not need it.
func (s *Slots) sweepHolder(ctx context.Context, pool Pool, h Holder, batches Batches) error {
	needed, err := batches.NeedsSlot(ctx, pool.Stage(), h.Batch)
	if err != nil {
		return err
	}
	if needed {
		return s.Queue.Postpone(ctx, pool, h.Batch, s.Now())
	}
	s.Log.WarnContext(ctx, "a batch has left its slot", "pool", pool, "batch", h.Batch, "since", h.Since)
	if err := s.Queue.Withdraw(ctx, pool, h.Place); err != nil {
		return err
	}
	return s.Queue.Release(ctx, pool, h.Batch)
}

// maxSwept is the number of batches of a pool whose end one sweep checks.
const maxSwept = 1600

// dismissEnded takes the slots and the tickets from batches that have ended, and resumes their executions: a caller
// that has ended them was killed before it could. Of more batches than it asks about, it chooses some at random.
func (s *Slots) dismissEnded(ctx context.Context, pool Pool, batches Batches) error {
	places, err := s.Queue.Waiting(ctx, pool, 0)
	if err != nil {
		return err
	}
	gate, err := s.Queue.Gate(ctx, pool)
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
		s.Log.WarnContext(ctx, "a batch that has ended waited or had a slot", "pool", pool, "batch", id)
		errs = append(errs, s.dismiss(ctx, pool, byID[id]))
	}
	return errors.Join(errs...)
}
