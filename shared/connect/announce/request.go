package announce

import (
	"context"
	"encoding/json"
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

// WorkInput is the input of a function that does what a batch owes.
type WorkInput struct {
	Batch batch.ID `json:"batch_id"`
}

// Worker asks a function to do what batches owe.
type Worker struct{ function *invoke.Requester }

// NewWorker returns a requester of the function of the given name or ARN.
func NewWorker(client *lambda.Client, function string) *Worker {
	return &Worker{invoke.NewRequester(client, function)}
}

// RequestWork asks for what a batch owes.
func (w *Worker) RequestWork(ctx context.Context, id batch.ID) error {
	if err := w.function.Request(ctx, WorkInput{id}); err != nil {
		return fmt.Errorf("request what a batch owes: %w", err)
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

// endPayload is the payload of the events about the end of a batch (docs/contract/events.md, End of a batch).
type endPayload struct {
	ID           batch.ID          `json:"batch_id"`
	Status       batch.Status      `json:"status"`
	ErrorMessage string            `json:"error_message"`
	Counts       endCounts         `json:"counts"`
	Name         *string           `json:"name"`
	Metadata     map[string]string `json:"metadata"`
	ValidateOnly bool              `json:"validate_only"`
	// ReportComplete is null where no report was written.
	ReportComplete *bool `json:"report_complete"`
}

// endCounts are numbers of transactions, which are null where validation did not finish.
type endCounts struct {
	Total    *int64 `json:"total"`
	Accepted *int64 `json:"accepted"`
	Invalid  *int64 `json:"invalid"`
	Ingested *int64 `json:"ingested"`
}

// endTypes are the types of the events by the terminal status that they announce.
var endTypes = map[batch.Status]event.Type{
	batch.Processed: event.BatchProcessed, batch.ValidationFailed: event.BatchRejected, batch.Failed: event.BatchFailed,
}

// MessageOf returns the event about the end of a batch. It is made from the batch alone, so that it is the same
// whenever it is made. It returns an error if the batch has not ended.
func MessageOf(b batch.Batch) (event.Message, error) {
	eventType, ended := endTypes[b.Status]
	if !ended {
		return event.Message{}, fmt.Errorf("batch %s is %s: it has not ended", b.ID, b.Status)
	}
	payload := endPayload{ID: b.ID, Status: b.Status, ErrorMessage: b.ErrorMessage, Metadata: b.Metadata,
		ValidateOnly: b.ValidateOnly}
	if b.Name != "" {
		payload.Name = &b.Name
	}
	if v := b.Verdict; v != nil {
		total, accepted, invalid := v.Counts()
		payload.Counts = endCounts{total, accepted, invalid, new(b.Ingested())}
		if v.ReportKey != "" {
			complete := !v.ReportShortened
			payload.ReportComplete = &complete
		}
	}
	text, err := json.Marshal(payload)
	return event.Message{
		ID: event.NewID(eventType, string(b.ID)), Tenant: b.Tenant, Type: eventType, RelativeURL: batch.StatusURL(b.ID),
		Payload: text, When: b.UpdatedAt, CorrelationID: string(b.ID), CausationID: string(b.ID),
	}, err
}
