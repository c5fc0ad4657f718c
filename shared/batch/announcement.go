package batch

import (
	"encoding/json"
	"fmt"

	"sluice/shared/event"
)

// Receiver is a kind of receivers to whom the end of a batch is announced. Which of them still have to be told is kept
// apart, so that one that cannot be reached does not make the others be told again and again.
type Receiver string

const (
	// EventBus is the event bus of the AWS account.
	EventBus Receiver = "event-bus"
	// Webhooks are the webhooks of the tenant.
	Webhooks Receiver = "webhooks"
	// Export is what writes the accepted lines of a processed batch as Parquet. It counts as told once the file is
	// written, and only batches owe it whose tenant has Settings.Parquet.
	Export Receiver = "export"
)

// Receivers returns the receivers to whom the end of every batch is announced, whatever its settings.
func Receivers() []Receiver { return []Receiver{EventBus, Webhooks} }

// StatusURL returns the path at which the status of a batch can be read.
func StatusURL(id ID) string { return "/tm/realtime/api/transactions/batch/status/" + string(id) }

// endPayload is the payload of the events about the end of a batch (docs/contract/events.md, End of a batch).
type endPayload struct {
	ID           ID                `json:"batch_id"`
	Status       Status            `json:"status"`
	ErrorMessage string            `json:"error_message"`
	Counts       endCounts         `json:"counts"`
	Name         *string           `json:"name"`
	Metadata     map[string]string `json:"metadata"`
	ValidateOnly bool              `json:"validate_only"`
	// ReportComplete is null where no report was written.
	ReportComplete *bool `json:"report_complete"`
}

// endCounts are numbers of transactions, which are null where validation did not finish.
type endCounts struct {
	Total    *int64 `json:"total"`
	Accepted *int64 `json:"accepted"`
	Invalid  *int64 `json:"invalid"`
	Ingested *int64 `json:"ingested"`
}

// endTypes are the types of the events by the terminal status that they announce.
var endTypes = map[Status]event.Type{
	Processed: event.BatchProcessed, ValidationFailed: event.BatchRejected, Failed: event.BatchFailed,
}

// Announcement returns the event about the end of a batch. It is made from the batch alone, so that it is the same
// whenever it is made. It returns an error if the batch has not ended.
func (b Batch) Announcement() (event.Message, error) {
	eventType, ended := endTypes[b.Status]
	if !ended {
		return event.Message{}, fmt.Errorf("batch %s is %s: it has not ended", b.ID, b.Status)
	}
	payload := endPayload{ID: b.ID, Status: b.Status, ErrorMessage: b.ErrorMessage, Metadata: b.Metadata,
		ValidateOnly: b.ValidateOnly}
	if b.Name != "" {
		payload.Name = &b.Name
	}
	if v := b.Verdict; v != nil {
		payload.Counts = endCounts{&v.Total, &v.Accepted, &v.Invalid, new(int64)}
		*payload.Counts.Ingested = b.Ingested()
		if v.ReportKey != "" {
			complete := !v.ReportShortened
			payload.ReportComplete = &complete
		}
	}
	text, err := json.Marshal(payload)
	return event.Message{
		ID: event.NewID(eventType, string(b.ID)), Tenant: b.Tenant, Type: eventType, RelativeURL: StatusURL(b.ID),
		Payload: text, When: b.UpdatedAt, CorrelationID: string(b.ID), CausationID: string(b.ID),
	}, err
}
