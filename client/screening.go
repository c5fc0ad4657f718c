package client

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"sluice/openapi/wire"
)

// Values of Screening.OnHit.
const (
	// OnHitReport leaves the verdict on lines with hits as it is.
	OnHitReport = "report"
	// OnHitReject makes lines with hits invalid.
	OnHitReject = "reject"
)

// Screening asks for the names of unknown entities to be compared with watchlists.
type Screening = wire.ScreenUnknown

// ScreeningResult is the outcome of the screening of a batch. AlertsFileURL is where OpenAlerts finds the alerts, one
// JSON object a line; "" if there is no hit. It is a secret, and each call returns a new one.
type ScreeningResult struct {
	wire.ScreeningResult
	Original
	// Pending means that the screening is not complete: Message is the service's reason to wait.
	Pending bool `json:"-"`
}

// ScreenedList is a version of a list with which names were compared.
type ScreenedList = wire.ScreenedList

// Alert is a hit of the name that a line gives an unknown entity: one line of the file of alerts.
type Alert = wire.Alert

// keepReply keeps the reply, and that a 202 has no result yet.
func (r *ScreeningResult) keepReply(status int, text []byte) {
	r.Original.keepReply(status, text)
	r.Pending = status == http.StatusAccepted
}

// ScreeningResult reads the outcome of the screening of a batch. A batch whose names are not screened is a 404 *Error,
// as an unknown one is.
func (c *Client) ScreeningResult(ctx context.Context, batchID string) (ScreeningResult, error) {
	var out ScreeningResult
	err := c.call(ctx, http.MethodGet, basePath+"batch/screening-result/"+url.PathEscape(batchID), nil, &out)
	return out, err
}

// OpenAlerts opens the alerts at a ScreeningResult's AlertsFileURL: JSON Lines, one Alert each, in the order of the
// file. The caller closes it. An expired URL is a 403 *StorageError.
func (c *Client) OpenAlerts(ctx context.Context, alertsFileURL string) (io.ReadCloser, error) {
	return c.OpenReport(ctx, alertsFileURL)
}
