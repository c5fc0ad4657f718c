// Package batch is the domain of batches: what a batch is, the statuses it passes through, what the steps of the
// pipeline commit about it, and what a store of batches promises. docs/life-of-a-batch.md tells the whole story.
package batch

import (
	"errors"
	"time"

	"github.com/google/uuid"

	"sluice/shared/chunk"
	"sluice/shared/transaction"
)

// Batch is one uploaded file and everything that happens to it. Whatever a step needs and that could change between two
// runs of that step (times, settings, limits) is pinned here, so that a repeated step comes to the same result.
type Batch struct {
	ID     ID
	Tenant string
	// Client is the ID of the client that created the batch.
	Client string
	Status Status
	// PreviousStatus is the status from which the latest transition led to Status; empty for a new batch, and for one
	// whose latest transition was made by a release that did not record it.
	PreviousStatus Status
	// ErrorMessage tells the client why the batch failed; empty unless Status is ValidationFailed or Failed.
	ErrorMessage string
	// RejectOnInvalid means that one invalid transaction rejects the whole batch.
	RejectOnInvalid bool
	CreatedAt       time.Time
	UpdatedAt       time.Time
	// UploadBy is when the signed upload URL expires.
	UploadBy time.Time
	// ReceivedAt is when the upload was complete, from the storage event; zero until then.
	ReceivedAt time.Time
	// Object is the uploaded file; zero until it is pinned.
	Object   Object
	Settings Settings
	// Screening is how the names of unknown entities are screened; nil if they are not.
	Screening *Screening
	// Plan divides the file into chunks; zero before ValidationStarted.
	Plan chunk.Plan
	// MaxLineBytes is the length of the longest line allowed, pinned with the plan.
	MaxLineBytes int64
	// MaxTransactions is the number of transactions allowed in the file, pinned with the plan; 0 means no limit.
	MaxTransactions int64
	// MaxReportBytes is the number of bytes of the report after which its entries are short, pinned with the plan; 0
	// means no limit.
	MaxReportBytes int64
	// DigestKey is the key of the digests that find duplicates. It is random for each batch, so that no client can
	// choose IDs whose digests collide.
	DigestKey [16]byte
	// Verdict is the outcome of validation; nil until validation is finished.
	Verdict *Verdict
	// Unannounced are the receivers to whom the end of the batch is still to be announced; nil before its end and after
	// its announcement.
	Unannounced []Receiver
}

// HasTooMany reports whether a number of transactions is more than the batch may have.
func (b Batch) HasTooMany(transactions int64) bool {
	return b.MaxTransactions > 0 && transactions > b.MaxTransactions
}

// ID identifies a batch. It is a UUIDv7 in its 36-character lower-case form, so that IDs sort by their time of
// creation.
type ID string

// ErrNotID means that a string is not a UUID.
var ErrNotID = errors.New("batch: not a UUID")

// NewID returns an ID made from the current time and the system's randomness.
func NewID() (ID, error) {
	u, err := uuid.NewV7()
	if err != nil {
		return "", err
	}
	return ID(u.String()), nil
}

// ParseID parses the 8-4-4-4-12 form of a UUID, in any case and of any version. It returns ErrNotID for any other
// string.
func ParseID(s string) (ID, error) {
	u, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return "", ErrNotID
	}
	return ID(u.String()), nil
}

// Object is the uploaded file as the scan pinned it. A later object under the same key is a different object.
type Object struct {
	Key string
	// ETag is the entity tag with its quotes, as S3 takes it in If-Match.
	ETag string
	// Version is the object's version ID; empty if the bucket keeps no versions.
	Version string
	// Size is in bytes.
	Size int64
}

// Settings are the tenant's rules as of the creation of the batch.
type Settings struct {
	// MaxPast is how long before the receipt time created_at may be; 0 means no limit.
	MaxPast time.Duration
	// MaxFuture is how long after the receipt time created_at may be.
	MaxFuture time.Duration
	// MainEntity decides which role of a transaction must be an onboarded entity.
	MainEntity transaction.MainEntityRule
	// Retention is how long after the receipt time stored lines are visible; 0 means for ever.
	Retention time.Duration
}

// ExpiryOf returns when a line that was received at a time expires, in whole seconds; the zero time if it never does.
func (s Settings) ExpiryOf(receivedAt time.Time) time.Time {
	if s.Retention == 0 {
		return time.Time{}
	}
	return receivedAt.Add(s.Retention).Truncate(time.Second)
}

// Outcome says how validation ended.
type Outcome int

const (
	// Judged means that every line was judged; the report names all errors.
	Judged Outcome = iota
	// TooManyTransactions means that the file has more transactions than Batch.MaxTransactions. Its lines were counted
	// and then not judged to the end: none is accepted, and there is no report.
	TooManyTransactions
)

// Verdict is the outcome of validation.
type Verdict struct {
	Outcome Outcome
	// Total is the number of transactions in the file, readable or not; blank lines do not count.
	Total int64
	// Accepted is the number of valid transactions.
	Accepted int64
	// Invalid is the number of invalid transactions, which is the number of lines in the report.
	Invalid int64
	// ReportKey and SummaryKey name the report and its counts by code in the work bucket. They are set if Outcome is
	// Judged.
	ReportKey, SummaryKey string
	// ReportShortened means that the report passed Batch.MaxReportBytes, so that its last entries are short.
	ReportShortened bool
	// Screening is what the screening of names came to; nil if they were not screened.
	Screening *ScreeningVerdict
}

