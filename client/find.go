package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"sluice/openapi/wire"
)

// Values of FoundItem.Kind and FindQuery.Kind. The first four are identifiers of a line or a single transaction.
const (
	FoundPayment      = "payment"
	FoundTransaction  = "transaction"
	FoundModification = "modification"
	FoundRequest      = "request"
	FoundBatch        = "batch"
	FoundEntity       = "entity"
	FoundDocument     = "document"
	// FoundEvent is the delivery of an event to a webhook.
	FoundEvent = "event"
	// FoundScreening is a screening batch.
	FoundScreening = "screening"
)

// FoundKinds returns all kinds.
func FoundKinds() []string {
	return []string{FoundPayment, FoundTransaction, FoundModification, FoundRequest, FoundBatch, FoundEntity,
		FoundDocument, FoundEvent, FoundScreening}
}

// Values of FoundItem.Status of lines and single transactions.
const (
	FoundIngested = "ingested"
	FoundRejected = "rejected"
	// FoundNotIngested means that the batch of the line ended without ingestion.
	FoundNotIngested = "not_ingested"
)

// FindQuery is a search by an ID.
type FindQuery struct {
	// ID is any ID of 1 to 255 bytes.
	ID string
	// Kind is the kind of the ID; "" for any.
	Kind string
	// Limit is how many items a page has at most, 1 to 100; 0 means the service's own, 50.
	Limit int
}

// FoundItem is a line, a single transaction or an object that has the ID.
type FoundItem = wire.FoundItem

// Found is a page of what was found, and of when the batches ended whose lines were searched.
type Found = wire.FoundItems

// Find returns a page of what has an ID, newest first. next is "" for the first page, and Next of the page before for
// the others. Lines are found once their batch has ended and is indexed, single transactions at once, and objects that
// the client may read. Nothing found is no error.
func (c *Client) Find(ctx context.Context, q FindQuery, next string) (page Found, err error) {
	values := url.Values{"id": {q.ID}}
	if q.Kind != "" {
		values.Set("kind", q.Kind)
	}
	if q.Limit != 0 {
		values.Set("limit", strconv.Itoa(q.Limit))
	}
	if next != "" {
		values.Set("next", next)
	}
	err = c.call(ctx, http.MethodGet, "/tm/realtime/api/find?"+values.Encode(), nil, &page)
	return page, err
}
