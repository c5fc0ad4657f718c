package admission

import (
	"context"
	"time"
)

// The number of slots of an adapted pool follows what the table of transactions takes: one slot more while it takes all
// writes and batches wait, one fewer while it refuses some, down to the first number.
const (
	// adaptPause is the time between two changes of the number.
	adaptPause = 30 * time.Second
	// refusedFor is how long a refused write counts. Writers report one every few seconds at most.
	refusedFor = 20 * time.Second
)

// SlotsAfter returns how many slots the pool has that was last adapted to a number; 0 if it never was.
func (l Limits) SlotsAfter(adapted int) int {
	if l.Most == 0 || adapted == 0 {
		return l.Slots
	}
	return max(min(adapted, l.Most), l.Slots)
}

// slots returns how many slots the pool of a gate has.
func (s *Slots) slots(g Gate) int { return s.Limits[g.Pool].SlotsAfter(g.Slots) }

// isAdaptable reports whether the number of slots may change now, and whether the table refuses writes.
func (s *Slots) isAdaptable(g Gate) (isAdaptable, isRefusing bool) {
	now := s.Now()
	return s.Limits[g.Pool].Most > 0 && now.Sub(g.AdaptedAt) >= adaptPause, now.Sub(g.RefusedAt) < refusedFor
}

// mayIncrease reports whether the pool may have one slot more, if a batch waits for it. It may not while more batches
// have slots than there are, because the number was reduced: they would become more.
func (s *Slots) mayIncrease(g Gate) bool {
	isAdaptable, isRefusing := s.isAdaptable(g)
	return isAdaptable && !isRefusing && len(g.Holders) <= s.slots(g) && s.slots(g) < s.Limits[g.Pool].Most
}

// reduce takes one added slot from a pool while the table refuses writes. A holder keeps its slot until its round ends.
func (s *Slots) reduce(ctx context.Context, g Gate) (Gate, error) {
	isAdaptable, isRefusing := s.isAdaptable(g)
	if !isAdaptable || !isRefusing || s.slots(g) <= s.Limits[g.Pool].Slots {
		return g, nil
	}
	return s.Queue.Adapt(ctx, g, s.slots(g)-1, s.Now())
}

// ReportRefused records that the table of transactions has refused writes of a batch.
func (s *Slots) ReportRefused(ctx context.Context) error {
	return s.Queue.SetRefused(ctx, LargeIngestion, s.Now())
}
