package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Values of Status.Status. StatusProcessed, StatusValidationFailed and StatusError are terminal.
const (
	// StatusValidationStarted means that the upload passed the malware scan and its lines are being validated.
	StatusValidationStarted = "VALIDATION_STARTED"
	// StatusValidationFailed means that invalid lines, or the lack of lines, rejected the batch. Nothing of it is
	// stored.
	StatusValidationFailed = "VALIDATION_FAILED"
	// StatusPendingIngestion means that validation is complete and the batch waits for ingestion.
	StatusPendingIngestion = "PENDING_INGESTION"
	// StatusInitialized means that the batch was admitted to ingestion.
	StatusInitialized = "INITIALIZED"
	// StatusInProgress means that the accepted lines are being stored.
	StatusInProgress = "IN_PROGRESS"
	// StatusProcessed means that every accepted line is stored and can be read.
	StatusProcessed = "PROCESSED"
	// StatusError means that the batch could not be processed; Status.ErrorMessage says why. Nothing of it can be read.
	StatusError = "ERROR"
)

// MessageNotUploaded is Status.Message of a batch whose file has not arrived.
const MessageNotUploaded = "Batch not yet uploaded completely."

// Upload is the permission to upload the file of a new batch. If the batch awaits no upload any more, because it was
// created by an earlier call with the same UploadOptions.IdempotencyKey, only BatchID, MaxBytes and Message are set.
type Upload struct {
	// BatchID is the ID of the batch.
	BatchID string `json:"batch_id"`
	// URL is where the file goes. It is a secret: whoever has it can upload the batch's file.
	URL string `json:"url"`
	// Method is the HTTP method of the upload, always PUT.
	Method string `json:"method"`
	// RequiredHeaders are headers that the upload must have.
	RequiredHeaders map[string]string `json:"required_headers"`
	// UploadID, PartSize and PartCount are those of an upload in parts, which has no URL, Method and RequiredHeaders:
	// UploadParts sends its file.
	UploadID  string `json:"upload_id,omitempty"`
	PartSize  int64  `json:"part_size,omitempty"`
	PartCount int64  `json:"part_count,omitempty"`
	// ExpiresAt is when URL stops working. An upload in parts is given up then, unless a part is sent before.
	ExpiresAt time.Time `json:"expires_at"`
	// MaxBytes is the largest file that the service accepts.
	MaxBytes int64 `json:"max_bytes"`
	// Message says why there is no URL; "" if there is one.
	Message string `json:"message,omitempty"`
	// IgnoredParameters are the options that the service did not know and has ignored.
	IgnoredParameters []string `json:"ignored_parameters,omitempty"`
}

