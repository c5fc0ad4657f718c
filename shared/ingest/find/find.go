// Package find finds what has an identifier: lines of batches and single transactions by any of their IDs, and objects
// of other parts of the service by theirs.
//
//	batches, from their end on     index of lines (package lineindex)
//	single transactions, at once   items of their requests (package observation), stored versions
//	objects                        a Source of their part
package find

import (
	"context"
	"net/url"
	"slices"
	"time"

	"sluice/shared/access"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/observation"
)

// Kind is the kind of an identifier.
type Kind string

// The kinds. The first four are identifiers of a line or a single transaction.
const (
	Payment      = Kind(observation.Payment)
	Transaction  = Kind(observation.Transaction)
	Modification = Kind(observation.Modification)
	Request      = Kind(observation.Request)

	Batch     Kind = "batch"
	Entity    Kind = "entity"
	Document  Kind = "document"
	Event     Kind = "event"
	Screening Kind = "screening"
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{Payment, Transaction, Modification, Request, Batch, Entity, Document, Event, Screening}
}

// The statuses of lines and single transactions.
const (
	// Ingested: it is stored and visible.
	Ingested = "ingested"
	// Rejected: it is invalid.
	Rejected = "rejected"
	// NotIngested: its batch ended without ingestion; it may be valid.
	NotIngested = "not_ingested"
)

// Item is something that was found.
type Item struct {
	Kind Kind
	// ID is the identifier in its stored form.
	ID string
	// Batch and Line name the line of a batch; Batch alone a batch. Both are zero for everything else.
	Batch batch.ID
	Line  int64
	// The identifiers of a line or a single transaction; "" for those that cannot be read.
	TransactionID, ModificationID, PaymentID string
	// Status is that of the line, or of the object as its part has it; "" if it has none.
	Status string
	// ReceivedAt is when the line was received or the object created; zero if that is not known.
	ReceivedAt time.Time
	// Href is the path where more is to be read; "" if there is none.
	Href string
}

// Source finds the objects of a kind. It is safe for concurrent use.
type Source interface {
	// Find returns the objects of a tenant with an ID of 1 to 255 bytes, one or a few, which a caller with these access
	// layers reaches.
	Find(ctx context.Context, tenant string, layers access.Layers, id string) ([]Item, error)
}

// IsOfLine reports whether the kind is an identifier of a line or a single transaction.
func (k Kind) IsOfLine() bool { return slices.Contains(observation.Kinds(), observation.Kind(k)) }

const transactionsPath = "/tm/realtime/api/transactions"

// TransactionPath returns the path at which a transaction can be read. IDs that no path can carry are in the query.
func TransactionPath(id string) string {
	if id == "." || id == ".." || id == "batch" {
		return transactionsPath + "?transaction_external_id=" + id
	}
	return transactionsPath + "/" + url.PathEscape(id)
}

// resultsPath returns the path of the validation results of a batch.
func resultsPath(id batch.ID) string {
	return transactionsPath + "/batch/validation-result/" + string(id)
}

// eventsPath returns the path of the events of a modification; "" if its ID cannot be read.
func eventsPath(modification string) string {
	if modification == "" {
		return ""
	}
	return "/tm/observability/api/v1/transactions/events?modification_external_ids=" + url.QueryEscape(modification)
}
