package admission

import (
	"context"
	"time"
)

// Load is how much of one stage batches use and wait for.
type Load struct {
	// Waiting is the number of batches that wait for a slot, and Since when the first of them was received.
	Waiting int
	Since   time.Time
	// IsCut means that more batches may wait than were counted, and that one of them may have been received before.
	IsCut bool
	// Used is the number of slots that batches have.
	Used int
}

// Load returns the load of a stage, and reads at most atMost of the tickets unless that is 0. It may miss the latest
// writes.
func (s *Slots) Load(ctx context.Context, stage Stage, atMost int) (Load, error) {
	places, err := s.Queue.Waiting(ctx, stage, atMost)
	if err != nil {
		return Load{}, err
	}
	gate, err := s.Queue.Gate(ctx, stage)
	if err != nil {
		return Load{}, err
	}
	l := Load{Used: len(gate.Holders), IsCut: atMost > 0 && len(places) == atMost}
	for _, p := range places {
		if _, isHolder := gate.Holders[p.Batch]; isHolder {
			continue // it is about to be notified
		}
		if l.Waiting++; l.Waiting == 1 || p.ReceivedAt.Before(l.Since) {
			l.Since = p.ReceivedAt
		}
	}
	return l, nil
}
