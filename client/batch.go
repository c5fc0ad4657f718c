package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Values of Status.Status. PROCESSED, VALIDATION_FAILED and ERROR are final.
const (
	ValidationStarted = "VALIDATION_STARTED"
	ValidationFailed  = "VALIDATION_FAILED"
	PendingIngestion  = "PENDING_INGESTION"
	Initialized       = "INITIALIZED"
	InProgress        = "IN_PROGRESS"
	Processed         = "PROCESSED"
	Failed            = "ERROR"
)

// Upload is where the file of a new batch goes.
type Upload struct {
	BatchID         string            `json:"batch_id"`
	URL             string            `json:"url"` // a secret: it lets anybody upload
	Method          string            `json:"method"`
	RequiredHeaders map[string]string `json:"required_headers"`
	ExpiresAt       time.Time         `json:"expires_at"`
	MaxBytes        int64             `json:"max_bytes"`
}

// Status tells where a batch stands. Before validation Status is "" and Message says what is awaited.
type Status struct {
	BatchID         string    `json:"batch_id"`
	Status          string    `json:"status"`
	Message         string    `json:"message,omitempty"`
	ErrorMessage    string    `json:"error_message"`
	CreatedAt       time.Time `json:"created_at"`
	UpdatedAt       time.Time `json:"updated_at"`
	ReceivedAt      time.Time `json:"received_at"`
	RejectOnInvalid bool      `json:"reject_on_invalid"`
	Counts          Counts    `json:"counts"`
	BytesTotal      int64     `json:"bytes_total"`
	BytesDone       int64     `json:"bytes_done"` // of the pass that runs: validation, then ingestion
}

// Final reports whether the batch will not move any more.
func (s Status) Final() bool {
	return s.Status == Processed || s.Status == ValidationFailed || s.Status == Failed
}

// Counts are numbers of transactions, nil until known.
type Counts struct {
	Total    *int64 `json:"total"`
	Accepted *int64 `json:"accepted"`
	Invalid  *int64 `json:"invalid"`
	Ingested *int64 `json:"ingested"`
}

// Result is the outcome of validation. Valid is nil while there is none.
type Result struct {
	Message           string    `json:"message"`
	Valid             *bool     `json:"valid"`
	ErrorsFileURL     string    `json:"errors_file_url,omitempty"` // a secret, signed anew by each call; "" without a report
	ErrorsFileExpires time.Time `json:"errors_file_url_expires_at,omitzero"`
	Counts            Counts    `json:"counts"`
}

// Transaction is a stored transaction with the newest version of each of its modifications.
type Transaction struct {
	TransactionExternalID string         `json:"transaction_external_id"`
	Modifications         []Modification `json:"modifications"`
	NextAfter             string         `json:"next_after,omitempty"` // "" in what Client.Transaction returns, which reads on
}

// Modification is one line of a batch, as it was sent.
type Modification struct {
	ModificationExternalID string          `json:"modification_external_id"`
	BatchID                string          `json:"batch_id"`
	Line                   int64           `json:"line"` // in the file, from 1
	ReceivedAt             time.Time       `json:"received_at"`
	MainEntity             *MainEntity     `json:"main_entity"`
	Transaction            json.RawMessage `json:"transaction"`
}

// MainEntity is the onboarded entity that a transaction is about.
type MainEntity struct {
	Role         string `json:"role"`
	ByExternalID string `json:"by_external_id"`
}

// NewUpload makes a batch. With rejectOnInvalid one invalid line rejects all of it; otherwise invalid lines are dropped.
func (c *Client) NewUpload(ctx context.Context, rejectOnInvalid bool) (Upload, error) {
	var out Upload
	in := map[string]bool{"reject_on_invalid": rejectOnInvalid}
	_, err := c.call(ctx, http.MethodPost, basePath+"batch/generate-upload-url", in, &out)
	return out, err
}

// Status reads the status of a batch.
func (c *Client) Status(ctx context.Context, batchID string) (Status, error) {
	var out Status
	_, err := c.call(ctx, http.MethodGet, basePath+"batch/status/"+url.PathEscape(batchID), nil, &out)
	return out, err
}

// ValidationResult reads the outcome of a batch's validation.
func (c *Client) ValidationResult(ctx context.Context, batchID string) (Result, error) {
	var out Result
	_, err := c.call(ctx, http.MethodGet, basePath+"batch/validation-result/"+url.PathEscape(batchID), nil, &out)
	return out, err
}

// Transaction reads a stored transaction. One of a batch that is not PROCESSED is a 404 *Error.
func (c *Client) Transaction(ctx context.Context, id string) (Transaction, error) {
	var all Transaction
	for after := ""; ; {
		path := basePath + url.PathEscape(id)
		if after != "" {
			path += "?after=" + url.QueryEscape(after)
		}
		var page Transaction
		if _, err := c.call(ctx, http.MethodGet, path, nil, &page); err != nil {
			return Transaction{}, err
		}
		all.TransactionExternalID = page.TransactionExternalID
		all.Modifications = append(all.Modifications, page.Modifications...)
		if after = page.NextAfter; after == "" {
			return all, nil
		}
	}
}

// Pace says how long to wait after the n-th reading of a status, from 1.
type Pace func(n int) time.Duration

// Gently is quick while a small batch may end, and stays below the 120 readings a minute that a tenant has.
func Gently(n int) time.Duration {
	if n <= 25 {
		return 200 * time.Millisecond
	}
	return time.Second
}

// Follow reads the status of a batch until it is final. Each status read is passed to seen.
func (c *Client) Follow(ctx context.Context, batchID string, pace Pace, seen func(Status)) (Status, error) {
	for n := 1; ; n++ {
		s, err := c.Status(ctx, batchID)
		if err != nil {
			return s, err
		}
		seen(s)
		if s.Final() {
			return s, nil
		}
		if err := c.config.Pause(ctx, pace(n)); err != nil {
			return s, err
		}
	}
}

// Report opens the report behind a result's ErrorsFileURL: JSON Lines of ReportLine. The caller closes it.
func (c *Client) Report(ctx context.Context, address string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
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

// ReportLine is one rejected line.
type ReportLine struct {
	Line                   int64         `json:"line"` // in the file, from 1
	RequestUUID            *string       `json:"request_uuid"`
	TransactionExternalID  *string       `json:"transaction_external_id"`
	ModificationExternalID *string       `json:"modification_external_id"` // IDs are nil where the line gives none that can be read
	Errors                 []ReportError `json:"errors"`
	ErrorsDropped          int64         `json:"errors_dropped,omitempty"` // errors beyond those listed
}

// ReportError is one error of a line.
type ReportError struct {
	Detail
	Pointer         string  `json:"pointer"` // RFC 6901, "" for the line itself
	Offset          int64   `json:"offset"`  // byte in the file, from 0
	OtherLines      []int64 `json:"other_lines,omitempty"`
	OtherLinesTotal int64   `json:"other_lines_total,omitempty"`
}
