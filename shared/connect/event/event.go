// Package event is the domain of events, which the service announces to its tenants. Every event leaves the service in
// the same form, a Message, on the event bus of the account and to the webhooks of its tenant
// (docs/contract/events.md).
package event

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

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

// Type is the kind of an event (docs/contract/events.md, Types).
type Type string

// The types of events that the service announces.
const (
	// BatchProcessed: a batch has reached PROCESSED.
	BatchProcessed Type = "batchtransaction:ingestionProcessed"
	// BatchRejected: a batch has reached VALIDATION_FAILED.
	BatchRejected Type = "batchtransaction:ingestionValidation_failed"
	// BatchFailed: a batch has reached ERROR.
	BatchFailed Type = "batchtransaction:ingestionFailed"
	// CertificateExpiring: a certificate with which the tenant's receivers are recognised ends soon.
	CertificateExpiring Type = "externalauthentication:certificateExpiring"
	// WebhookTest: somebody asked for a message to try a webhook.
	WebhookTest Type = "webhook:test"
	// WebhookDisabled: a webhook was disabled because deliveries to it failed.
	WebhookDisabled Type = "webhook:disabled"
	// WebhookRecovered: a delivery to a webhook succeeded after others had failed.
	WebhookRecovered Type = "webhook:recovered"
	// WatchlistUpdated: a watchlist that the tenant screens against has another version.
	WatchlistUpdated Type = "watchlist.updated"
	// RescreeningFinished: the earlier screenings of the tenant were repeated against the changes of a watchlist.
	RescreeningFinished Type = "rescreening.finished"
)

// The types of the contract that nothing announces yet. A webhook may name them.
const (
	// RiskCompleted: a later step has assessed the risk of a batch.
	RiskCompleted Type = "batchtransaction:behaviouralriskcompleted"
	// TransactionFailed: a single transaction failed.
	TransactionFailed Type = "transaction:ingestionfailed"
)

// Types returns every type that a webhook may name.
func Types() []Type {
	return []Type{BatchProcessed, BatchRejected, BatchFailed, RiskCompleted, TransactionFailed, CertificateExpiring,
		WebhookTest, WebhookDisabled, WebhookRecovered, WatchlistUpdated, RescreeningFinished}
}

// IsKnown reports whether t is one of Types.
func (t Type) IsKnown() bool { return slices.Contains(Types(), t) }

// Source returns the source of the type on the event bus, by which rules of EventBridge choose events.
func (t Type) Source() string {
	area := string(t)
	if end := strings.IndexAny(area, ":."); end >= 0 {
		area = area[:end]
	}
	switch area {
	case "batchtransaction":
		area = "batch"
	}
	return "sluice." + area
}

// Encode returns the message as it is sent: JSON without white space, in ASCII alone, with every other character as
// \uXXXX. Of a valid message, repeated calls return the same bytes. It returns an error if the payload is not a JSON
// object.
func (m Message) Encode() ([]byte, error) {
	if payload := bytes.TrimLeft(m.Payload, " \t\r\n"); len(payload) == 0 || payload[0] != '{' {
		return nil, fmt.Errorf("event %s: the payload is not a JSON object", m.ID)
	}
	m.When = m.When.UTC()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(m); err != nil {
		return nil, fmt.Errorf("event %s: %w", m.ID, err)
	}
	return escapeNonASCII(bytes.TrimSuffix(text.Bytes(), []byte("\n"))), nil
}

// escapeNonASCII returns a JSON text with every character outside ASCII as \uXXXX, which can only be part of a string.
// A byte that is not part of a character becomes the replacement character.
func escapeNonASCII(text []byte) []byte {
	isASCII := true
	for _, c := range text {
		isASCII = isASCII && c < utf8.RuneSelf
	}
	if isASCII {
		return text
	}
	escaped := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		switch high, low := utf16.EncodeRune(r); {
		case r < utf8.RuneSelf:
			escaped = append(escaped, byte(r))
		case r > 0xffff:
			escaped = fmt.Appendf(escaped, `\u%04x\u%04x`, high, low)
		default:
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		}
	}
	return escaped
}

// Decode reads a message that Encode has written.
func Decode(text []byte) (Message, error) {
	var m Message
	if err := json.Unmarshal(text, &m); err != nil {
		return Message{}, fmt.Errorf("read event: %w", err)
	}
	return m, nil
}