// Valid reports whether there is at least one transaction and all transactions are valid.
func (v Verdict) Valid() bool { return v.Invalid == 0 && v.Accepted > 0 }

// Partitions is the number of parts into which the modification IDs and entity references of a batch are divided.
const Partitions = 16

// Chunk is what the steps have committed about one chunk. A nil field means that the step has not committed its result.
type Chunk struct {
	Index     int
	Validated *ValidateResult
	Settled   *SettleResult
	Ingested  *IngestCursor
}

// ValidateResult is the committed result of validating one chunk.
type ValidateResult struct {
	// Lines is the number of lines that start in the chunk, blank ones included.
	Lines int64
	// Transactions is the number of lines that are not blank.
	Transactions int64
	// Invalid is the number of transactions with findings of their own.
	Invalid int64
	// Bytes is the size of the chunk.
	Bytes int64
	// FindingsKey names the work file of findings; empty if there are no findings.
	FindingsKey string
	// IndexKey names the work file of digests and entity references by partition; empty if there are none.
	// IndexSections are its validation.Sections; empty if a release committed the result that kept none.
	IndexKey, IndexSections string
	// MinReportBytes is a number of bytes that the chunk's part of a report of full entries is not shorter than.
	MinReportBytes int64
	// NamesKey names the work file of the names of unknown entities; empty if there are none or they are not screened.
	// NamesSections are its validation.Sections; empty if a release committed the result that kept none.
	NamesKey, NamesSections string
}

// ReconcileResult is the committed result of reconciling one partition.
type ReconcileResult struct {
	// RejectionsKey names the work file of the lines that the partition rejects; empty if it rejects no line.
	// RejectionsSections are its validation.Sections; empty if a release committed the result that kept none.
	RejectionsKey, RejectionsSections string
}

// SettleResult is the committed result of settling one chunk.
type SettleResult struct {
	// Skipped means that the lines of the chunk were not judged to the end, because the batch has too many
	// transactions; all other fields are zero.
	Skipped bool
	// FirstLine is the absolute number, from 1, of the chunk's first line.
	FirstLine int64
	// Accepted and Invalid are the numbers of transactions of the chunk that are accepted and rejected.
	Accepted, Invalid int64
	// AcceptedKey names the work file of the accept bitmap. It is set if Acceptance is AcceptSome.
	AcceptedKey string
	// ReportKey names the chunk's part of the report and ReportBytes is its size; empty and 0 if no line is rejected.
	ReportKey   string
	ReportBytes int64
	// ShortBytes is how many of these bytes, at the end of the part, are short entries.
	ShortBytes int64
	// SummaryKey names the summary of that part; empty if no line is rejected.
	SummaryKey string
	// Hits is the number of alerts of the chunk. AlertsKey names the work file of those that were written and
	// AlertBytes is its size; empty and 0 if there are none. AlertsLeftOut means that not all were written.
	Hits          int64
	AlertsKey     string
	AlertBytes    int64
	AlertsLeftOut bool
}

// Acceptance says how many transactions of a chunk are accepted.
type Acceptance int

const (
	// AcceptNone: no transaction of the chunk is accepted.
	AcceptNone Acceptance = iota
	// AcceptAll: all transactions of the chunk are accepted.
	AcceptAll
	// AcceptSome: the accept bitmap says which transactions are accepted.
	AcceptSome
)

// Acceptance returns how many transactions of the chunk are accepted.
func (r SettleResult) Acceptance() Acceptance {
	switch {
	case r.Accepted == 0:
		return AcceptNone
	case r.Invalid == 0:
		return AcceptAll
	}
	return AcceptSome
}

// IngestCursor says how far the accepted lines of one chunk are stored.
type IngestCursor struct {
	// Done means that all accepted lines of the chunk are stored.
	Done bool
	// Offset and Line are the numbers of bytes and lines of the chunk that precede the cursor.
	Offset, Line int64
	// Stored is the number of transactions stored.
	Stored int64
}

// LineCounts are the sizes of the chunks of a batch. They are known once every chunk is validated.
type LineCounts struct {
	// ByChunk is the number of lines in each chunk, blank ones included.
	ByChunk []int64
	// Transactions is the number of transactions in the file.
	Transactions int64
	// MinReportBytes are those of ValidateResult, by chunk; nil if a release committed the counts that had none.
	MinReportBytes []int64
}

// CountLines returns the line counts of the chunks of a batch, all of which must be validated.
func CountLines(chunks []Chunk) LineCounts {
	counts := LineCounts{ByChunk: make([]int64, len(chunks)), MinReportBytes: make([]int64, len(chunks))}
	for i, c := range chunks {
		counts.ByChunk[i] = c.Validated.Lines
		counts.MinReportBytes[i] = c.Validated.MinReportBytes
		counts.Transactions += c.Validated.Transactions
	}
	return counts
}

// FirstLine returns the absolute number, from 1, of the first line of a chunk.
func (c LineCounts) FirstLine(index int) int64 {
	first := int64(1)
	for _, lines := range c.ByChunk[:index] {
		first += lines
	}
	return first
}

// ReportStart returns a number of bytes that the parts of the report of the chunks preceding one are not shorter than.
func (c LineCounts) ReportStart(index int) int64 {
	start := int64(0)
	for _, n := range c.MinReportBytes[:min(index, len(c.MinReportBytes))] {
		start += n
	}
	return start
}
