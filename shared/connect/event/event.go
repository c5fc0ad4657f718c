// Package event is the domain of events, which the service announces to its tenants. Every event leaves the service in
// the same form, a Message, on the event bus of the account and to the webhooks of its tenant
// (docs/contract/events.md).
package event

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// Message is one event as it is sent. It is complete and never changes: sending it again sends the same bytes.
type Message struct {
	// ID identifies the event. An event that is announced twice has the same ID both times, so that a receiver can drop
	// the second one; see NewID.
	ID     string `json:"id"`
	Tenant string `json:"tenantId"`
	Type   Type   `json:"eventType"`
	// RelativeURL is the path, below the address of the interface, at which the subject of the event can be read.
	RelativeURL string `json:"relativeUrl"`
	// Payload is a JSON object whose members depend on the type.
	Payload json.RawMessage `json:"payload"`
	// When is the time of what happened, not of its announcement.
	When time.Time `json:"when"`
	// CorrelationID is shared by all events about the same subject.
	CorrelationID string `json:"correlationId"`
	// CausationID is the ID of the resource that caused the event.
	CausationID string `json:"causationId"`
}

// Sender sends messages to receivers of one kind: the event bus, or the webhooks of the message's tenant.
type Sender interface {
	// Send makes sure that a message reaches its receivers; it need not have reached them when Send returns. It may be
	// called again with the same message, also concurrently: receivers then get it at least once. An error means that
	// some of them may not get it unless Send is called again.
	Send(ctx context.Context, m Message) error
}

// idSpace is the namespace of the IDs of events.
var idSpace = uuid.MustParse("0d0ab1b2-7a43-53a5-9e0c-5c0b5f0f6a1e")

// NewID returns the ID of the event of a type that happens at most once to a subject. It is a UUIDv5 of the type and
// the subject, so that every announcement of that event has the same one. If an event can happen to a thing several
// times, the subject says which time: "certificate ID, 14 days ahead".
func NewID(t Type, subject string) string {
	return uuid.NewSHA1(idSpace, []byte(string(t)+"\n"+subject)).String()
}
