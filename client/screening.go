package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Values of Screening.OnHit.
const (
	// OnHitReport leaves the verdict on lines with hits as it is.
	OnHitReport = "report"
	// OnHitReject makes lines with hits invalid.
	OnHitReject = "reject"
)

// Screening asks for the names of the unknown entities of a batch to be compared with watchlists.
type Screening struct {
	// Lists are the names of the lists; none means all that the tenant has.
	Lists []string `json:"lists,omitempty"`
	// Threshold is the score that a hit reaches, 0 to 100; nil means 80.
	Threshold *float64 `json:"threshold,omitempty"`
	// OnHit is OnHitReport or OnHitReject; "" means OnHitReport.
	OnHit string `json:"on_hit,omitempty"`
}

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

// ScreenedList is a version of a list.
type ScreenedList struct {
	List    string `json:"list"`
	Version string `json:"version"`
	// SourceDate is the date of the list as its file says; nil if it does not.
	SourceDate *time.Time `json:"source_date"`
}

// Alert is a hit: the name of an unknown entity of a line, and an entry of a list that is like it.
type Alert struct {
	// Line is the number of the line in the file, from 1.
	Line int64 `json:"line"`
	// TransactionExternalID and ModificationExternalID are those of the line, and ExternalID is that of the unknown
	// entity; nil where there is none that can be read.
	TransactionExternalID  *string `json:"transaction_external_id"`
	ModificationExternalID *string `json:"modification_external_id"`
	// Role is sender, receiver, sending_partner or receiving_partner.
	Role       string  `json:"role"`
	ExternalID *string `json:"external_id"`
	// FullName is the name as it was screened: without white space around it.
	FullName string `json:"full_name"`
	// List, ListVersion, EntryID and EntryName are the entry.
	List        string `json:"list"`
	ListVersion string `json:"list_version"`
	EntryID     string `json:"entry_id"`
	EntryName   string `json:"entry_name"`
	// Score is 0 to 100, and Explanation says which words met which.
	Score       float64 `json:"score"`
	Explanation string  `json:"explanation"`
}

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
