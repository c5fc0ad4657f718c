package batchhttp

import (
	"cmp"
	"time"

	"sluice/shared/ingest/batch"
)

// StatusReply is the status record of a batch. Times are RFC 3339 in UTC.
type StatusReply struct {
	BatchID      batch.ID     `json:"batch_id"`
	Status       batch.Status `json:"status"`
	ErrorMessage string       `json:"error_message"`
	// Name and Metadata are null if the batch has none.
	Name      *string           `json:"name"`
	Metadata  map[string]string `json:"metadata"`
	ClientID  string            `json:"client_id"`
	CreatedAt time.Time         `json:"created_at"`
	UpdatedAt time.Time         `json:"updated_at"`
	// ReceivedAt is null for a batch that ended before its upload.
	ReceivedAt      *time.Time `json:"received_at"`
	History         []StatusAt `json:"history"`
	RejectOnInvalid bool       `json:"reject_on_invalid"`
	// MaxRejected is a number of lines or a string with a share, as in the request; null if there is no limit.
	MaxRejected  any    `json:"max_rejected"`
	ValidateOnly bool   `json:"validate_only"`
	Counts       Counts `json:"counts"`
	BytesTotal   int64  `json:"bytes_total"`
	// BytesDone counts the bytes of the current pass: validation until PENDING_INGESTION, ingestion after it.
	BytesDone int64 `json:"bytes_done"`
	// ContentEncoding is how the uploaded file is packed, or was announced to be before anything is known of it.
	ContentEncoding batch.Encoding `json:"content_encoding"`
	// DuplicateOf is a batch that was processed before with the same file; null if no batch was.
	DuplicateOf *batch.ID `json:"duplicate_of"`
	// NamesScreened and Hits are null until they are known, and always if names are not screened.
	NamesScreened *int64 `json:"names_screened"`
	Hits          *int64 `json:"hits"`
	// QueuePosition is 1 for the batch that gets the next slot; null if the batch does not wait for one.
	QueuePosition *int64 `json:"queue_position"`
}

// StatusAt is an entry of the history.
type StatusAt struct {
	Status batch.Status `json:"status"`
	At     time.Time    `json:"at"`
}

// Counts are numbers of transactions of a batch; each is null until it is known.
type Counts struct {
	Total    *int64 `json:"total"`
	Accepted *int64 `json:"accepted"`
	Invalid  *int64 `json:"invalid"`
	Ingested *int64 `json:"ingested"`
}

// newStatusReply returns the status record of a batch that has a visible status.
func newStatusReply(b batch.Batch, counts Counts, bytesDone int64, position *int64) StatusReply {
	out := StatusReply{
		BatchID: b.ID, Status: b.Status, ErrorMessage: b.ErrorMessage, Metadata: b.Metadata, ClientID: b.Client,
		CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt, History: []StatusAt{},
		RejectOnInvalid: b.RejectOnInvalid, ValidateOnly: b.ValidateOnly, Counts: counts, BytesTotal: b.Source().Size,
		BytesDone: bytesDone, QueuePosition: position,
	}
	if !b.ReceivedAt.IsZero() {
		out.ReceivedAt = &b.ReceivedAt
	}
	if b.Name != "" {
		out.Name = &b.Name
	}
	for _, entry := range b.History {
		out.History = append(out.History, StatusAt(entry))
	}
	if l := b.MaxRejected; l != nil && l.Share != "" {
		out.MaxRejected = l.Share
	} else if l != nil {
		out.MaxRejected = l.Lines
	}
	out.ContentEncoding = cmp.Or(b.Encoding, b.Declared.Encoding, batch.Identity)
	if b.DuplicateOf != "" {
		out.DuplicateOf = &b.DuplicateOf
	}
	if b.Verdict != nil && b.Verdict.Screening != nil {
		out.NamesScreened, out.Hits = &b.Verdict.Screening.Names, &b.Verdict.Screening.Hits
	}
	return out
}
