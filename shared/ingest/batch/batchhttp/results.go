package batchhttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/report"
	"sluice/shared/kit/objects"
)

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
	// Summary has the errors of the lines by descending frequency; null if the lines were not judged, and once the
	// report is deleted.
	Summary []report.Entry `json:"summary"`
	// ErrorsCSVURL and RejectedFileURL are those of the report as CSV and of the rejected lines; null if there is none.
	// They expire with ErrorsFileURL.
	ErrorsCSVURL    *string `json:"errors_csv_url"`
	RejectedFileURL *string `json:"rejected_file_url"`
	// RejectedLeftOut is the number of rejected lines that are not in that file, because they are too long;
	// null if it is not known.
	RejectedLeftOut *int64 `json:"rejected_left_out"`
	// ReceiptURL is where the receipt is, which needs a token as this reply does; null until the batch has ended.
	// ParquetURL is null while there is nothing at it, and signed anew for each reply.
	ReceiptURL *string `json:"receipt_url"`
	ParquetURL *string `json:"parquet_url"`
	// ValidateOnly is absent if it is false, and Name and Metadata if the batch has none.
	ValidateOnly bool              `json:"validate_only,omitempty"`
	Name         string            `json:"name,omitempty"`
	Metadata     map[string]string `json:"metadata,omitempty"`
}

// PendingResultReply is the reply while validation has not finished. Valid is null.
type PendingResultReply struct {
	Message string `json:"message"`
	Valid   *bool  `json:"valid"`
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
		return accepted(PendingResultReply{Message: message}), nil
	}
	out, err := s.result(ctx, b)
	out.ValidateOnly, out.Name, out.Metadata = b.ValidateOnly, b.Name, b.Metadata
	out.ReceiptURL = receiptURL(r, b)
	if err == nil {
		out.ParquetURL, err = s.parquetURL(ctx, b)
	}
	return httpapi.Reply{Body: out}, err
}

// receiptURL returns the URL of the receipt of a batch, at the address under which the request arrived; nil if the
// batch has not ended.
func receiptURL(r *http.Request, b batch.Batch) *string {
	if !b.Status.IsTerminal() {
		return nil
	}
	gateway := httpapi.GatewayOf(r.Context())
	url := httpapi.APIURL("", gateway.DomainName, gateway.Stage) + receiptPath + string(b.ID)
	if r.Header.Get("X-Forwarded-Proto") == "http" { // the local cloud; API Gateway is called by HTTPS only
		url = "http" + strings.TrimPrefix(url, "https")
	}
	return &url
}

// parquetURL signs the URL of the Parquet file of a batch; nil if it is not written, or not kept any more.
func (s *Batches) parquetURL(ctx context.Context, b batch.Batch) (*string, error) {
	if b.ParquetKey == "" || s.ParquetDays > 0 && s.Now().After(b.UpdatedAt.AddDate(0, 0, s.ParquetDays)) {
		return nil, nil
	}
	file := objects.Download{FileName: "batch-" + string(b.ID) + ".parquet",
		MediaType: "application/vnd.apache.parquet"}
	signed, err := s.Exports.SignGet(ctx, b.ParquetKey, file, s.DownloadLifetime)
	return &signed.URL, err
}

// result describes the outcome of validation of a batch that has a verdict or has failed. A batch that failed before
// its verdict was known, or was cancelled, says nothing about its lines. One that failed later keeps its verdict and
// its report.
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

// verdict describes the verdict of a batch, with the URLs of its files if there are any.
func (s *Batches) verdict(ctx context.Context, b batch.Batch) (ResultReply, error) {
	v := b.Verdict
	valid := v.Valid() && !b.IsRejectedAsDuplicate()
	out := ResultReply{Message: b.ErrorMessage, Valid: &valid}
	counts, _, err := s.progress(ctx, b)
	if err != nil {
		return ResultReply{}, err
	}
	out.Counts = &counts
	if v.Outcome == batch.Judged {
		complete := !v.ReportShortened
		out.ReportComplete, out.Summary = &complete, []report.Entry{}
		if v.Invalid == 0 || v.CSVKey != "" { // otherwise a release judged it that did not count them
			out.RejectedLeftOut = &v.RejectedLeftOut
		}
	}
	switch {
	case valid:
		out.Message = "Batch validated successfully." + whyNotIngested(b)
		return out, nil
	case v.Valid(): // a duplicate: the message says why, and no line is in the report
		return out, nil
	case v.Outcome == batch.TooManyTransactions || v.Total == 0: // no line of a report could say why
		return out, nil
	case s.ReportDays > 0 && s.Now().After(b.UpdatedAt.AddDate(0, 0, s.ReportDays)):
		out.Message = fmt.Sprintf("Batch validated with errors.%s Its report was kept for %s and has been deleted.",
			whyNotIngested(b), days(s.ReportDays))
		out.Summary = nil
		return out, nil
	}
	if !b.IsRejectedAsDuplicate() {
		out.Message = "Batch validated with errors." + whyNotIngested(b)
	}
	if err := s.signReports(ctx, b, &out); err != nil {
		return ResultReply{}, err
	}
	out.Summary, err = s.summary(ctx, *v)
	return out, err
}

// signReports signs the URLs of the report, of the same as CSV and of the rejected lines.
func (s *Batches) signReports(ctx context.Context, b batch.Batch, out *ResultReply) error {
	const jsonLines = "application/x-ndjson"
	sign := func(key, name, mediaType string) (objects.SignedURL, error) {
		file := objects.Download{FileName: "batch-" + string(b.ID) + "-" + name, MediaType: mediaType}
		return s.Reports.SignGet(ctx, key, file, s.DownloadLifetime)
	}
	errorsFile, err := sign(b.Verdict.ReportKey, "errors.jsonl", jsonLines)
	if err != nil {
		return err
	}
	out.ErrorsFileURL, out.ErrorsFileExpires = errorsFile.URL, &errorsFile.Expires
	if b.Verdict.CSVKey != "" {
		csv, err := sign(b.Verdict.CSVKey, "errors.csv", "text/csv; charset=utf-8")
		if err != nil {
			return err
		}
		out.ErrorsCSVURL = &csv.URL
	}
	if b.Verdict.RejectedKey != "" {
		rejected, err := sign(b.Verdict.RejectedKey, "rejected.jsonl", jsonLines)
		if err != nil {
			return err
		}
		out.RejectedFileURL = &rejected.URL
	}
	return nil
}

// summary reads the summary of the errors of the lines of a batch. It returns nil if the summary of the report does not
// divide the errors by field, as those of earlier releases, or is deleted.
func (s *Batches) summary(ctx context.Context, v batch.Verdict) ([]report.Entry, error) {
	body, err := s.Reports.Open(ctx, v.SummaryKey, "", 0, -1)
	if errors.Is(err, objects.ErrNotFound) || errors.Is(err, objects.ErrDenied) { // S3 denies missing objects
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var sum report.Summary
	if err := json.NewDecoder(body).Decode(&sum); err != nil {
		return nil, fmt.Errorf("read summary of the report: %w", err)
	}
	if len(sum.Fields) == 0 {
		return nil, nil
	}
	return sum.Entries(), nil
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