// Status is the state of a batch. Until validation starts Status is "" and Message says what the service waits for; all
// other fields but BatchID, QueuePosition, Name and Metadata are then zero.
type Status struct {
	// BatchID is the ID of the batch.
	BatchID string `json:"batch_id"`
	// Status is one of the constants StatusValidationStarted to StatusError, or "".
	Status string `json:"status"`
	// Message says what the service waits for while Status is "".
	Message string `json:"message,omitempty"`
	// ErrorMessage says why a batch ended in StatusValidationFailed or StatusError.
	ErrorMessage string `json:"error_message"`
	// Name and Metadata are those of the UploadOptions.
	Name     string            `json:"name,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	// ClientID is the client that asked for the upload URL.
	ClientID string `json:"client_id,omitempty"`
	// CreatedAt is when the batch was created, and UpdatedAt when it last changed.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// ReceivedAt is when the upload was complete.
	ReceivedAt time.Time `json:"received_at"`
	// History are the statuses that the batch has had, in their order.
	History []StatusAt `json:"history,omitempty"`
	// RejectOnInvalid is what CreateUpload was given.
	RejectOnInvalid bool `json:"reject_on_invalid"`
	// MaxRejected is how many invalid transactions the batch may have; nil if it was not given.
	MaxRejected *RejectLimit `json:"max_rejected,omitempty"`
	// ValidateOnly means that the batch ends with its validation. Counts.Ingested is 0 then.
	ValidateOnly bool `json:"validate_only,omitempty"`
	// Counts are the numbers of transactions known so far.
	Counts Counts `json:"counts"`
	// BytesTotal is the size of the upload. BytesDone is how much of it the current pass has read: validation, then
	// ingestion.
	BytesTotal int64 `json:"bytes_total"`
	BytesDone  int64 `json:"bytes_done"`
	// ContentEncoding is how the uploaded file is packed: EncodingIdentity, EncodingGzip or EncodingZstd. BytesTotal,
	// BytesDone and everything that is said of lines is about the unpacked file.
	ContentEncoding string `json:"content_encoding,omitempty"`
	// DuplicateOf is a batch that was processed before with the same file; "" if there is none.
	DuplicateOf string `json:"duplicate_of,omitempty"`
	// NamesScreened is the number of distinct names of unknown entities that were screened, and Hits that of alerts;
	// nil until they are known, and if UploadOptions.Screening was not given.
	NamesScreened *int64 `json:"names_screened"`
	Hits          *int64 `json:"hits"`
	// QueuePosition is how many batches get a slot up to this one, which waits to be validated or ingested: 1 if it is the
	// next one; nil if it does not wait. It is known while Status is "", too.
	QueuePosition *int64 `json:"queue_position"`

	// Reply is the service's reply, byte for byte. It may have fields that this type does not.
	Reply json.RawMessage `json:"-"`
}

// keepReply keeps the reply.
func (s *Status) keepReply(_ int, text []byte) { s.Reply = text }

// IsTerminal reports whether the status of the batch will not change any more.
func (s Status) IsTerminal() bool {
	return s.Status == StatusProcessed || s.Status == StatusValidationFailed || s.Status == StatusError
}

// StatusAt is a status and when the batch got into it.
type StatusAt struct {
	Status string    `json:"status"`
	At     time.Time `json:"at"`
}

// Counts are numbers of transactions. A number that is not known yet is nil.
type Counts struct {
	// Total is the number of transactions in the file. Each is either accepted or invalid.
	Total    *int64 `json:"total"`
	Accepted *int64 `json:"accepted"`
	Invalid  *int64 `json:"invalid"`
	// Ingested is how many of the accepted transactions are stored.
	Ingested *int64 `json:"ingested"`
}

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
	// RejectedLeftOut is the number of rejected lines that are not at RejectedFileURL, because they are too long; nil if
	// it is not known.
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

// ErrorSummary is how often an error occurs in a batch.
type ErrorSummary struct {
	// Code is the code of the errors, and Field the JSON pointer (RFC 6901) of their place in the line, "" for the line
	// itself; nil for all fields together that have no summary of their own.
	Code  string  `json:"code"`
	Field *string `json:"field"`
	// Count is the number of errors, and Share the number of the transactions that have one, divided by that of all.
	Count int64   `json:"count"`
	Share float64 `json:"share"`
	// FirstLines are the numbers of the first lines that have one, at most three.
	FirstLines []int64 `json:"first_lines"`
}

// keepReply keeps the reply, and that a 202 has no result yet.
func (r *ValidationResult) keepReply(status int, text []byte) {
	r.Reply, r.Pending = text, status == http.StatusAccepted
}

// Transaction is a stored transaction with the newest version of each of its modifications.
type Transaction struct {
	// TransactionExternalID is the ID that the tenant gave the transaction.
	TransactionExternalID string `json:"transaction_external_id"`
	// Modifications are in the byte order of their IDs.
	Modifications []Modification `json:"modifications"`
	// NextAfter is where the service's next page begins. It is "" in what Client.Transaction returns, which reads all
	// pages.
	NextAfter string `json:"next_after,omitempty"`
}

// Modification is one line of a batch, or one transaction that was sent singly.
type Modification struct {
	// ModificationExternalID is the ID that the tenant gave the modification.
	ModificationExternalID string `json:"modification_external_id"`
	// BatchID is the batch that delivered this version, and Line is the line's number in its file, from 1; "" and 0 if
	// it was sent by SendTransaction.
	BatchID string `json:"batch_id"`
	Line    int64  `json:"line"`
	// ReceivedAt is when the upload of the batch was complete, or the single transaction arrived.
	ReceivedAt time.Time `json:"received_at"`
	// MainEntity is the entity for which the transaction is monitored.
	MainEntity *MainEntity `json:"main_entity"`
	// Transaction is the line, byte for byte.
	Transaction json.RawMessage `json:"transaction"`
}

// MainEntity is the onboarded entity for which a transaction is monitored.
type MainEntity struct {
	// Role is "sender" or "receiver".
	Role string `json:"role"`
	// ByExternalID is the ID of the entity.
	ByExternalID string `json:"by_external_id"`
}

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

// CreateUpload creates a batch and returns where its file goes. With rejectOnInvalid, one invalid line rejects the
// whole batch; without, invalid lines are dropped and the others stored. Each call creates another batch, and one only,
// however often it has to be repeated.
func (c *Client) CreateUpload(ctx context.Context, rejectOnInvalid bool) (Upload, error) {
	return c.CreateUploadWith(ctx, UploadOptions{RejectOnInvalid: rejectOnInvalid})
}

// Status reads the status of a batch. An unknown batch is a 404 *Error.
func (c *Client) Status(ctx context.Context, batchID string) (Status, error) {
	var out Status
	err := c.call(ctx, http.MethodGet, basePath+"batch/status/"+url.PathEscape(batchID), nil, &out)
	return out, err
}

// CancelBatch ends a batch before its ingestion begins, and returns its status, which is StatusError. It can be repeated.
// A batch that is being ingested, or that has ended otherwise, is a 409 *Error, and an unknown one a 404 *Error.
func (c *Client) CancelBatch(ctx context.Context, batchID string) (Status, error) {
	var out Status
	err := c.call(ctx, http.MethodPost, basePath+"batch/cancel/"+url.PathEscape(batchID), nil, &out)
	return out, err
}

// ValidationResult reads the outcome of a batch's validation. An unknown batch is a 404 *Error.
func (c *Client) ValidationResult(ctx context.Context, batchID string) (ValidationResult, error) {
	var out ValidationResult
	err := c.call(ctx, http.MethodGet, basePath+"batch/validation-result/"+url.PathEscape(batchID), nil, &out)
	return out, err
}

// Transaction reads a stored transaction with all its modifications. One that no PROCESSED batch delivered is a 404
// *Error.
func (c *Client) Transaction(ctx context.Context, id string) (Transaction, error) {
	var all Transaction
	for after := ""; ; {
		var page Transaction
		if err := c.call(ctx, http.MethodGet, transactionPath(id, after), nil, &page); err != nil {
			return Transaction{}, err
		}
		all.TransactionExternalID = page.TransactionExternalID
		all.Modifications = append(all.Modifications, page.Modifications...)
		if after = page.NextAfter; after == "" {
			return all, nil
		}
	}
}

// transactionPath returns the path and query of a page of a transaction. IDs that no path can carry go into the query.
func transactionPath(id, after string) string {
	query := url.Values{}
	if after != "" {
		query.Set("after", after)
	}
	path := basePath + url.PathEscape(id)
	if id == "." || id == ".." || id == "batch" {
		path = strings.TrimSuffix(basePath, "/")
		query.Set("transaction_external_id", id)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

// PollInterval returns how long to wait after the n-th reading of a status, counted from 1.
type PollInterval func(n int) time.Duration

// Gently polls every 200 ms for the first 25 readings, then every second. It stays under the tenant's limit of 120
// readings a minute.
func Gently(n int) time.Duration {
	if n <= 25 {
		return 200 * time.Millisecond
	}
	return time.Second
}

// busyPatience is how long Follow goes on while the service answers every reading by asking to wait.
const busyPatience = 15 * time.Minute

// Follow reads the status of a batch until it is terminal, and returns the last one. It waits between readings as
// interval says; nil means Gently. It calls onStatus, unless that is nil, with every status that it reads. A service that
// is busy or throttles the client does not end it: the batch goes on, and so do the readings, for a quarter of an hour.
func (c *Client) Follow(
	ctx context.Context, batchID string, interval PollInterval, onStatus func(Status),
) (Status, error) {
	if interval == nil {
		interval = Gently
	}
	var last Status
	answered := c.config.Now()
	for n := 1; ; n++ {
		s, err := c.Status(ctx, batchID)
		if _, pause := askedToWait(err); pause > 0 && pause <= maxAskedPause && c.config.Now().Sub(answered) < busyPatience {
			if err := c.pauseAfter(ctx, err, max(pause, interval(n))); err != nil {
				return last, err
			}
			continue
		}
		if err != nil {
			return s, err
		}
		answered, last = c.config.Now(), s
		if onStatus != nil {
			onStatus(s)
		}
		if s.IsTerminal() {
			return s, nil
		}
		if err := c.config.Pause(ctx, interval(n)); err != nil {
			return s, err
		}
	}
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

// OpenRejected opens the rejected lines at a ValidationResult's RejectedFileURL, as they were sent. The caller closes it.
// An expired URL is a 403 *StorageError.
func (c *Client) OpenRejected(ctx context.Context, rejectedFileURL string) (io.ReadCloser, error) {
	return c.OpenReport(ctx, rejectedFileURL)
}
