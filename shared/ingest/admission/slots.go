package admission

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/shared/ingest/batch"
)

// Slots gives out the slots of all pools. Any number of them, in any number of processes, may work at the same time,
// and each may die at any moment: whoever assigns slots next, the sweep at the latest, continues where it was.
type Slots struct {
	Queue  Queue
	Tasks  Tasks
	Limits map[Pool]Limits
	// SmallBytes is the length of the file of the largest small batch. After a change, the slots of batches on their
	// way are free with the second sweep after their end at the latest.
	SmallBytes int64
	Now        func() time.Time
	// Pause waits before a contended write is tried again; nil waits in real time.
	Pause func(ctx context.Context, limit time.Duration)
	// Sequential means that holders are notified one after the other.
	Sequential bool
	Log        *slog.Logger
}

// PoolOf returns the pool of a stage in which a batch waits, whose file has been received.
func (s *Slots) PoolOf(stage Stage, b batch.Batch) Pool { return PoolOf(stage, b, s.SmallBytes) }

// Enter makes a batch wait for a slot, and assigns the slots that are free. It can be repeated, and a later attempt
// takes the place of an earlier one. A batch that has its slot is notified at once, unless it has it for an earlier
// round: then it gives it back first. It returns an error if the batch neither waits nor was notified.
func (s *Slots) Enter(ctx context.Context, t Ticket) error {
	err := s.Queue.Put(ctx, t)
	if errors.Is(err, ErrSuperseded) {
		return nil // nobody waits for the token of this attempt
	}
	if err != nil {
		return err
	}
	unnotified, err := s.assign(ctx, t.Pool, t.Place)
	if err != nil {
		// The ticket is stored: whoever assigns slots next sees it.
		s.Log.WarnContext(ctx, "free slots cannot be assigned", "pool", t.Pool, "batch", t.Batch, "error", err)
	}
	return unnotified[t.Batch]
}

// Resume lets an execution go on that waits for a slot which its batch does not need any more. Repeating it does
// nothing.
func (s *Slots) Resume(ctx context.Context, token string) error {
	_, err := s.Tasks.Complete(ctx, token)
	return err
}

// Leave takes from a batch its slot, or its place if it waits, and assigns the slot to the next one. Repeating it does
// nothing.
func (s *Slots) Leave(ctx context.Context, stage Stage, b batch.Batch) error {
	pool := s.PoolOf(stage, b)
	// The ticket goes first: without its slot, a batch that has a ticket waits for one.
	if err := s.Queue.Withdraw(ctx, pool, PlaceOf(b)); err != nil {
		return err
	}
	return s.release(ctx, pool, b.ID)
}

// release takes from a batch its slot, and assigns it to the next one. Repeating it does nothing.
func (s *Slots) release(ctx context.Context, pool Pool, id batch.ID) error {
	if err := s.Queue.Release(ctx, pool, id); err != nil {
		return err
	}
	if err := s.Assign(ctx, pool); err != nil {
		// The slot is free: whoever assigns slots next sees it.
		s.Log.WarnContext(ctx, "a free slot cannot be assigned", "pool", pool, "batch", id, "error", err)
	}
	return nil
}

// LeaveAll is Leave for a batch that has ended, in all stages, those included of which it has no slot. An execution
// that waits for a slot is resumed, and its next step ends it. Repeating it does nothing.
func (s *Slots) LeaveAll(ctx context.Context, b batch.Batch) error {
	if b.ReceivedAt.IsZero() {
		return nil // it was never to be worked on
	}
	var errs []error
	for _, stage := range Stages() {
		errs = append(errs, s.dismiss(ctx, s.PoolOf(stage, b), PlaceOf(b)))
	}
	return errors.Join(errs...)
}

// LeaveInput asks the function close for LeaveAll for a batch that its sender has ended.
type LeaveInput struct {
	ID batch.ID `json:"batch_id"`
	// Ended is true.
	Ended bool `json:"ended"`
}

// dismiss is Leave for a batch that has ended, whose execution may wait. It removes only the ticket whose token it
// has used: one that a later attempt has stored since remains for the next sweep, because nobody else would resume that
// execution.
func (s *Slots) dismiss(ctx context.Context, pool Pool, p Place) error {
	// The execution is resumed first: without its ticket, nobody knows the token for which it waits.
	tickets, err := s.Queue.Tickets(ctx, pool, []Place{p})
	if err != nil {
		return err
	}
	for _, t := range tickets {
		if err := s.Resume(ctx, t.Token); err != nil {
			return err
		}
		if err := s.Queue.Remove(ctx, t); err != nil {
			return err
		}
	}
	return s.release(ctx, pool, p.Batch)
}

// notifiers is how many holders are notified at the same time.
const notifiers = 10

// notify lets the executions of some batches go on, as the batches have their slots. If that fails, the ticket remains,
// and whoever comes next tries again. It records those that it could not notify, with the errors.
func (s *Slots) notify(ctx context.Context, tickets []Ticket, unnotified map[batch.ID]error) {
	errs := make([]error, len(tickets))
	var g errgroup.Group
	g.SetLimit(notifiers)
	for i, t := range tickets {
		if s.Sequential {
			errs[i] = s.notifyOne(ctx, t)
			continue
		}
		g.Go(func() error {
			errs[i] = s.notifyOne(ctx, t)
			return nil
		})
	}
	_ = g.Wait()
	for i, t := range tickets {
		if delete(unnotified, t.Batch); errs[i] != nil {
			unnotified[t.Batch] = errs[i]
		}
	}
}

// notifyOne lets the execution of one batch go on. If nobody waits for the token, the ticket is that of an attempt that
// was notified before or is over; the sweep then looks soon at whether the batch still needs its slot.
func (s *Slots) notifyOne(ctx context.Context, t Ticket) error {
	isWaiting, err := s.Tasks.Complete(ctx, t.Token)
	if err != nil {
		s.Log.WarnContext(ctx, "a batch cannot be notified of its slot", "pool", t.Pool, "batch", t.Batch, "error",
			err)
		return fmt.Errorf("notify batch %s of its slot: %w", t.Batch, err)
	}
	if !isWaiting {
		err = s.Queue.Postpone(ctx, t.Pool, t.Batch, time.Time{})
	}
	if err = errors.Join(err, s.Queue.Remove(ctx, t)); err != nil {
		s.Log.WarnContext(ctx, "a ticket cannot be removed", "pool", t.Pool, "batch", t.Batch, "error", err)
	}
	return nil
}
