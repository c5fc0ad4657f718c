// Package transaction is the vocabulary of lines, whether a batch or a single request delivers them: the rules by which
// a line is judged, the findings and identifiers that a scanner returns for it, and the form in which an accepted line
// is stored.
//
// The fields of a line are listed in package schema, and package scanner reads lines. The limits and codes follow
// docs/contract/transaction-lines.md.
package transaction

import (
	"cmp"
	"errors"
	"time"

	"sluice/shared/access/tenancy"
)

// Limits of a line.
const (
	// MaxLineBytes is the default of Rules.MaxLineBytes.
	MaxLineBytes = 256 << 10

	// MaxDepth is how many objects and arrays may be nested in each other, the line's own object included.
	MaxDepth = 64

	// MaxIDBytes is the length of the longest identifier, in bytes of UTF-8.
	MaxIDBytes = 255

	// MaxFindings is the default of Rules.MaxFindings.
	MaxFindings = 100
)

// Lookahead is how many bytes must follow the line feed of a line that a scanner reads in place, without copying it.
// The scanner reads several bytes at a time and may read these, but they have no influence on its result.
const Lookahead = 63

// Rules are everything besides its bytes that the verdict on a line depends on. They are the same for every run of a
// batch.
type Rules struct {
	// ReceivedAt is when the upload of the batch was complete, or when the single request arrived.
	ReceivedAt time.Time

	// MaxPast is how far modification.created_at may be before ReceivedAt; 0 means any distance.
	MaxPast time.Duration

	// MaxFuture is how far modification.created_at may be after ReceivedAt; 0 means any distance.
	MaxFuture time.Duration

	// MainEntity chooses the role that must be filled by an onboarded entity.
	MainEntity tenancy.MainEntityRule

	// MaxLineBytes is the length of the longest line, without its line feed; 0 means the constant MaxLineBytes.
	MaxLineBytes int

	// MaxFindings is how many findings are kept of each line; 0 means the constant MaxFindings.
	MaxFindings int

	// CollectNames asks for Result.Names. It has no influence on anything else.
	CollectNames bool
}

// Role is the part that an entity plays in a transaction. Its numbers are stored and must not change.
type Role uint8

// The roles of a line; NoRole is the absence of a role.
const (
	NoRole Role = iota
	Sender
	Receiver
	SendingPartner
	ReceivingPartner
)

// Name returns the name of the role's field in a line, or "" for NoRole.
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

// Version is one accepted line as it is stored: a version of a modification, which is never overwritten.
type Version struct {
	// Tenant is the ID of the institution that owns the line.
	Tenant string

	// TransactionID is the line's transaction_external_id.
	TransactionID string

	// Modification is the line's modification.external_id.
	Modification string

	// ReceivedAt is when the upload of the batch was complete, or when the single request arrived.
	ReceivedAt time.Time

	// Batch is the ID of the batch that holds the line; "" for a line that a single request delivered.
	Batch string

	// Line is the line's number in the uploaded file, from 1; 0 for a line that a single request delivered.
	Line int64

	// MainEntity is the role of the entity for which the transaction is monitored.
	MainEntity Role

	// Expires is when the version is gone; zero if it never is. It is counted in whole seconds.
	Expires time.Time

	// Text is the line as it was sent, without its line feed.
	Text []byte
}

// IsExpired reports whether the version is gone at a time. It may still be stored: expired versions are deleted some
// days later.
func (v Version) IsExpired(now time.Time) bool { return !v.Expires.IsZero() && !now.Before(v.Expires) }

// IsSingle reports whether a single request delivered the version. It is visible at once; a version of a batch is
// visible once its batch is PROCESSED. Neither is visible once it has expired.
func (v Version) IsSingle() bool { return v.Batch == "" }

// Range selects stored versions of one transaction.
type Range struct {
	Tenant        string
	TransactionID string

	// Modification selects the versions of one modification, newest first: by receipt time, of equal ones the one of
	// the greater batch ID. "" selects all modifications in the order of their IDs (shorter ones first, then by bytes),
	// the versions of each oldest first.
	Modification string

	// After is the ID of the modification after which the range begins; "" for the first one. It has no meaning if
	// Modification is set.
	After string

	// Before is a version of Modification: only older ones are selected; nil for all.
	Before *Version

	// Limit is the largest number of versions that are read.
	Limit int

	// KeysOnly leaves out Line, MainEntity and Text.
	KeysOnly bool
}

// CompareModifications compares two IDs of modifications in the order of Range.
func CompareModifications(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// Compare compares two versions of one modification by age: it is negative if v is older.
func (v Version) Compare(other Version) int {
	return cmp.Or(v.ReceivedAt.Compare(other.ReceivedAt), cmp.Compare(v.Batch, other.Batch))
}

// ErrExists means that another line is stored for the same modification and the same receipt time.
var ErrExists = errors.New("transaction: another version of the modification has the same receipt time")
