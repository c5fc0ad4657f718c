package batchhttp

import (
	"cmp"
	"context"
	"net/http"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/batch"
)

// Status reports the status of a batch: 200 with a BatchStatus, or 202 with a BatchPending while the batch has no
// visible status.
func (s *Batches) Status(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	b, err := s.find(ctx, caller, r)
	if err != nil {
		return httpapi.Reply{}, err
	}
	return s.status(ctx, b)
}

// status is the reply of Status about a batch.
func (s *Batches) status(ctx context.Context, b batch.Batch) (httpapi.Reply, error) {
	position, err := s.queuePosition(ctx, b)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if message := pendingMessage(b.Status); message != "" {
		out := wire.BatchPending{Message: message, BatchID: string(b.ID), QueuePosition: position,
			Name:     shownName(b),
			Metadata: b.Metadata}
		out.ExpiresAt, out.UploadBy = s.uploadTimes(b)
		return accepted(out), nil
	}
	counts, bytesDone, err := s.progress(ctx, b)
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Reply{Body: newStatusReply(b, counts, bytesDone, position)}, nil
}

// pendingMessage names the event for which a batch in an invisible status waits; empty for any other status.
func pendingMessage(s batch.Status) string {
	switch s {
	case batch.AwaitingUpload:
		return "Batch not yet uploaded completely."
	case batch.Uploaded:
		return "Batch not yet processed."
	}
	return ""
}

// queuePosition returns the position of a batch that waits for a slot, nil for any other. Positions are a few seconds
// old: what the status of the batch says counts more.
func (s *Batches) queuePosition(ctx context.Context, b batch.Batch) (*int64, error) {
	if b.Status != batch.Uploaded && b.Status != batch.PendingIngestion {
		return nil, nil
	}
	position, isWaiting, err := s.Positions.Position(ctx, b)
	if err != nil || !isWaiting {
		return nil, err
	}
	return &position, nil
}

// progress returns the counts of a batch and how many bytes of the current pass are done.
func (s *Batches) progress(ctx context.Context, b batch.Batch) (wire.Counts, int64, error) {
	var chunks []batch.Chunk
	if !b.Status.IsTerminal() { // afterwards the row of the batch has all values, and the rows of the chunks expire
		var err error
		if chunks, err = s.Store.Chunks(ctx, b.ID); err != nil {
			return wire.Counts{}, 0, err
		}
	}
	counts, bytesDone := sumUp(b, chunks)
	return counts, bytesDone, nil
}

// sumUp adds up the chunk rows. A sum over rows that are each written once cannot count anything twice.
func sumUp(b batch.Batch, chunks []batch.Chunk) (counts wire.Counts, bytesDone int64) {
	var validatedBytes, ingestedBytes, stored int64
	for _, c := range chunks {
		if c.Validated != nil {
			validatedBytes += c.Validated.Bytes
		}
		if c.Ingested != nil {
			ingestedBytes += c.Ingested.Offset
			stored += c.Ingested.Stored
		}
	}
	if v := b.Verdict; v != nil {
		counts.Total, counts.Accepted, counts.Invalid = v.Counts()
		counts.Ingested = new(int64)
	}
	switch b.Status {
	case batch.Processed:
		*counts.Ingested = b.Ingested()
		return counts, b.Source().Size
	case batch.ValidationFailed:
		return counts, b.Source().Size
	case batch.Initialized, batch.InProgress:
		counts.Ingested = &stored
		return counts, ingestedBytes
	case batch.Failed:
		return counts, 0 // no transaction of a failed batch is visible
	}
	return counts, validatedBytes
}

// accepted is a reply about something that has not finished yet.
func accepted(body any) httpapi.Reply { return httpapi.Reply{Status: http.StatusAccepted, Body: body} }

// newStatusReply returns the status record of a batch that has a visible status.
func newStatusReply(b batch.Batch, counts wire.Counts, bytesDone int64, position *int64) wire.BatchStatus {
	out := wire.BatchStatus{
		BatchID: string(b.ID), Status: string(b.Status), ErrorMessage: b.ErrorMessage, Metadata: b.Metadata,
		ClientID: b.Client, CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt, History: []wire.StatusAt{},
		RejectOnInvalid: b.RejectOnInvalid, ValidateOnly: b.ValidateOnly, Counts: counts, BytesTotal: b.Source().Size,
		BytesDone: bytesDone, QueuePosition: position,
	}
	if !b.ReceivedAt.IsZero() {
		out.ReceivedAt = &b.ReceivedAt
	}
	out.Name = shownName(b)
	for _, entry := range b.History {
		out.History = append(out.History, wire.StatusAt{Status: string(entry.Status), At: entry.At})
	}
	if l := b.MaxRejected; l != nil {
		out.MaxRejected = &wire.RejectLimit{Lines: l.Lines, Share: string(l.Share)}
	}
	out.ContentEncoding = string(cmp.Or(b.Encoding, b.Declared.Encoding, batch.Identity))
	if b.DuplicateOf != "" {
		out.DuplicateOf = new(string(b.DuplicateOf))
	}
	if b.Verdict != nil && b.Verdict.Screening != nil {
		out.NamesScreened, out.Hits = &b.Verdict.Screening.Names, &b.Verdict.Screening.Hits
	}
	return out
}

// shownName returns the name of a batch as replies have it; nil if it has none.
func shownName(b batch.Batch) *string {
	if b.Name == "" {
		return nil
	}
	return &b.Name
}
