// Package webhook is the domain of webhooks: the addresses at which a tenant wants to receive events, the deliveries to
// them, and the signatures by which a receiver knows that a delivery is genuine (docs/contract/webhooks.md).
package webhook

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sluice/shared/connect/event"
	"sluice/shared/connect/externalauth"
)

// Limits of a webhook (docs/contract/webhooks.md, Management).
const (
	// MaxPerTenant is how many webhooks a tenant may have.
	MaxPerTenant = 10
	// MaxNameChars and MaxSecretChars are the lengths of the longest name and secret in characters.
	MaxNameChars   = 128
	MaxSecretChars = 128
	// MaxURLBytes is the length of the longest URL.
	MaxURLBytes = 2048
	// MaxEmailAddresses is how many addresses a webhook may name.
	MaxEmailAddresses = 5
	// MinBatchSize and MaxBatchSize bound the number of messages that fill a delivery of the type Batch.
	MinBatchSize = 10
	MaxBatchSize = 100
	// DefaultBatchSize is the size of batches that are given none.
	DefaultBatchSize = MaxBatchSize
)

// Type says how many messages a delivery holds.
type Type string

const (
	// Single: each message is a delivery of its own.
	Single Type = "Single"
	// Batch: a delivery holds the messages of some time, at most the batch size.
	Batch Type = "Batch"
)

// CollectTime is how long a delivery of the type Batch collects messages.
const CollectTime = 60 * time.Second

// SecretOverlap is how long a secret that was replaced still signs, beside the new one.
const SecretOverlap = 24 * time.Hour

// AllEvents, as the type of an event, stands for all types.
const AllEvents = "*"

// Reasons for which the service disables a webhook.
const (
	// ReasonGone: the receiver has answered 410.
	ReasonGone = "gone"
	// ReasonFailing: no delivery has succeeded for days.
	ReasonFailing = "failing"
)

// Webhook is an address of a tenant to which events are delivered.
type Webhook struct {
	// ID is a UUID.
	ID     string
	Tenant string
	Name   string
	// URL begins with https://.
	URL string
	// Enabled is false if the tenant, or the service, has switched the webhook off.
	Enabled bool
	// EventTypes are the types of events that are delivered, or AllEvents alone.
	EventTypes []string
	// EmailAddresses are for people; the service does not write to them.
	EmailAddresses []string
	Type           Type
	// BatchSize is the number of messages that fill a delivery of the type Batch.
	BatchSize int
	// Secret is the sealed secret that signs deliveries.
	Secret []byte
	// PreviousSecret is the sealed secret that Secret has replaced. It signs too, until PreviousUntil.
	PreviousSecret []byte
	PreviousUntil  time.Time
	CreatedAt      time.Time
	UpdatedAt      time.Time
	// Version counts the changes that the tenant has made.
	Version int64

	// Health is derived from the outcomes of deliveries.
	Health Health
	// OpenDelivery is the ID of the delivery of the type Batch that was the last to collect messages; "" if there was
	// none.
	OpenDelivery string
}

// Health is the state of the deliveries to a webhook. Its zero value means that the webhook works.
type Health struct {
	// FailingSince is the time of the first failed attempt after the last success; zero if no attempt has failed since.
	FailingSince time.Time
	// GivenUpSince is when the first delivery was given up after the last success; zero if none was.
	GivenUpSince time.Time
	// RecoveredAt is when a delivery succeeded after others were given up. It is set until that is announced.
	RecoveredAt time.Time
	// DisabledAt is when the service disabled the webhook, and DisabledReason why; zero and "" if it did not.
	DisabledAt     time.Time
	DisabledReason string
}

// NewID returns a new ID of a webhook: a UUIDv7, so that webhooks are in the order of their creation.
func NewID() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}

// Wants reports whether the webhook asks for events of a type, enabled or not.
func (w Webhook) Wants(t event.Type) bool {
	return slices.Contains(w.EventTypes, AllEvents) || slices.Contains(w.EventTypes, string(t))
}

// IsDisabledByService reports whether the service, and not the tenant, has switched the webhook off. Its events are
// still recorded, so that they can be sent again.
func (w Webhook) IsDisabledByService() bool { return !w.Enabled && !w.Health.DisabledAt.IsZero() }

