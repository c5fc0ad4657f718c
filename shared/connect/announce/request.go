package announce

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"sluice/shared/connect/event"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/invoke"
)

// Requester asks the announce function to announce something.
type Requester struct{ function *invoke.Requester }

// A Requester is the sender for everyone who has something to announce and no business with the receivers.
var _ event.Sender = (*Requester)(nil)

// NewRequester returns a requester of the announce function of the given name or ARN.
func NewRequester(client *lambda.Client, function string) *Requester {
	return &Requester{invoke.NewRequester(client, function)}
}

// AnnounceBatch asks for the announcement of the end of a batch.
func (r *Requester) AnnounceBatch(ctx context.Context, id batch.ID) error {
	return r.request(ctx, Input{Batch: id})
}

// Send asks for the announcement of a message to all receivers.
func (r *Requester) Send(ctx context.Context, m event.Message) error {
	return r.request(ctx, Input{Message: &m})
}

func (r *Requester) request(ctx context.Context, in Input) error {
	if err := r.function.Request(ctx, in); err != nil {
		return fmt.Errorf("request an announcement: %w", err)
	}
	return nil
}

// ExportInput is the input of the export function.
type ExportInput struct {
	Batch batch.ID `json:"batch_id"`
}

// Exports asks the export function to write the accepted lines of batches as Parquet.
type Exports struct{ function *invoke.Requester }

// NewExports returns a requester of the export function of the given name or ARN.
func NewExports(client *lambda.Client, function string) *Exports {
	return &Exports{invoke.NewRequester(client, function)}
}

// RequestExport asks for the export of a batch.
func (e *Exports) RequestExport(ctx context.Context, id batch.ID) error {
	if err := e.function.Request(ctx, ExportInput{id}); err != nil {
		return fmt.Errorf("request an export: %w", err)
	}
	return nil
}

// Batches is a batch.Store that asks for the announcement of each batch that it sees ended and unannounced: because it
// has just ended it, or because the function that has was killed before it could ask. Functions that end batches use
// it.
type Batches struct {
	batch.Store
	Requester interface {
		// AnnounceBatch is as in Requester.
		AnnounceBatch(ctx context.Context, id batch.ID) error
	}
	Log *slog.Logger
}

// Get is as in batch.Store.
func (s *Batches) Get(ctx context.Context, id batch.ID) (batch.Batch, error) {
	b, err := s.Store.Get(ctx, id)
	if err == nil {
		s.request(ctx, b)
	}
	return b, err
}

// Apply is as in batch.Store.
func (s *Batches) Apply(ctx context.Context, id batch.ID, t batch.Transition) (batch.Batch, error) {
	b, err := s.Store.Apply(ctx, id, t)
	var conflict *batch.ConflictError
	switch {
	case err == nil:
		s.request(ctx, b)
	case errors.As(err, &conflict):
		s.request(ctx, conflict.Current)
	}
	return b, err
}

// request asks for the announcement of a batch that is unannounced. It returns no error: the batch has ended, whether
// or not that is announced, and the sweep will ask again.
func (s *Batches) request(ctx context.Context, b batch.Batch) {
	if len(b.Unannounced) == 0 {
		return
	}
	if err := s.Requester.AnnounceBatch(ctx, b.ID); err != nil {
		s.Log.ErrorContext(ctx, "cannot request the announcement", "batch", b.ID, "error", err)
	}
}
