package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"sluice/openapi/wire"
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

// Status is the state of a batch. Until validation starts, wire.BatchStatus.Status is "" and Message is the service's
// reason to wait; all other fields but BatchID, QueuePosition, Name, Metadata, ExpiresAt and UploadBy are then
// zero.
type Status struct {
	wire.BatchStatus
	Original
	// Message is the service's reason to wait before validation.
	Message string `json:"message,omitempty"`
	// ExpiresAt is when the latest URL for the upload expires, and UploadBy when the batch is given up; nil unless the
	// batch awaits its upload.
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	UploadBy  *time.Time `json:"upload_by,omitempty"`
}

// IsTerminal reports whether the status of the batch will not change any more.
func (s Status) IsTerminal() bool { return IsTerminal(s.Status) }

// IsTerminal reports whether a batch keeps a status for good.
func IsTerminal(status string) bool {
	return status == StatusProcessed || status == StatusValidationFailed || status == StatusError
}

// StatusAt is a status and when the batch got into it.
type StatusAt = wire.StatusAt

// Counts are numbers of transactions. A number that is not known yet is nil.
type Counts = wire.Counts

// Status reads the status of a batch. An unknown batch is a 404 *Error.
func (c *Client) Status(ctx context.Context, batchID string) (Status, error) {
	var out Status
	err := c.call(ctx, http.MethodGet, basePath+"batch/status/"+url.PathEscape(batchID), nil, &out)
	return out, err
}

// CancelBatch ends a batch before its ingestion begins, and returns its status, which is StatusError. It can be
// repeated. A batch that is being ingested, or that has ended otherwise, is a 409 *Error, and an unknown one a 404
// *Error.
func (c *Client) CancelBatch(ctx context.Context, batchID string) (Status, error) {
	var out Status
	err := c.call(ctx, http.MethodPost, basePath+"batch/cancel/"+url.PathEscape(batchID), nil, &out)
	return out, err
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
// interval says; nil means Gently. It calls onStatus, unless that is nil, with every status that it reads. A service
// that is busy or throttles the client does not end it: the batch goes on, and so do the readings, for a quarter of an
// hour.
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
		if _, pause := askedToWait(err); pause > 0 && pause <= maxAskedPause &&
			c.config.Now().Sub(answered) < busyPatience {
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
