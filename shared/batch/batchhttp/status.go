package batchhttp

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sluice/shared/batch"
	"sluice/shared/fault"
	"sluice/shared/httpapi"
)

// Message is a reply that has nothing to report yet.
type Message struct {
	Message string   `json:"message"`
	BatchID batch.ID `json:"batch_id"`
}

// StatusReply is the batch status record with our additions. Times are RFC 3339 in UTC; a count is null until it is known.
type StatusReply struct {
	BatchID         batch.ID     `json:"batch_id"`
	Status          batch.Status `json:"status"`
	ErrorMessage    string       `json:"error_message"`
	CreatedAt       time.Time    `json:"created_at"`
	UpdatedAt       time.Time    `json:"updated_at"`
	ReceivedAt      time.Time    `json:"received_at"`
	RejectOnInvalid bool         `json:"reject_on_invalid"`
	Counts          Counts       `json:"counts"`
	BytesTotal      int64        `json:"bytes_total"`
	BytesDone       int64        `json:"bytes_done"` // of the pass that runs: validation until PENDING_INGESTION, then ingestion
}

// Counts counts the transactions of a batch.
type Counts struct {
	Total    *int64 `json:"total"`
	Accepted *int64 `json:"accepted"`
	Invalid  *int64 `json:"invalid"`
	Ingested *int64 `json:"ingested"`
}

// Status tells where a batch stands: 200 with a StatusReply, or 202 with a Message while there is no status yet.
func (s *Batches) Status(ctx context.Context, caller httpapi.Caller, id string) (httpapi.Reply, error) {
	b, err := s.find(ctx, caller, id)
	if err != nil {
		return httpapi.Reply{}, err
	}
	switch b.Status {
	case batch.AwaitingUpload:
		return httpapi.Reply{Status: http.StatusAccepted, Body: Message{"Batch not yet uploaded completely.", b.ID}}, nil
	case batch.Uploaded:
		return httpapi.Reply{Status: http.StatusAccepted, Body: Message{"Batch not yet processed.", b.ID}}, nil
	}
	out := StatusReply{
		BatchID: b.ID, Status: b.Status, ErrorMessage: b.ErrorMessage, RejectOnInvalid: b.RejectOnInvalid,
		CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt, ReceivedAt: b.ReceivedAt, BytesTotal: b.Object.Size,
	}
	var chunks []batch.Chunk
	if b.Status != batch.Processed && b.Status != batch.ValidationFailed {
		if chunks, err = s.Store.Chunks(ctx, b.ID); err != nil {
			return httpapi.Reply{}, err
		}
	}
	out.Counts, out.BytesDone = progress(b, chunks)
	return httpapi.Reply{Status: http.StatusOK, Body: out}, nil
}

// progress sums up what the chunk rows say. A sum over rows that are written once cannot count anything twice.
func progress(b batch.Batch, chunks []batch.Chunk) (Counts, int64) {
	var validated, ingested, stored int64
	for _, c := range chunks {
		if c.Validated != nil {
			validated += c.Validated.Bytes
		}
		if c.Ingested != nil {
			ingested += c.Ingested.Offset
			stored += c.Ingested.Stored
		}
	}
	var counts Counts
	if v := b.Verdict; v != nil {
		counts = Counts{Total: &v.Total, Accepted: &v.Accepted, Invalid: &v.Invalid, Ingested: new(int64)}
	}
	switch b.Status {
	case batch.Processed:
		counts.Ingested = &b.Verdict.Accepted
		return counts, b.Object.Size
	case batch.ValidationFailed:
		return counts, b.Object.Size
	case batch.Initialized, batch.InProgress:
		counts.Ingested = &stored
		return counts, ingested
	case batch.Failed:
		// Nothing of a failed batch can be seen, whatever had been written.
		return counts, 0
	}
	return counts, validated
}

var (
	errNotBatchID = fault.New(fault.Invalid, "invalid_request", "The request is not valid.").With(fault.Detail{
		Loc: []any{"path", "batch_id"}, Msg: "Not a UUID.", Type: "uuid"})
	errNoBatch = fault.New(fault.NotFound, "batch_not_found", "Batch not found.")
)

// find reads a batch of the caller's tenant. Another tenant's batch is not found, so that nobody learns of it.
func (s *Batches) find(ctx context.Context, caller httpapi.Caller, text string) (batch.Batch, error) {
	id, err := batch.ParseID(text)
	if err != nil {
		return batch.Batch{}, errNotBatchID
	}
	b, err := s.Store.Get(ctx, id)
	if errors.Is(err, batch.ErrNotFound) || err == nil && b.Tenant != caller.Tenant {
		return batch.Batch{}, errNoBatch
	}
	return b, err
}
