package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
)

// Admit is the step of the states AwaitValidation and AwaitIngestion: it makes the batch wait for its slot. The state
// waits for a task token, so that nothing runs meanwhile; the caller that assigns the slot sends it.
type Admit struct {
	Batches batch.JobStore
	Slots   *admission.Slots
	Now     func() time.Time
	Log     *slog.Logger
}

// AdmitInput is the input of the states that wait for a slot.
type AdmitInput struct {
	ID    batch.ID        `json:"batch_id"`
	Stage admission.Stage `json:"stage"`
	// Token is the task token of this attempt.
	Token string `json:"token"`
	// Entered is when the execution entered the state, and Retry how often it has been tried before.
	Entered time.Time `json:"entered"`
	Retry   int       `json:"retry"`
	// Round is the number of the round of chunks that is to be ingested.
	Round int `json:"round"`
}

// Run enters a batch into the queue for a slot. A batch that does not need the slot any more, because its execution
// began anew, goes on at once.
func (s *Admit) Run(ctx context.Context, in AdmitInput) (struct{}, error) {
	return runAction(ctx, s.Log, in.ID, func(ctx context.Context) error {
		if in.Stage == "" { // an execution of a release without slots has the state Admit, which waits for nothing
			_, err := applyTransition(ctx, s.Batches, in.ID, batch.Transition{To: batch.Initialized, At: s.Now()})
			return err
		}
		j, err := openJob(ctx, s.Batches, in.ID)
		if err != nil {
			return err
		}
		if in.Token == "" || in.Entered.IsZero() {
			return fmt.Errorf("batch %s: input without a token or the time of entry", in.ID)
		}
		if !in.Stage.IsNeededBy(j.Batch) {
			return s.Slots.Resume(ctx, in.Token)
		}
		return s.Slots.Enter(ctx, admission.Ticket{
			Pool: s.Slots.PoolOf(in.Stage, j.Batch), Place: admission.PlaceOf(j.Batch), Token: in.Token,
			Attempt: admission.Attempt{Entered: in.Entered, Retry: in.Retry}, Round: in.Round,
		})
	})
}

// slots is the part of admission.Slots that the steps need which end a batch's stay in a stage.
type slots interface {
	Leave(ctx context.Context, stage admission.Stage, b batch.Batch) error
	LeaveAll(ctx context.Context, b batch.Batch) error
}
