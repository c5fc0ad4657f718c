package batchdb

import (
	"context"
	"math"

	"sluice/shared/access/audit"
	"sluice/shared/ingest/batch"
)

// record writes the record of the latest transition of a batch, or of a batch that is new.
func (s *Store) record(ctx context.Context, b batch.Batch) {
	t := audit.Transition{
		Time: b.UpdatedAt, Message: "batch transition", Tenant: b.Tenant, Client: b.Client, Batch: string(b.ID),
		From: string(b.PreviousStatus), To: string(b.Status), Lines: new(int64), Bytes: new(int64),
		ETag: b.Object.ETag, Error: b.ErrorMessage,
	}
	*t.Bytes = b.Source().Size
	since := b.CreatedAt
	if !b.ReceivedAt.IsZero() {
		since = b.ReceivedAt
		received := b.ReceivedAt.UTC()
		t.ReceivedAt = &received
	}
	seconds := float64(b.UpdatedAt.Sub(since).Milliseconds()) / 1000
	t.Seconds = &seconds
	if b.Verdict != nil {
		t.Lines, t.Accepted, t.Invalid = b.Verdict.Counts()
	}
	switch {
	case b.Status == batch.AwaitingUpload:
		t.Message = "batch created"
	case b.Status.IsTerminal():
		t.Message = "batch finished"
		if seconds > 0 {
			t.LinesPerSecond = math.Round(float64(*t.Lines)/seconds*1000) / 1000
		}
	}
	s.trail.WriteTransition(ctx, t)
}
