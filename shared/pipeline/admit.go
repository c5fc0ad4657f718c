package pipeline

import (
	"context"
	"log/slog"

	"sluice/shared/batch"
)

// Admit lets a batch into ingestion. Everyone is let in at once.
type Admit struct {
	Batches batches
	Now     Clock
	Log     *slog.Logger
}

// Run is the state Admit.
func (s *Admit) Run(ctx context.Context, in BatchInput) (struct{}, error) {
	return step(ctx, s.Log, in.ID, func(ctx context.Context) (struct{}, error) {
		_, err := move(ctx, s.Batches, in.ID, batch.Transition{To: batch.Initialized, At: s.Now()})
		return struct{}{}, err
	})
}
