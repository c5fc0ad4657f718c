// Package observation is what is kept of requests that deliver single transactions, so that clients can look at what
// became of them.
package observation

import (
	"net/http"
	"time"
)

// Life is how long clients can ask for the observation of a request. It is kept some days longer.
const Life = 30 * 24 * time.Hour

// Single is what became of a request that delivers a single transaction.
type Single struct {
	// Tenant is the ID of the institution that sent it.
	Tenant string

	// At is the receipt time of the transaction. With Status and both IDs it identifies the request.
	At time.Time

	// TransactionID and ModificationID are those of the transaction; "" if it has none that can be read.
	TransactionID, ModificationID string

	// Status is the HTTP status of the answer: 201 if the transaction is stored, another one if it was refused.
	Status int

	// Reason says why the transaction was refused; "" if it is stored.
	Reason string
}

// IsStored reports whether the transaction is stored.
func (s Single) IsStored() bool { return s.Status == http.StatusCreated }

// Counts are numbers of requests.
type Counts struct{ Stored, Refused int64 }
