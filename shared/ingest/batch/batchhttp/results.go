package batchhttp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/report"
	"sluice/shared/kit/objects"
)

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
		return accepted(wire.ValidationPending{Message: message}), nil
	}
	out, err := s.result(ctx, b)
	out.ValidateOnly, out.Name, out.Metadata = b.ValidateOnly, shownName(b), b.Metadata
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
func (s *Batches) result(ctx context.Context, b batch.Batch) (wire.ValidationResult, error) {
	if b.Verdict == nil || b.IsCancelled() {
		return wire.ValidationResult{Message: b.ErrorMessage}, nil
	}
	out, err := s.verdict(ctx, b)
	if b.Status == batch.Failed {
		out.Message = b.ErrorMessage
	}
	return out, err
}

// verdict describes the verdict of a batch, with the URLs of its files if there are any.
func (s *Batches) verdict(ctx context.Context, b batch.Batch) (wire.ValidationResult, error) {
	v := b.Verdict
	valid := v.Valid() && !b.IsRejectedAsDuplicate()
	out := wire.ValidationResult{Message: b.ErrorMessage, Valid: &valid}
	counts, _, err := s.progress(ctx, b)
	if err != nil {
		return wire.ValidationResult{}, err
	}
	out.Counts = &counts
	if v.Outcome == batch.Judged {
		complete := !v.ReportShortened
		out.ReportComplete, out.Summary = &complete, []wire.ErrorSummary{}
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
		return wire.ValidationResult{}, err
	}
	out.Summary, err = s.summary(ctx, *v)
	return out, err
}

// signReports signs the URLs of the report, of the same as CSV and of the rejected lines.
func (s *Batches) signReports(ctx context.Context, b batch.Batch, out *wire.ValidationResult) error {
	const jsonLines = "application/x-ndjson"
	sign := func(key, name, mediaType string) (objects.SignedURL, error) {
		file := objects.Download{FileName: "batch-" + string(b.ID) + "-" + name, MediaType: mediaType}
		return s.Reports.SignGet(ctx, key, file, s.DownloadLifetime)
	}
	errorsFile, err := sign(b.Verdict.ReportKey, "errors.jsonl", jsonLines)
	if err != nil {
		return err
	}
	out.ErrorsFileURL, out.ErrorsFileURLExpiresAt = errorsFile.URL, errorsFile.Expires
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
func (s *Batches) summary(ctx context.Context, v batch.Verdict) ([]wire.ErrorSummary, error) {
	body, err := s.Reports.Open(ctx, v.SummaryKey, "", 0, -1)
	if objects.IsGone(err) {
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
	var out []wire.ErrorSummary
	for _, e := range sum.Entries() {
		out = append(out, wire.ErrorSummary{Code: string(e.Code), Field: e.Field, Count: e.Count, Share: e.Share,
			FirstLines: e.FirstLines})
	}
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
