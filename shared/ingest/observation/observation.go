// Package observation defines the questions that clients can ask about the transactions that they sent: the outcomes of
// requests that deliver single transactions (package observationdb stores them) and of the lines of batches (package
// lines).
package observation

import (
	"fmt"
	"net/http"
	"time"
)

// Life is how long clients can ask for the events and failures of requests. That a transaction was refused is recorded
// some days longer, and that it is stored, as long as it is.
const Life = 30 * 24 * time.Hour

// MaxReasonBytes is the length to which a reason is cut, so that an event that is kept usually takes one write unit.
const MaxReasonBytes = 300

// Event is the outcome of a transaction that a request of its own or a line of a batch delivered.
type Event struct {
	// Tenant is the ID of the institution that sent it.
	Tenant string

	// At is the receipt time of the transaction. With Status and both IDs it identifies a request.
	At time.Time

	// TransactionID and ModificationID identify the transaction; "" if they cannot be read.
	TransactionID, ModificationID string

	// PaymentID and RequestID are its other identifiers; "" if they cannot be read, and for a line of a batch.
	PaymentID, RequestID string

	// Expires is when the stored transaction is gone; zero if it never is.
	Expires time.Time

	// Status is the HTTP status of the answer to the request, or that which a request with the line would have got: 201
	// if the transaction is stored, another one if it is not.
	Status int

	// Reason says why the transaction is not stored; "" if it is.
	Reason string
}

// IsStored reports whether the transaction is stored.
func (e Event) IsStored() bool { return e.Status == http.StatusCreated }

// Found is the outcome of a request that was found by an identifier, and its place among those with the same one.
type Found struct {
	Event
	Place string
}

// PlaceOf returns the place that follows those of the requests at a time or later: before it are earlier ones.
func PlaceOf(at time.Time) string { return fmt.Sprintf("%019d", at.UnixNano()) }

// Kind says which identifier of a transaction an ID is. Its values are stored and must not change.
type Kind string

// The identifiers of a transaction.
const (
	Payment      Kind = "payment"
	Transaction  Kind = "transaction"
	Modification Kind = "modification"
	Request      Kind = "request"
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Payment, Transaction, Modification, Request} }

// Counts are numbers of requests.
type Counts struct{ Stored, Refused int64 }
