package batchhttp

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"sluice/shared/batch"
	"sluice/shared/httpapi"
)

// ResultReply is the outcome of validation. Valid is null until there is one; the URL is there only when it is false and
// there is a report.
type ResultReply struct {
	Message           string     `json:"message"`
	Valid             *bool      `json:"valid"`
	ErrorsFileURL     string     `json:"errors_file_url,omitempty"`
	ErrorsFileExpires *time.Time `json:"errors_file_url_expires_at,omitempty"`
	Counts            *Counts    `json:"counts,omitempty"`
}

// ValidationResult tells whether the file was valid and, if not, where its report is: the URL is signed anew on each call.
func (s *Batches) ValidationResult(ctx context.Context, caller httpapi.Caller, id string) (httpapi.Reply, error) {
	b, err := s.find(ctx, caller, id)
	if err != nil {
		return httpapi.Reply{}, err
	}
	no, yes := false, true
	switch {
	case b.Status == batch.Failed && b.Verdict == nil:
		return ok(ResultReply{Message: b.ErrorMessage, Valid: &no}), nil
	case b.Verdict == nil && b.Status == batch.AwaitingUpload:
		return pending("Batch not yet uploaded completely."), nil
	case b.Verdict == nil:
		return pending("Batch not yet validated."), nil
	}
	counts := Counts{Total: &b.Verdict.Total, Accepted: &b.Verdict.Accepted, Invalid: &b.Verdict.Invalid}
	if b.Status == batch.Failed {
		return ok(ResultReply{Message: b.ErrorMessage, Valid: &no, Counts: &counts}), nil
	}
	if b.Verdict.Valid() {
		return ok(ResultReply{Message: "Batch validated successfully.", Valid: &yes, Counts: &counts}), nil
	}
	if b.Verdict.Outcome == batch.TooManyTransactions {
		return ok(ResultReply{Message: b.ErrorMessage, Valid: &no, Counts: &counts}), nil
	}
	if s.ReportDays > 0 && s.Now().After(b.UpdatedAt.AddDate(0, 0, s.ReportDays)) {
		message := fmt.Sprintf("Batch validated with errors. Its report was kept for %d days and is gone.", s.ReportDays)
		return ok(ResultReply{Message: message, Valid: &no, Counts: &counts}), nil
	}
	signed, err := s.Reports.SignGet(ctx, b.Verdict.ReportKey, "batch-"+string(b.ID)+"-errors.jsonl", s.DownloadLifetime)
	if err != nil {
		return httpapi.Reply{}, err
	}
	return ok(ResultReply{"Batch validated with errors.", &no, signed.URL, &signed.Expires, &counts}), nil
}

func ok(r ResultReply) httpapi.Reply { return httpapi.Reply{Status: http.StatusOK, Body: r} }

func pending(message string) httpapi.Reply {
	return httpapi.Reply{Status: http.StatusAccepted, Body: ResultReply{Message: message}}
}
