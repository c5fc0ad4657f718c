package batchhttp

import (
	"cmp"

	"sluice/openapi/wire"
	"sluice/shared/ingest/batch"
)

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
