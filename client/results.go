package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"time"

	"sluice/openapi/wire"
)

// ValidationResult is the outcome of validation.
type ValidationResult struct {
	// Message says it for people.
	Message string `json:"message"`
	// Valid is whether all transactions are valid; nil until validation is complete, and of a batch in StatusError.
	Valid *bool `json:"valid"`
	// ErrorsFileURL is where OpenReport finds the report of invalid lines; "" if there is none. It is a secret, and
	// each call returns a new one.
	ErrorsFileURL string `json:"errors_file_url,omitempty"`
	// ErrorsFileExpires is when ErrorsFileURL stops working.
	ErrorsFileExpires time.Time `json:"errors_file_url_expires_at,omitzero"`
	// ReportComplete is false if the report passed its limit, so that its last lines have ReportLine.Codes in place of
	// errors; nil if there is no report.
	ReportComplete *bool `json:"report_complete,omitempty"`
	// Summary is what is wrong with the lines, by code and field, the most frequent first; nil if the lines were not
	// judged, and once the report is deleted.
	Summary []ErrorSummary `json:"summary"`
	// ErrorsCSVURL is where OpenCSV finds the report as CSV, and RejectedFileURL where OpenRejected finds the rejected
	// lines; "" if there are none. They are like ErrorsFileURL and expire with it.
	ErrorsCSVURL    string `json:"errors_csv_url,omitempty"`
	RejectedFileURL string `json:"rejected_file_url,omitempty"`
	// RejectedLeftOut is the number of rejected lines that are not at RejectedFileURL, because they are too long; nil
	// if it is not known.
	RejectedLeftOut *int64 `json:"rejected_left_out"`
	// ReceiptURL and ParquetURL are where the receipt and the accepted lines as Parquet are; "" while they are not.
	ReceiptURL string `json:"receipt_url,omitempty"`
	ParquetURL string `json:"parquet_url,omitempty"`
	// Counts are the numbers of transactions.
	Counts Counts `json:"counts"`
	// ValidateOnly, Name and Metadata are those of the UploadOptions.
	ValidateOnly bool              `json:"validate_only,omitempty"`
	Name         string            `json:"name,omitempty"`
	Metadata     map[string]string `json:"metadata,omitempty"`

	// Pending means that validation is not complete: Message says what the service waits for.
	Pending bool `json:"-"`
	// Reply is the service's reply, byte for byte. It may have fields that this type does not.
	Reply json.RawMessage `json:"-"`
}

// keepReply keeps the reply, and that a 202 has no result yet.
func (r *ValidationResult) keepReply(status int, text []byte) {
	r.Reply, r.Pending = text, status == http.StatusAccepted
}

// ErrorSummary is how often an error occurs in a batch.
type ErrorSummary = wire.ErrorSummary

// ReportLine is one invalid line: one line of the report.
type ReportLine struct {
	// Line is its number in the file, from 1.
	Line int64 `json:"line"`
	// RequestUUID, TransactionExternalID and ModificationExternalID are the line's IDs; nil where it has none that can
	// be read.
	RequestUUID            *string `json:"request_uuid"`
	TransactionExternalID  *string `json:"transaction_external_id"`
	ModificationExternalID *string `json:"modification_external_id"`
	// Errors are what is wrong with the line, and ErrorsDropped is how many more errors it has than are listed.
	Errors        []ReportError `json:"errors"`
	ErrorsDropped int64         `json:"errors_dropped,omitempty"`
	// Codes are the codes of the line's errors, each once, in place of Errors in the short entries that end a report
	// beyond its limit.
	Codes []string `json:"codes,omitempty"`
}

// ReportError is one error of a line.
type ReportError struct {
	Detail
	// Pointer is the JSON pointer (RFC 6901) of the value; "" for the line itself.
	Pointer string `json:"pointer"`
	// Offset is the position of the error in the file, in bytes from 0.
	Offset int64 `json:"offset"`
	// OtherLines are the first lines, of OtherLinesTotal, that have the same modification ID.
	OtherLines      []int64 `json:"other_lines,omitempty"`
	OtherLinesTotal int64   `json:"other_lines_total,omitempty"`
}

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
