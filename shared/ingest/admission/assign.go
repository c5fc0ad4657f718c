package admission

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"sluice/shared/ingest/batch"
)

// Assign gives the free slots of a pool to those whose turn it is, and notifies each holder that was not notified yet.
// It returns nil also if others assign slots at the same time: the last one of them sees what all have left.
func (s *Slots) Assign(ctx context.Context, pool Pool) error {
	_, err := s.assign(ctx, pool)
	return err
}

const (
	// maxContentions is how often assign may lose to others before it leaves everything to them. The gate by which the
	// second of them decided was read after the write of the first, and thus after the call began: it had in it what
	// the caller has left or stored. If both writes were by one gate, that caller of assign reads it again.
	maxContentions = 2
	// contentionPause is the longest pause after the first of them.
	contentionPause = 20 * time.Millisecond
	// notifyTime is how long whoever has given out a slot may take to notify its holder. After it, others do.
	notifyTime = 3 * time.Second
)

// assign is Assign for the batches that enter at some places. It returns the holders that it could not notify, with the
// errors.
func (s *Slots) assign(ctx context.Context, pool Pool, own ...Place) (unnotified map[batch.ID]error, err error) {
	unnotified = map[batch.ID]error{}
	for range maxContentions {
		if err := s.assignOnce(ctx, pool, own, unnotified); !errors.Is(err, ErrContended) {
			return unnotified, err
		}
		s.pause(ctx, contentionPause)
		if ctx.Err() != nil {
			return unnotified, ctx.Err()
		}
	}
	return unnotified, nil
}

// assignOnce is assign without a second attempt. Between the reading of the gate and the writing of it there is as
// little as possible: other holders are visited afterwards.
func (s *Slots) assignOnce(ctx context.Context, pool Pool, own []Place, unnotified map[batch.ID]error) error {
	for {
		gate, err := s.Queue.Gate(ctx, pool)
		if err != nil {
			return err
		}
		read := gate.Version
		if gate, _, err = s.visitHolders(ctx, gate, holding(gate, own), unnotified); err != nil {
			return err
		}
		if gate, err = s.admitWaiting(ctx, gate, unnotified); err != nil {
			return err
		}
		var others []Place
		for _, h := range gate.Holders {
			if s.Now().Sub(h.Since) > notifyTime {
				others = append(others, h.Place)
			}
		}
		hasWrittenTwice := gate.Version > read+1
		_, hasEnded, err := s.visitHolders(ctx, gate, others, unnotified)
		if err != nil || !hasEnded && !hasWrittenTwice {
			return err
		}
	}
}

// holding returns those of some places whose batches have slots.
func holding(g Gate, places []Place) (held []Place) {
	for _, p := range places {
		if _, isHolder := g.Holders[p.Batch]; isHolder {
			held = append(held, p)
		}
	}
	return held
}

// visitHolders notifies those of some holders of a gate that have tickets and thus were not notified yet, and takes the
// slots of those that wait for a later round. It returns the gate after that, and whether a round has ended.
func (s *Slots) visitHolders(ctx context.Context, gate Gate, holders []Place,
	unnotified map[batch.ID]error) (after Gate, hasEnded bool, err error) {
	tickets, err := s.Queue.Tickets(ctx, gate.Pool, holders)
	if err != nil {
		return gate, false, err
	}
	var waiting []Ticket
	for _, t := range tickets {
		if t.Round <= gate.Holders[t.Batch].Round {
			waiting = append(waiting, t)
			continue
		}
		if gate, err = s.Queue.EndRound(ctx, gate, t.Batch); err != nil {
			return gate, hasEnded, err
		}
		hasEnded = true
	}
	s.notify(ctx, waiting, unnotified)
	return gate, hasEnded, nil
}

// admitWaiting assigns the free slots of a gate, and notifies those who get them. It returns the gate after that.
func (s *Slots) admitWaiting(ctx context.Context, gate Gate, unnotified map[batch.ID]error) (Gate, error) {
	gate, err := s.reduce(ctx, gate)
	for err == nil {
		free := s.slots(gate) - len(gate.Holders)
		if free <= 0 && !s.mayIncrease(gate) {
			return gate, nil
		}
		wanted := min(max(free, 1), MaxAdmitted)
		tickets, err := s.choose(ctx, gate, wanted)
		if err != nil || len(tickets) == 0 {
			return gate, err
		}
		if free <= 0 {
			if gate, err = s.Queue.Adapt(ctx, gate, s.slots(gate)+1, s.Now()); err != nil {
				return gate, err
			}
			continue
		}
		if gate, err = s.Queue.Admit(ctx, gate, s.Now(), tickets...); err != nil {
			return gate, err
		}
		s.notify(ctx, tickets, unnotified)
		if len(tickets) < wanted {
			return gate, nil
		}
	}
	return gate, err
}

// choose returns the tickets that get the next n slots, in this order: of the waiting tenants that have the fewest
// slots, that of the one that follows the tenant whose turn was last; of its tickets, the one received first. It reads
// no more tenants than it needs to: n without a slot cannot be beaten, and there are at most as many others as there
// are slots.
func (s *Slots) choose(ctx context.Context, gate Gate, n int) ([]Ticket, error) {
	counts, perTenant := gate.counts(), s.Limits[gate.Pool].PerTenant
	tickets, withoutSlot := map[batch.ID]Ticket{}, 0
	var places []Place
	chosen := map[string]int{}
	room := func(tenant string) int { return min(perTenant-counts[tenant], n) - chosen[tenant] }
	const pageSize = 100
	from, hasWrapped := Place{Tenant: gate.Turn}, gate.Turn == ""
	for isDone := false; !isDone && withoutSlot < n; {
		page, err := s.Queue.After(ctx, gate.Pool, from, pageSize)
		if err != nil {
			return nil, err
		}
		for _, t := range page {
			isAgain := hasWrapped && gate.Turn != "" && t.Tenant > gate.Turn
			if _, isHolder := gate.Holders[t.Batch]; isAgain || isHolder || room(t.Tenant) <= 0 {
				continue
			}
			if counts[t.Tenant]+chosen[t.Tenant] == 0 {
				withoutSlot++
			}
			chosen[t.Tenant]++
			tickets[t.Batch], places = t, append(places, t.Place)
		}
		isLast := len(page) < pageSize
		if !isLast {
			if from = page[len(page)-1].Place; room(from.Tenant) <= 0 {
				from = Place{Tenant: from.Tenant}
			}
		}
		switch {
		case hasWrapped:
			isDone = isLast || gate.Turn != "" && from.Tenant > gate.Turn
		case isLast:
			hasWrapped, from = true, Place{}
		}
	}
	var next []Ticket
	for _, id := range gate.Order(places)[:min(n, len(places))] {
		next = append(next, tickets[id])
	}
	return next, nil
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
