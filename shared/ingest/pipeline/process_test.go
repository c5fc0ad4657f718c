package pipeline

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"

	"sluice/shared/ingest/batch"
)

// A digest that fails does not interrupt the first pass, whose result the next run uses.
func TestFailedDigestLeavesValidation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed, isValidated := make(chan struct{}), false
		p := &Process{
			Batches: &oneBatch{Batch: batch.Batch{ID: "b", Status: batch.ValidationStarted}},
			Log:     slog.New(slog.DiscardHandler),
			Validate: func(ctx context.Context, _ ChunkInput) (struct{}, error) {
				<-failed
				synctest.Wait()
				isValidated = ctx.Err() == nil
				return struct{}{}, ctx.Err()
			},
			Digest: func(context.Context, DigestInput) (struct{}, error) {
				defer close(failed)
				return struct{}{}, &NotAnnounced{"another file"}
			},
		}
		out, err := p.Run(t.Context(), BatchInput{ID: "b"})
		if _, isOther := errors.AsType[*NotAnnounced](err); !isOther || out.Done || !isValidated {
			t.Errorf("got %+v and the error %v, validated: %t; want NotAnnounced, and the first pass to end", out, err,
				isValidated)
		}
	})
}
