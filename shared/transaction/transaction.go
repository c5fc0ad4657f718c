// Package transaction is the line schema of a batch: what one line must be, and the scanner that finds every error of it.
//
// Source of the schema: the batch contract, sections 6 to 9; of the codes and limits: its rulings, "Lines".
package transaction

import "time"

// MainEntityRule says which role of a line must be a known entity. The zero value is EitherParty.
type MainEntityRule string

const (
	EitherParty   MainEntityRule = ""             // sender or receiver; sender first
	ByPaymentType MainEntityRule = "payment_type" // payin: receiver; payout: sender; otherwise sender
)

// Default limits of a line; both are settings.
const (
	MaxLineBytes = 256 << 10
	MaxDepth     = 64
)

// Rules is everything beyond its bytes that the verdict on a line depends on. They are the same for every run of a batch.
type Rules struct {
	ReceivedAt   time.Time     // when the upload was complete
	MaxPast      time.Duration // how far modification.created_at may lie before ReceivedAt; 0: no limit
	MaxFuture    time.Duration // how far after it; 0: no limit
	MainEntity   MainEntityRule
	MaxLineBytes int // 0: MaxLineBytes
	MaxFindings  int // findings kept per line; 0: 100
}

// Role is the place of an entity in a transaction.
type Role uint8

const (
	NoRole Role = iota
	Sender
	Receiver
	SendingPartner
	ReceivingPartner
)

// Code is a stable name of an error, documented in docs/errors.md.
type Code string

// Finding is one error of one line.
type Finding struct {
	Code    Code
	Pointer string // RFC 6901, "" for the line itself
	Message string // a sentence a person can act on; repeats no value of the line
	Offset  int    // byte in the line, from 0
}

// Reference is one use of a known entity by a line.
type Reference struct {
	Role   Role
	ID     []byte // by_external_id, unescaped
	Offset int    // byte of the value in the line, from 0
}

// Result is what the scanner says of one line. It and everything in it is valid until the scanner's next line.
type Result struct {
	Blank    bool      // only JSON whitespace: no transaction
	Findings []Finding // in order of offset; empty for a line that is valid as far as the line alone can tell
	Dropped  int       // findings beyond Rules.MaxFindings: those that are found last, a missing field at the end of its object

	// Identifiers, unescaped; nil when absent, empty or no string. In a line with broken JSON only what was complete before the
	// first error is given.
	RequestUUID           []byte
	TransactionExternalID []byte
	ModificationID        []byte
	ModificationOffset    int // byte of the value of ModificationID in the line, from 0; the report of a duplicate shows it

	References []Reference // well-formed by_external_id uses, whose entities have yet to be looked up
	MainEntity Role        // the known entity that the line is about; NoRole when there is none
}

// Name returns the role's field in a line, "" for NoRole.
func (r Role) Name() string {
	switch r {
	case Sender:
		return "sender"
	case Receiver:
		return "receiver"
	case SendingPartner:
		return "sending_partner"
	case ReceivingPartner:
		return "receiving_partner"
	}
	return ""
}
