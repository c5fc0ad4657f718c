package screening

import (
	"fmt"
	"time"

	"github.com/google/uuid"
)

// MaxDocuments is the largest number of documents of an entity in a batch, including the documents of its matches.
const MaxDocuments = 100

// Document is a document of an entity in a batch, or of one of its matches. Its name, its file and its state are those
// of a document of document management.
type Document struct {
	ID       string `json:"id"`
	BatchID  string `json:"batchId"`
	EntityID string `json:"entityId"`
	// MatchID and MatchUniqueID are "" for a document of the entity.
	MatchID       string `json:"matchId"`
	MatchUniqueID string `json:"matchUniqueId"`
	// DocumentID is the ID in document management.
	DocumentID string `json:"documentId"`
	// IdempotencyKey comes from the request that created the document; "" if it had none.
	IdempotencyKey string    `json:"idempotencyKey"`
	CreatedBy      string    `json:"createdBy"`
	CreatedAt      time.Time `json:"createdAt"`
	// ReusedFromBatchID and ReusedFromMatchID say where a reused document comes from; "" for any other.
	ReusedFromBatchID string `json:"reusedFromBatchId"`
	ReusedFromMatchID string `json:"reusedFromMatchId"`
	// IsBeingRemoved means that its removal was begun while the batch was open. It can be completed at any time.
	IsBeingRemoved bool `json:"-"`
}

// WithKey returns the document with an idempotency key and the IDs that follow from it: the same key in the same place
// gives the same document.
func (d Document) WithKey(key string) Document {
	d.IdempotencyKey = key
	d.ID = uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%q %q %q %q", d.BatchID, d.EntityID, d.MatchID, key)).String()
	d.DocumentID = uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "document %q", d.ID)).String()
	return d
}
