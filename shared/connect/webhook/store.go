package webhook

import (
	"context"
	"errors"
	"time"
)

// Errors of a Store.
var (
	// ErrNotFound means that the tenant has no such webhook, or the webhook no such delivery.
	ErrNotFound = errors.New("webhook: not found")
	// ErrTooMany means that the tenant has MaxPerTenant webhooks.
	ErrTooMany = errors.New("webhook: the tenant has as many webhooks as it may have")
	// ErrChanged means that somebody else has changed the webhook or the delivery since it was read.
	ErrChanged = errors.New("webhook: changed since it was read")
)

// Store keeps webhooks and their deliveries. It is safe for concurrent use; a read sees every acknowledged write. Any
// error that is not named means that the outcome is unknown: the call can be repeated.
type Store interface {
	// Create stores a new webhook. It returns ErrTooMany if the tenant has MaxPerTenant, however many are being created
	// at the same time. Repeating it for the same ID succeeds and changes nothing.
	Create(ctx context.Context, w Webhook) error
	// Get returns a webhook. It returns ErrNotFound if the tenant has no webhook with that ID.
	Get(ctx context.Context, tenant, id string) (Webhook, error)
	// List returns all webhooks of a tenant in the order of their creation.
	List(ctx context.Context, tenant string) ([]Webhook, error)
	// Save replaces the tenant's settings of a webhook and, with resetHealth, makes its health the zero value. It is
	// conditional on the Version that was read, and returns w with the next one. It returns ErrNotFound or ErrChanged.
	Save(ctx context.Context, w Webhook, resetHealth bool) (Webhook, error)
	// Delete removes a webhook; its deliveries stay until they expire, and nobody reaches them. It returns ErrNotFound
	// if there is no such webhook.
	Delete(ctx context.Context, tenant, id string) error

	// MarkFailing sets the beginning of the time in which a webhook fails, unless one is set; with givenUp also that of
	// the time in which deliveries are given up. It returns the health after it, and ErrNotFound.
	MarkFailing(ctx context.Context, tenant, id string, at time.Time, givenUp bool) (Health, error)
	// MarkRecovered sets the time at which a webhook that has failed since the given time has recovered, unless one is
	// set, and returns the health after it. ok is false, and nothing changes, if it does not fail since then.
	MarkRecovered(ctx context.Context, tenant, id string, failingSince, at time.Time) (h Health, ok bool, err error)
	// MarkWorking clears these times, if the webhook has failed since the given one. Repeating it changes nothing.
	MarkWorking(ctx context.Context, tenant, id string, failingSince time.Time) error
	// Disable switches a webhook off for a reason. It returns the webhook after it; of one that is off already it
	// changes nothing. It returns ErrNotFound if it does not exist.
	Disable(ctx context.Context, tenant, id, reason string, at time.Time) (Webhook, error)

	DeliveryStore
}

// DeliveryStore is the part of Store that keeps deliveries.
type DeliveryStore interface {
	// CreateDelivery stores a new delivery of the type Single, which can have ended. If there is one of its ID, that
	// one is returned and nothing changes.
	CreateDelivery(ctx context.Context, d Delivery) (Delivery, error)
	// Collect adds the first message of a delivery of the type Batch to the open delivery of the webhook or, if that
	// has no room for it, stores d, which becomes the open one. It returns the delivery that has the message. A message
	// that was collected before is not collected again. It returns ErrNotFound if the webhook was deleted.
	Collect(ctx context.Context, w Webhook, d Delivery) (Delivery, error)
	// StopCollecting closes an open delivery and begins its given run. If it was closed before, nothing changes. It
	// returns the delivery after it.
	StopCollecting(ctx context.Context, d Delivery, run int, at time.Time) (Delivery, error)
	// GetDelivery returns a delivery. It returns ErrNotFound if the webhook has no delivery with that ID.
	GetDelivery(ctx context.Context, tenant, webhook, id string) (Delivery, error)
	// ListDeliveries returns up to limit deliveries after a position, newest first. next is "" at the end.
	ListDeliveries(ctx context.Context, tenant, webhook, after string, limit int) (page []Delivery, next string,
		err error)
	// ListDeliveriesSince returns up to limit deliveries from an ID on, oldest first. next is "" at the end.
	ListDeliveriesSince(ctx context.Context, tenant, webhook, from string, limit int) (page []Delivery, next string,
		err error)
	// SaveAttempt records the last of d.Attempts and the state of d after it. It is conditional on the run of d, on its
	// being pending, and on the number of attempts before, and returns ErrChanged otherwise.
	SaveAttempt(ctx context.Context, d Delivery) error
	// EndDelivery records the outcome of a run that ends without an attempt. It returns ErrChanged if it has ended or
	// another run has begun.
	EndDelivery(ctx context.Context, d Delivery) error
	// BeginRun begins a run of a delivery, which is pending then. If the delivery has this run or a later one, nothing
	// changes. It returns the delivery after it, and ErrNotFound.
	BeginRun(ctx context.Context, tenant, webhook, id string, run int, at time.Time) (Delivery, error)
}
