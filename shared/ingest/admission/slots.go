package admission

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

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
	Log   *slog.Logger
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
	unnotified, err := s.assign(ctx, t.Pool)
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

// Assign gives the free slots of a pool to those whose turn it is, and notifies each holder that was not notified yet.
// It returns nil also if others assign slots at the same time: the last one of them sees what all have left.
func (s *Slots) Assign(ctx context.Context, pool Pool) error {
	_, err := s.assign(ctx, pool)
	return err
}

// maxContentions is how often assign yields to others before it leaves everything to them.
const maxContentions = 20

// assign is Assign. It returns the holders that it could not notify, with the errors.
func (s *Slots) assign(ctx context.Context, pool Pool) (unnotified map[batch.ID]error, err error) {
	unnotified = map[batch.ID]error{}
	for contentions := 0; contentions < maxContentions; contentions++ {
		gate, err := s.Queue.Gate(ctx, pool)
		if err != nil {
			return unnotified, err
		}
		if gate, err = s.visitHolders(ctx, gate, unnotified); err == nil {
			err = s.admitWaiting(ctx, gate, unnotified)
		}
		if !errors.Is(err, ErrContended) {
			return unnotified, err
		}
		s.pause(ctx, time.Duration(contentions+1)*10*time.Millisecond)
		if ctx.Err() != nil {
			return unnotified, ctx.Err()
		}
	}
	// Whoever made the latest of these changes looks for free slots after it.
	s.Log.InfoContext(ctx, "free slots are left to others", "pool", pool)
	return unnotified, nil
}

// admitWaiting assigns the free slots of a gate, one by one.
func (s *Slots) admitWaiting(ctx context.Context, gate Gate, unnotified map[batch.ID]error) error {
	gate, err := s.reduce(ctx, gate)
	for err == nil && (s.isFree(gate) || s.mayIncrease(gate)) {
		t, isWaiting, err := s.next(ctx, gate)
		if err != nil || !isWaiting {
			return err
		}
		if !s.isFree(gate) {
			gate, err = s.Queue.Adapt(ctx, gate, s.slots(gate)+1, s.Now())
		}
		if err == nil {
			gate, err = s.Queue.Admit(ctx, gate, t, s.Now())
		}
		if err != nil {
			return err
		}
		s.notify(ctx, t, unnotified)
	}
	return err
}

// next returns the ticket that gets the next free slot: of the waiting tenants that have the fewest slots, the one that
// follows the tenant whose turn was last; of its tickets, the one received first. It reads no more tickets than it
// needs to: a tenant without a slot cannot be beaten, and there are at most as many others as there are slots.
func (s *Slots) next(ctx context.Context, gate Gate) (best Ticket, isWaiting bool, err error) {
	counts, limits := gate.counts(), s.Limits[gate.Pool]
	hasWrapped := false
	for tenant := gate.Turn; ; {
		t, found, err := s.Queue.FirstAfterTenant(ctx, gate.Pool, tenant)
		switch {
		case err != nil:
			return Ticket{}, false, err
		case !found && !hasWrapped:
			hasWrapped, tenant = true, ""
			continue
		case !found || hasWrapped && t.Tenant > gate.Turn:
			return best, isWaiting, nil
		}
		tenant = t.Tenant
		if n := counts[tenant]; n >= limits.PerTenant || isWaiting && n >= counts[best.Tenant] {
			continue
		}
		if t, found, err = s.firstWithoutSlot(ctx, gate, t); err != nil {
			return Ticket{}, false, err
		}
		if found {
			best, isWaiting = t, true
			if counts[tenant] == 0 {
				return best, true, nil
			}
		}
	}
}

// firstWithoutSlot returns the first ticket from one on, of the same tenant, whose batch has no slot.
func (s *Slots) firstWithoutSlot(ctx context.Context, gate Gate, from Ticket) (Ticket, bool, error) {
	for t := from; ; {
		if _, isHolder := gate.Holders[t.Batch]; !isHolder {
			return t, true, nil
		}
		following, found, err := s.Queue.FirstAfter(ctx, gate.Pool, t.Place)
		if err != nil || !found || following.Tenant != from.Tenant {
			return Ticket{}, false, err
		}
		t = following
	}
}

// visitHolders notifies the holders of a gate that were not notified yet, and takes the slots of those that wait for a
// later round. It returns the gate after that.
func (s *Slots) visitHolders(ctx context.Context, gate Gate, unnotified map[batch.ID]error) (Gate, error) {
	var places []Place
	for _, h := range gate.Holders {
		places = append(places, h.Place)
	}
	tickets, err := s.Queue.Tickets(ctx, gate.Pool, places)
	if err != nil {
		return gate, err
	}
	for _, t := range tickets {
		if t.Round <= gate.Holders[t.Batch].Round {
			s.notify(ctx, t, unnotified)
			continue
		}
		if gate, err = s.Queue.EndRound(ctx, gate, t.Batch); err != nil {
			return gate, err
		}
	}
	return gate, nil
}

// notify lets the execution of a batch go on, as the batch has its slot. If that fails, the ticket remains, and whoever
// comes next tries again. If nobody waits for the token, the ticket is that of an attempt that was notified before or
// is over; the sweep then looks soon at whether the batch still needs its slot.
func (s *Slots) notify(ctx context.Context, t Ticket, unnotified map[batch.ID]error) {
	delete(unnotified, t.Batch)
	isWaiting, err := s.Tasks.Complete(ctx, t.Token)
	if err != nil {
		s.Log.WarnContext(ctx, "a batch cannot be notified of its slot", "pool", t.Pool, "batch", t.Batch, "error",
			err)
		unnotified[t.Batch] = fmt.Errorf("notify batch %s of its slot: %w", t.Batch, err)
		return
	}
	if !isWaiting {
		err = s.Queue.Postpone(ctx, t.Pool, t.Batch, time.Time{})
	}
	if err = errors.Join(err, s.Queue.Remove(ctx, t)); err != nil {
		s.Log.WarnContext(ctx, "a ticket cannot be removed", "pool", t.Pool, "batch", t.Batch, "error", err)
	}
}

// pause waits for a random time below a limit.
func (s *Slots) pause(ctx context.Context, limit time.Duration) {
	if s.Pause != nil {
		s.Pause(ctx, limit)
		return
	}
	timer := time.NewTimer(rand.N(limit))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
