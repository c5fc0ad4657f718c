package pipeline

import (
	"context"
	"log/slog"
	"time"

	"sluice/shared/batch"
)

// Admit is the step of the state Admit: it lets a batch begin ingestion, with the transition to INITIALIZED. Every
// batch is admitted at once.
type Admit struct {
	Batches batch.JobStore
	Now     func() time.Time
	Log     *slog.Logger
}

// Run admits a batch. It does nothing if the batch is admitted.
func (s *Admit) Run(ctx context.Context, in BatchInput) (struct{}, error) {
	return runAction(ctx, s.Log, in.ID, func(ctx context.Context) error {
		_, err := applyTransition(ctx, s.Batches, in.ID, batch.Transition{To: batch.Initialized, At: s.Now()})
		return err
	})
}
