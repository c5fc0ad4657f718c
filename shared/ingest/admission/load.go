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
	// Used is the number of slots that batches have.
	Used int
}

// Load returns the load of a stage. It may miss the latest writes.
func (s *Slots) Load(ctx context.Context, stage Stage) (Load, error) {
	places, err := s.Queue.Waiting(ctx, stage)
	if err != nil {
		return Load{}, err
	}
	gate, err := s.Queue.Gate(ctx, stage)
	if err != nil {
		return Load{}, err
	}
	l := Load{Used: len(gate.Holders)}
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