// SigningSecrets returns the sealed secrets that sign at a time: the current one, and the previous one while it counts.
func (w Webhook) SigningSecrets(now time.Time) (current, previous []byte) {
	if len(w.PreviousSecret) > 0 && now.Before(w.PreviousUntil) {
		return w.Secret, w.PreviousSecret
	}
	return w.Secret, nil
}

// ReplaceSecret makes a sealed secret the one that signs. The one before signs beside it for SecretOverlap; one that
// was replaced earlier signs no longer.
func (w *Webhook) ReplaceSecret(sealed []byte, now time.Time) {
	w.PreviousSecret, w.PreviousUntil = w.Secret, now.Add(SecretOverlap)
	w.Secret = sealed
}

// Enable switches the webhook on, and resets its health.
func (w *Webhook) Enable() { w.Enabled, w.Health = true, Health{} }

// CheckURL returns the error of the URL of a webhook, "" if it has none: a URL that each call would refuse is refused.
// Whether the address of its host may be called is decided by each call.
func CheckURL(text string) string {
	if len(text) > MaxURLBytes {
		return fmt.Sprintf("The value has more than %d bytes.", MaxURLBytes)
	}
	isPrintable := !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
	u, err := url.Parse(text)
	switch {
	case err != nil || !isPrintable || u.Opaque != "":
		return "The value must be a URL such as https://example.com/events, with other characters percent-encoded."
	case u.Scheme != "https":
		return "The URL must begin with https://."
	case u.Hostname() == "":
		return "The URL must name a host."
	case u.User != nil:
		return "The URL must not contain a user name or password: use the headers of an external authentication."
	case u.Fragment != "" || strings.Contains(text, "#"):
		return "The URL must not contain a fragment (#...), which is never sent."
	}
	if _, _, err := externalauth.Choose(nil, text); err != nil {
		return "The URL cannot be called: " + err.Error() + "."
	}
	return ""
}

// CheckEventTypes returns the error of a list of event types, "" if it has none, and the index of the item at fault; -1
// for the list as a whole.
func CheckEventTypes(types []string) (message string, index int) {
	if len(types) == 0 {
		return `The list must name at least one type of events, or "*" for all.`, -1
	}
	for i, t := range types {
		first := slices.Index(types, t)
		switch {
		case first < i:
			return fmt.Sprintf("The list contains %q twice: at %d and %d, counted from 0.", t, first, i), i
		case t == AllEvents && len(types) > 1:
			return `"*" stands for all types: name no other beside it.`, i
		case t != AllEvents && !event.Type(t).IsKnown():
			return "The value must be \"*\" or one of " + joinTypes() + ".", i
		}
	}
	return "", -1
}

func joinTypes() string {
	var names []string
	for _, t := range event.Types() {
		names = append(names, string(t))
	}
	return strings.Join(names, ", ")
}

// Policy says when a delivery is tried again, when it is given up, and when its webhook is disabled.
type Policy struct {
	// FirstPause is the pause after the first attempt. Each further one is twice as long, up to MaxPause.
	FirstPause, MaxPause time.Duration
	// Patience is the time from the beginning of a run after which it is given up.
	Patience time.Duration
	// DisableAfter is how long no delivery may have succeeded until giving one up disables the webhook.
	DisableAfter time.Duration
}

// NextAttempt returns when to try again after a number of failed attempts of a run, the last of which ended now. ok is
// false if the run is given up. The last attempt is made when the patience ends. random, in [0, 1), spreads the
// attempts of many deliveries: a pause is between 3/4 and 5/4 of its length.
func (p Policy) NextAttempt(runAt, now time.Time, failed int, random float64) (at time.Time, ok bool) {
	end := runAt.Add(p.Patience)
	if !now.Before(end) {
		return time.Time{}, false
	}
	pause := p.FirstPause
	for i := 1; i < failed && pause < p.MaxPause; i++ {
		pause *= 2
	}
	pause = min(pause, p.MaxPause)
	pause = pause*3/4 + time.Duration(random*float64(pause)/2)
	if at = now.Add(pause); at.After(end) {
		at = end
	}
	return at, true
}

// DisablesAt returns the time from which giving up a delivery disables a webhook with such health; zero if it works.
func (p Policy) DisablesAt(h Health) time.Time {
	if h.FailingSince.IsZero() {
		return time.Time{}
	}
	return h.FailingSince.Add(p.DisableAfter)
}
