package webhook

import (
	"context"
	"time"
)

const (
	// OffersPerWebhook is how many deliveries of a webhook are offered to carriers at a time.
	OffersPerWebhook = 10
	// OfferTime is how long a delivery is offered at most.
	OfferTime = 10 * time.Minute
)

// Place is a place in a group of tenants. Whoever holds it is a carrier: it makes the attempts of the group's
// deliveries, many at the same time.
type Place struct {
	Group  string
	Number int
	Holder string
}

// Offer names a delivery that waits for a carrier.
type Offer struct {
	Tenant     string
	WebhookID  string
	DeliveryID string
	Run        int
}

// Slot returns which of the offers of its webhook an offer is.
func (o Offer) Slot() int { return int(o.DeliveryID[len(o.DeliveryID)-1]) % OffersPerWebhook }

// CarrierStore is the part of Store by which the deliveries of a group of tenants share few invocations.
type CarrierStore interface {
	// HoldPlace makes p.Holder the holder of a place until a time, or for longer if it is the holder. ok is false, and
	// nothing changes, if another one holds it now.
	HoldPlace(ctx context.Context, p Place, now, until time.Time) (ok bool, err error)
	// LeavePlace frees a place, if p.Holder holds it.
	LeavePlace(ctx context.Context, p Place) error
	// Offer offers a delivery to the carriers of a group for OfferTime. An earlier delivery of the webhook in the same
	// slot stays offered in its place; a later one gives way.
	Offer(ctx context.Context, group string, o Offer, now time.Time) error
	// ListOffers returns all offers of a group, in no particular order.
	ListOffers(ctx context.Context, group string) ([]Offer, error)
	// RemoveOffer removes an offer, if it is offered.
	RemoveOffer(ctx context.Context, group string, o Offer) error
}
