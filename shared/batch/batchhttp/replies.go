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
	// Name and Metadata are absent if the batch has none.
	Name     string            `json:"name,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// Status reports the status of a batch: 200 with a StatusReply, or 202 with a PendingReply while there is none.
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
		return accepted(PendingReply{message, b.ID, position, b.Name, b.Metadata}), nil
	}
	counts, bytesDone, err := s.progress(ctx, b)
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Reply{Body: newStatusReply(b, counts, bytesDone, position)}, nil
}

// pendingMessage says what a batch in a status that is not visible waits for; empty for any other.
func pendingMessage(s batch.Status) string {
	switch s {
	case batch.AwaitingUpload:
		return "Batch not yet uploaded completely."
	case batch.Uploaded:
		return "Batch not yet processed."
	}
	return ""
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
		*counts.Ingested = b.Ingested()
		return counts, b.Source().Size
	case batch.ValidationFailed:
		return counts, b.Source().Size
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
	// ValidateOnly is absent if it is false, and Name and Metadata if the batch has none.
	ValidateOnly bool              `json:"validate_only,omitempty"`
	Name         string            `json:"name,omitempty"`
	Metadata     map[string]string `json:"metadata,omitempty"`
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
	out.ValidateOnly, out.Name, out.Metadata = b.ValidateOnly, b.Name, b.Metadata
	return httpapi.Reply{Body: out}, err
}

// result describes the outcome of validation of a batch that has a verdict or has failed. A batch that failed before
// its verdict was known, or was cancelled, says nothing about its lines. One that failed later keeps its verdict and its
// report.
func (s *Batches) result(ctx context.Context, b batch.Batch) (ResultReply, error) {
	if b.Verdict == nil || b.IsCancelled() {
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
	case b.Verdict.Valid() && b.IsRejectedAsDuplicate(): // the message says why, and no line is in the report
		return out, nil
	case b.Verdict.Valid():
		*out.Valid = true
		out.Message = "Batch validated successfully." + whyNotIngested(b)
		return out, nil
	case b.Verdict.Outcome == batch.TooManyTransactions || b.Verdict.Total == 0: // no line of a report could say why
		return out, nil
	case s.ReportDays > 0 && s.Now().After(b.UpdatedAt.AddDate(0, 0, s.ReportDays)):
		out.Message = fmt.Sprintf("Batch validated with errors.%s Its report was kept for %s and has been deleted.",
			whyNotIngested(b), days(s.ReportDays))
		return out, nil
	}
	file := objects.Download{FileName: "batch-" + string(b.ID) + "-errors.jsonl", MediaType: "application/x-ndjson"}
	signed, err := s.Reports.SignGet(ctx, b.Verdict.ReportKey, file, s.DownloadLifetime)
	if err != nil {
		return ResultReply{}, err
	}
	if !b.IsRejectedAsDuplicate() {
		out.Message = "Batch validated with errors." + whyNotIngested(b)
	}
	out.ErrorsFileURL, out.ErrorsFileExpires = signed.URL, &signed.Expires
	return out, nil
}

// whyNotIngested adds to a message that nothing was ingested because the client wanted it so.
func whyNotIngested(b batch.Batch) string {
	if b.Status == batch.Processed && b.ValidateOnly {
		return " Nothing was ingested, because validate_only is true."
	}
	return ""
}

func days(n int) string {
	if n == 1 {
		return "1 day"
	}
	return fmt.Sprintf("%d days", n)
}

// accepted is a reply about something that has not finished yet.
func accepted(body any) httpapi.Reply { return httpapi.Reply{Status: http.StatusAccepted, Body: body} }
