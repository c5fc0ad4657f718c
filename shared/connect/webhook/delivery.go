package webhook

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"github.com/google/uuid"

	"sluice/shared/connect/event"
)

// Outcome is how an attempt, or a delivery, ended.
type Outcome string

const (
	// Pending: the delivery has not ended; its first or next attempt is to come.
	Pending Outcome = ""
	// Successful: the receiver has answered 2xx.
	Successful Outcome = "Successful"
	// Failed: the receiver gave another answer, or could not be reached.
	Failed Outcome = "Failed"
	// TimedOut: the receiver did not answer in time.
	TimedOut Outcome = "TimedOut"
)

// Codes of attempts and deliveries that did not succeed, beside those of calls that found no receiver (docs/errors.md).
const (
	// CodeStatus: the receiver answered with a status other than 2xx, 3xx and 410.
	CodeStatus = "status"
	// CodeRedirect: the receiver answered 3xx. Redirects are not followed.
	CodeRedirect = "redirect"
	// CodeGone: the receiver answered 410, which disables the webhook.
	CodeGone = "gone"
	// CodeDisabled: the webhook is disabled.
	CodeDisabled = "webhook_disabled"
	// CodeDeleted: the webhook was deleted.
	CodeDeleted = "webhook_deleted"
	// CodeInterrupted: the service could not make the attempt.
	CodeInterrupted = "interrupted"
)

// Limits of a stored delivery.
const (
	// MaxAnswerBytes is how much of a receiver's answer is kept.
	MaxAnswerBytes = 1024
	// MaxAttempts is how many attempts of a delivery are kept, the last ones.
	MaxAttempts = 60
	// MaxBodyBytes is the size of the messages that fill a delivery of the type Batch, for any number of them. An item
	// of DynamoDB holds 400 KB.
	MaxBodyBytes = 256 << 10
	// Retention is how long a delivery is kept.
	Retention = 30 * 24 * time.Hour
)

// Delivery is one message, or for the type Batch some, on the way to one webhook. It ends when an attempt succeeds or
// the attempts are given up, and can then be sent again.
type Delivery struct {
	// ID is a UUIDv7; see NewDeliveryID.
	ID        string
	Tenant    string
	WebhookID string
	Type      Type
	// Messages are the delivered messages, in the order in which they came.
	Messages []Message
	// IsOpen means that the delivery still collects messages.
	IsOpen    bool
	CreatedAt time.Time
	// Run counts the times that the delivery was begun: 1 and, for each time it is sent again, one more. Only the last
	// run makes attempts.
	Run int
	// RunAt is when the run began, from which the time until it is given up counts.
	RunAt time.Time
	// Outcome is Pending until the run has ended.
	Outcome Outcome
	// Code says why the run has not succeeded; "" otherwise.
	Code    string
	EndedAt time.Time
	// NextAttemptAt is when the next attempt is due; zero if no attempt is.
	NextAttemptAt time.Time
	// Attempts are the last attempts of all runs. AttemptCount counts all.
	Attempts     []Attempt
	AttemptCount int
	// ClaimedBy is who makes the attempt that is due, and ClaimedUntil when another one may: "" and zero for nobody.
	ClaimedBy    string
	ClaimedUntil time.Time
}

// Message is an event in the form in which it is sent.
type Message struct {
	ID   string
	Type event.Type
	Text []byte
}

// Attempt is one try to deliver.
type Attempt struct {
	Number  int
	At      time.Time
	Took    time.Duration
	Outcome Outcome
	// Code and Message describe the error to the tenant; "" for a success.
	Code    string
	Message string
	// Status is the status of the answer; 0 if there was none.
	Status int
	// Answer is the beginning of the body of the answer.
	Answer string
	// Repeats is how many requests came before this one that ended without an answer on connections used before, and
	// were repeated at once. They count as attempts. It is not stored.
	Repeats int
}

// CountBefore returns the number of attempts before the last one and its repeats.
func (d Delivery) CountBefore() int {
	return d.AttemptCount - 1 - d.Attempts[len(d.Attempts)-1].Repeats
}

// NewDeliveryID returns the ID of the delivery of an event to a webhook. The same event has the same one each time. It
// is a UUIDv7 of the time of the event, so that deliveries are in the order of their IDs.
func NewDeliveryID(eventID, webhookID string, when time.Time) string {
	sum := sha256.Sum256([]byte(eventID + "\n" + webhookID))
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:], uint64(max(when.UnixMilli(), 0))<<16)
	copy(id[6:], sum[:])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// FirstDeliveryID returns the ID that is not after any of a delivery at or after a time, for ranges of IDs.
func FirstDeliveryID(since time.Time) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:], uint64(max(since.UnixMilli(), 0))<<16)
	return id.String()
}

// NewDelivery returns the delivery of an event to a webhook, with its first message.
func NewDelivery(w Webhook, m event.Message, now time.Time) (Delivery, error) {
	text, err := m.Encode()
	if err != nil {
		return Delivery{}, err
	}
	return Delivery{
		ID: NewDeliveryID(m.ID, w.ID, m.When), Tenant: w.Tenant, WebhookID: w.ID, Type: w.Type,
		Messages: []Message{{ID: m.ID, Type: m.Type, Text: text}}, IsOpen: w.Type == Batch,
		CreatedAt: now, Run: 1, RunAt: now,
	}, nil
}

// Body returns the body of the request: the message, or for the type Batch {"messages": [...]}. It is the same at every
// attempt.
func (d Delivery) Body() []byte {
	if d.Type != Batch {
		return d.Messages[0].Text
	}
	texts := make([][]byte, len(d.Messages))
	for i, m := range d.Messages {
		texts[i] = m.Text
	}
	return append(append([]byte(`{"messages":[`), bytes.Join(texts, []byte(","))...), "]}"...)
}

// CanCollect reports whether the delivery can collect one more message of a size, if it may have that many messages.
func (d Delivery) CanCollect(bytes, messages int) bool {
	for _, m := range d.Messages {
		bytes += len(m.Text)
	}
	return d.IsOpen && len(d.Messages) < messages && bytes <= MaxBodyBytes
}

// IsTest reports whether the delivery tries a webhook. It has one attempt, also if the webhook is disabled, and says
// nothing about the webhook's health.
func (d Delivery) IsTest() bool { return d.Type == Single && d.Messages[0].Type == event.WebhookTest }

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
	CarrierStore
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
	// ClaimAttempt makes somebody the one who makes the attempt that is due, until a time. It returns ErrChanged if
	// another one is that now, or if the delivery has had an attempt, an outcome or a run since d was read.
	ClaimAttempt(ctx context.Context, d Delivery, by string, now, until time.Time) error
	// SaveAttempt records the last of d.Attempts and the state of d after it, and ends the claim. It is conditional on
	// the run of d, on its being pending, and on the number of attempts before, and returns ErrChanged otherwise.
	SaveAttempt(ctx context.Context, d Delivery) error
	// EndDelivery records the outcome of a run that ends without an attempt. It returns ErrChanged if it has ended or
	// another run has begun.
	EndDelivery(ctx context.Context, d Delivery) error
	// BeginRun begins a run of a delivery, which is pending and claimed by nobody then. If the delivery has this run or
	// a later one, nothing changes. It returns the delivery after it, and ErrNotFound.
	BeginRun(ctx context.Context, tenant, webhook, id string, run int, at time.Time) (Delivery, error)
}
