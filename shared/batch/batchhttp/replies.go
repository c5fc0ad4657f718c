package batchhttp

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"sluice/shared/batch"
	"sluice/shared/httpapi"
	"sluice/shared/objects"
)

// PendingReply is the reply about a batch that has no status to report yet.
type PendingReply struct {
	Message string   `json:"message"`
	BatchID batch.ID `json:"batch_id"`
	// QueuePosition is that of StatusReply.
	QueuePosition *int64 `json:"queue_position"`
}

// StatusReply is the status record of a batch. Times are RFC 3339 in UTC.
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
	// BytesDone counts the bytes of the current pass: validation until PENDING_INGESTION, ingestion after it.
	BytesDone int64 `json:"bytes_done"`
	// NamesScreened and Hits are null until they are known, and always if names are not screened.
	NamesScreened *int64 `json:"names_screened"`
	Hits          *int64 `json:"hits"`
	// QueuePosition is 1 for the batch that gets the next slot; null if the batch does not wait for one.
	QueuePosition *int64 `json:"queue_position"`
}

// Counts are numbers of transactions of a batch; each is null until it is known.
type Counts struct {
	Total    *int64 `json:"total"`
	Accepted *int64 `json:"accepted"`
	Invalid  *int64 `json:"invalid"`
	Ingested *int64 `json:"ingested"`
}

// Status reports the status of a batch: 200 with a StatusReply, or 202 with a PendingReply while there is none.
func (s *Batches) Status(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	b, err := s.find(ctx, caller, r)
	if err != nil {
		return httpapi.Reply{}, err
	}
	position, err := s.queuePosition(ctx, b)
	if err != nil {
		return httpapi.Reply{}, err
	}
	switch b.Status {
	case batch.AwaitingUpload:
		return accepted(PendingReply{"Batch not yet uploaded completely.", b.ID, position}), nil
	case batch.Uploaded:
		return accepted(PendingReply{"Batch not yet processed.", b.ID, position}), nil
	}
	out := StatusReply{
		QueuePosition: position,
		BatchID:       b.ID, Status: b.Status, ErrorMessage: b.ErrorMessage, RejectOnInvalid: b.RejectOnInvalid,
		CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt, ReceivedAt: b.ReceivedAt, BytesTotal: b.Object.Size,
	}
	if out.Counts, out.BytesDone, err = s.progress(ctx, b); err != nil {
		return httpapi.Reply{}, err
	}
	if b.Verdict != nil && b.Verdict.Screening != nil {
		out.NamesScreened, out.Hits = &b.Verdict.Screening.Names, &b.Verdict.Screening.Hits
	}
	return httpapi.Reply{Body: out}, nil
}

// queuePosition returns the position of a batch that waits for a slot, nil for any other.
func (s *Batches) queuePosition(ctx context.Context, b batch.Batch) (*int64, error) {
	position, isWaiting, err := s.Positions.Of(ctx, b)
	if err != nil || !isWaiting {
		return nil, err
	}
	return &position, nil
}

// progress returns the counts of a batch and how many bytes of the current pass are done.
func (s *Batches) progress(ctx context.Context, b batch.Batch) (Counts, int64, error) {
	var chunks []batch.Chunk
	if !b.Status.IsTerminal() { // afterwards the row of the batch has all that is told, and those of the chunks expire
		var err error
		if chunks, err = s.Store.Chunks(ctx, b.ID); err != nil {
			return Counts{}, 0, err
		}
	}
	counts, bytesDone := sumUp(b, chunks)
	return counts, bytesDone, nil
}

// sumUp adds up the chunk rows. A sum over rows that are each written once cannot count anything twice.
func sumUp(b batch.Batch, chunks []batch.Chunk) (counts Counts, bytesDone int64) {
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
		return counts, ingestedBytes
	case batch.Failed:
		return counts, 0 // whatever was written, no transaction of a failed batch is visible
	}
	return counts, validatedBytes
}

// ResultReply is the outcome of validation.
type ResultReply struct {
	Message string `json:"message"`
	// Valid is null until validation has finished.
	Valid *bool `json:"valid"`
	// ErrorsFileURL is present if Valid is false and there is a report. It is signed anew for each reply.
	ErrorsFileURL     string     `json:"errors_file_url,omitempty"`
	ErrorsFileExpires *time.Time `json:"errors_file_url_expires_at,omitempty"`
	// ReportComplete is false if the last entries of the report are short. It is absent where no report was written.
	ReportComplete *bool   `json:"report_complete,omitempty"`
	Counts         *Counts `json:"counts,omitempty"`
}

// ValidationResult reports whether the file was valid and, if not, where its report is: 200, or 202 while validation
// has not finished.
func (s *Batches) ValidationResult(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	b, err := s.find(ctx, caller, r)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if b.Verdict == nil && b.Status != batch.Failed {
		message := "Batch not yet validated."
		if b.Status == batch.AwaitingUpload {
			message = "Batch not yet uploaded completely."
		}
		return accepted(ResultReply{Message: message}), nil
	}
	out, err := s.result(ctx, b)
	return httpapi.Reply{Body: out}, err
}

// result describes the outcome of validation of a batch that has a verdict or has failed. A batch that failed before
// its verdict was known says nothing about its lines. One that failed later keeps its verdict and its report.
func (s *Batches) result(ctx context.Context, b batch.Batch) (ResultReply, error) {
	if b.Verdict == nil {
		return ResultReply{Message: b.ErrorMessage}, nil
	}
	out, err := s.verdict(ctx, b)
	if b.Status == batch.Failed {
		out.Message = b.ErrorMessage
	}
	return out, err
}

// verdict describes the verdict of a batch, with the URL of its report if there is one.
func (s *Batches) verdict(ctx context.Context, b batch.Batch) (ResultReply, error) {
	out := ResultReply{Message: b.ErrorMessage, Valid: new(bool)}
	counts, _, err := s.progress(ctx, b)
	if err != nil {
		return ResultReply{}, err
	}
	out.Counts = &counts
	if b.Verdict.Outcome == batch.Judged {
		complete := !b.Verdict.ReportShortened
		out.ReportComplete = &complete
	}
	switch {
	case b.Verdict.Valid():
		*out.Valid = true
		out.Message = "Batch validated successfully."
		return out, nil
	case b.Verdict.Outcome == batch.TooManyTransactions || b.Verdict.Total == 0: // no line of a report could say why
		return out, nil
	case s.ReportDays > 0 && s.Now().After(b.UpdatedAt.AddDate(0, 0, s.ReportDays)):
		out.Message = fmt.Sprintf("Batch validated with errors. Its report was kept for %s and has been deleted.",
			days(s.ReportDays))
		return out, nil
	}
	file := objects.Download{FileName: "batch-" + string(b.ID) + "-errors.jsonl", MediaType: "application/x-ndjson"}
	signed, err := s.Reports.SignGet(ctx, b.Verdict.ReportKey, file, s.DownloadLifetime)
	if err != nil {
		return ResultReply{}, err
	}
	out.Message, out.ErrorsFileURL, out.ErrorsFileExpires = "Batch validated with errors.", signed.URL, &signed.Expires
	return out, nil
}

func days(n int) string {
	if n == 1 {
		return "1 day"
	}
	return fmt.Sprintf("%d days", n)
}

// accepted is a reply about something that has not finished yet.
func accepted(body any) httpapi.Reply { return httpapi.Reply{Status: http.StatusAccepted, Body: body} }
