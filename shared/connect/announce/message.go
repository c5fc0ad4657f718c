package announce

import (
	"encoding/json"
	"fmt"

	"sluice/shared/connect/event"
	"sluice/shared/ingest/batch"
)

// endPayload is the payload of the events about the end of a batch (docs/contract/events.md, End of a batch).
type endPayload struct {
	ID           batch.ID          `json:"batch_id"`
	Status       batch.Status      `json:"status"`
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
var endTypes = map[batch.Status]event.Type{
	batch.Processed: event.BatchProcessed, batch.ValidationFailed: event.BatchRejected, batch.Failed: event.BatchFailed,
}

// MessageOf returns the event about the end of a batch. It is made from the batch alone, so that it is the same
// whenever it is made. It returns an error if the batch has not ended.
func MessageOf(b batch.Batch) (event.Message, error) {
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
		ID: event.NewID(eventType, string(b.ID)), Tenant: b.Tenant, Type: eventType, RelativeURL: batch.StatusURL(b.ID),
		Payload: text, When: b.UpdatedAt, CorrelationID: string(b.ID), CausationID: string(b.ID),
	}, err
}
