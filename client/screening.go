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

// Values of Screening.OnHit.
const (
	// OnHitReport leaves the verdict on lines with hits as it is.
	OnHitReport = "report"
	// OnHitReject makes lines with hits invalid.
	OnHitReject = "reject"
)

// Screening asks for the names of unknown entities to be compared with watchlists.
type Screening = wire.ScreenUnknown

// ScreeningResult is the outcome of the screening of a batch.
type ScreeningResult struct {
	// Message says it for people.
	Message string `json:"message"`
	// NamesScreened is the number of distinct names, and Hits that of alerts; nil while they are not known.
	NamesScreened *int64 `json:"names_screened"`
	Hits          *int64 `json:"hits"`
	// AlertsFileURL is where OpenAlerts finds the alerts, one JSON object a line; "" if there is no hit. It is a
	// secret, and each call returns a new one.
	AlertsFileURL string `json:"alerts_file_url,omitempty"`
	// AlertsFileExpires is when AlertsFileURL stops working.
	AlertsFileExpires time.Time `json:"alerts_file_url_expires_at,omitzero"`
	// AlertsComplete is false if the file of the alerts passed its limit, so that the last ones are left out; nil if
	// there is no such file.
	AlertsComplete *bool `json:"alerts_complete,omitempty"`
	// Lists are the versions of the lists that the names were compared with.
	Lists []ScreenedList `json:"lists"`

	// Pending means that the screening is not complete: Message says what the service waits for.
	Pending bool `json:"-"`
	// Reply is the service's reply, byte for byte. It may have fields that this type does not.
	Reply json.RawMessage `json:"-"`
}

// ScreenedList is a version of a list with which names were compared.
type ScreenedList = wire.ScreenedList

// Alert is a hit of the name that a line gives an unknown entity: one line of the file of alerts.
type Alert = wire.Alert

// keepReply keeps the reply, and that a 202 has no result yet.
func (r *ScreeningResult) keepReply(status int, text []byte) {
	r.Reply, r.Pending = text, status == http.StatusAccepted
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
