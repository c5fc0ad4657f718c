package client

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"sluice/openapi/wire"
)

// ValidationResult is the outcome of validation. ErrorsFileURL is where OpenReport finds the report of invalid lines,
// ErrorsCSVURL where OpenCSV finds it as CSV, and RejectedFileURL where OpenRejected finds the rejected lines. These
// URLs are secrets, and each call returns new ones.
type ValidationResult struct {
	wire.ValidationResult
	Original
	// Pending means that validation is not complete: Message is the service's reason to wait.
	Pending bool `json:"-"`
}

// keepReply keeps the reply, and that a 202 has no result yet.
func (r *ValidationResult) keepReply(status int, text []byte) {
	r.Original.keepReply(status, text)
	r.Pending = status == http.StatusAccepted
}

// ErrorSummary is how often an error occurs in a batch.
type ErrorSummary = wire.ErrorSummary

// ReportLine is one invalid line: one line of the report.
type ReportLine = wire.ReportLine

// ReportError is one error of a line.
type ReportError = wire.ReportError

// ValidationResult reads the outcome of a batch's validation. An unknown batch is a 404 *Error.
func (c *Client) ValidationResult(ctx context.Context, batchID string) (ValidationResult, error) {
	var out ValidationResult
	err := c.call(ctx, http.MethodGet, basePath+"batch/validation-result/"+url.PathEscape(batchID), nil, &out)
	return out, err
}

// OpenReport opens the report at a ValidationResult's ErrorsFileURL: JSON Lines, one ReportLine for each invalid line,
// in the order of the file. The caller closes it. An expired URL is a 403 *StorageError.
func (c *Client) OpenReport(ctx context.Context, errorsFileURL string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, errorsFileURL, nil)
	if err != nil {
		return nil, unreachable(err)
	}
	resp, err := c.config.HTTP.Do(req)
	if err != nil {
		return nil, unreachable(err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		return nil, newStorageError(resp, text)
	}
	return resp.Body, nil
}

// OpenCSV opens the report as CSV (RFC 4180) at a ValidationResult's ErrorsCSVURL. An apostrophe at the beginning of a
// cell is not part of it. The caller closes it. An expired URL is a 403 *StorageError.
func (c *Client) OpenCSV(ctx context.Context, errorsCSVURL string) (io.ReadCloser, error) {
	return c.OpenReport(ctx, errorsCSVURL)
}

// OpenRejected opens the rejected lines at a ValidationResult's RejectedFileURL, as they were sent. The caller closes
// it. An expired URL is a 403 *StorageError.
func (c *Client) OpenRejected(ctx context.Context, rejectedFileURL string) (io.ReadCloser, error) {
	return c.OpenReport(ctx, rejectedFileURL)
}
