package event

import (
	"slices"
	"strings"
)

// Type is the kind of an event (docs/contract/events.md, Types).
type Type string

// The types of events that the service announces.
const (
	// BatchProcessed: a batch has reached PROCESSED.
	BatchProcessed Type = "batchtransaction:ingestionProcessed"
	// BatchRejected: a batch has reached VALIDATION_FAILED.
	BatchRejected Type = "batchtransaction:ingestionValidation_failed"
	// BatchFailed: a batch has reached ERROR.
	BatchFailed Type = "batchtransaction:ingestionFailed"
	// CertificateExpiring: a certificate with which the tenant's receivers are recognised ends soon.
	CertificateExpiring Type = "externalauthentication:certificateExpiring"
	// WebhookTest: somebody asked for a message to try a webhook.
	WebhookTest Type = "webhook:test"
	// WebhookDisabled: a webhook was disabled because deliveries to it failed.
	WebhookDisabled Type = "webhook:disabled"
	// WebhookRecovered: a delivery to a webhook succeeded after others had failed.
	WebhookRecovered Type = "webhook:recovered"
	// WatchlistUpdated: a watchlist that the tenant screens against has another version.
	WatchlistUpdated Type = "watchlist.updated"
	// RescreeningFinished: the earlier screenings of the tenant were repeated against the changes of a watchlist.
	RescreeningFinished Type = "rescreening.finished"
)

// The types of the contract that nothing announces yet. A webhook may name them.
const (
	// RiskCompleted: a later step has assessed the risk of a batch.
	RiskCompleted Type = "batchtransaction:behaviouralriskcompleted"
	// TransactionFailed: a single transaction failed.
	TransactionFailed Type = "transaction:ingestionfailed"
)

// Types returns every type that a webhook may name.
func Types() []Type {
	return []Type{BatchProcessed, BatchRejected, BatchFailed, RiskCompleted, TransactionFailed, CertificateExpiring,
		WebhookTest, WebhookDisabled, WebhookRecovered, WatchlistUpdated, RescreeningFinished}
}

// IsKnown reports whether t is one of Types.
func (t Type) IsKnown() bool { return slices.Contains(Types(), t) }

// Source returns the source of the type on the event bus, by which rules of EventBridge choose events.
func (t Type) Source() string {
	area := string(t)
	if end := strings.IndexAny(area, ":."); end >= 0 {
		area = area[:end]
	}
	switch area {
	case "batchtransaction":
		area = "batch"
	}
	return "sluice." + area
}
