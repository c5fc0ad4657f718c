// Package batch is the domain of batches: their statuses, the results that the steps of the pipeline commit, and the
// contract of a store of batches. docs/life-of-a-batch.md has the whole story.
package batch

import (
	"crypto/rand"
	"errors"
	"time"

	"github.com/google/uuid"

	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/chunk"
)

// Batch is one uploaded file and everything that happens to it. Every value that a step needs and that could change
// between two runs of that step (times, settings, limits) is pinned here, so that a repeated step comes to the same
// result.
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
	// Name and Metadata are given by the client; empty if they are not given.
	Name     string
	Metadata map[string]string
	// RejectOnInvalid means that one invalid transaction rejects the whole batch.
	RejectOnInvalid bool
	// MaxRejected is how many invalid transactions the batch may have; nil if RejectOnInvalid alone decides.
	MaxRejected *RejectLimit
	// ValidateOnly means that the batch ends with its validation; nothing of it is stored.
	ValidateOnly bool
	// Declared is the client's announcement of the upload.
	Declared Declared
	// Reserved is how many bytes of the tenant's unvalidated bytes the batch holds while it awaits its upload: the
	// announced ones, or else as many as the largest file has. 0 once the upload has arrived.
	Reserved int64
	// Multipart is the upload in several parts; nil for an upload by a single PUT.
	Multipart *Multipart
	// OnDuplicate is the treatment of the batch if its file was processed before; empty for AcceptDuplicate.
	OnDuplicate OnDuplicate
	CreatedAt   time.Time
	UpdatedAt   time.Time
	// History are the transitions to visible statuses, in their order. Those that a release made which kept no history
	// are missing.
	History []StatusAt
	// UploadBy is when the signed upload URL expires.
	UploadBy time.Time
	// ReceivedAt is when the upload was complete, from the storage event; zero until then.
	ReceivedAt time.Time
	// Object is the uploaded file; zero until it is pinned.
	Object Object
	// Encoding is how the uploaded file is packed, as its scan has found it; empty until then.
	Encoding Encoding
	// Content is the unpacked copy of a packed file, committed together with Encoding; zero if the file is not packed.
	Content  Object
	Settings tenancy.Settings
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
	// FileSHA256 is the SHA-256 of the bytes of the file, unpacked; nil until it is committed.
	FileSHA256 []byte
	// LinesSHA256 is the digest over all lines that are not blank, as they were sent and each followed by a line feed,
	// committed together with FileSHA256: the digest over the accepted lines if all are accepted.
	LinesSHA256 []byte
	// AcceptedSHA256 is the digest over the accepted lines if others are not; nil if it is not needed, or not
	// committed.
	AcceptedSHA256 []byte
	// DuplicateOf is a batch that was processed before with the same file; empty if no batch was.
	DuplicateOf ID
	// Verdict is the outcome of validation; nil until validation is finished.
	Verdict *Verdict
	// ParquetKey names the object with the accepted lines as Parquet; empty if it is not written.
	ParquetKey string
	// Unannounced are the receivers to whom the end of the batch is still to be announced; nil before its end and after
	// its announcement.
	Unannounced []Receiver
}

// Ingested returns the number of transactions of a batch that are stored and visible: none before it is processed.
func (b Batch) Ingested() int64 {
	if b.Status != Processed || b.ValidateOnly || b.Verdict == nil {
		return 0
	}
	return b.Verdict.Accepted
}

// openGrace is how long after the end of its URL a batch that awaits a single PUT counts as open: the PUT may be under
// way.
const openGrace = 15 * time.Minute

// CountsAsOpen reports whether a batch counts for the limit of open batches: it has not ended, and is not one whose
// single PUT has probably been forgotten. If that arrives nevertheless, the batch counts again.
func (b Batch) CountsAsOpen(now time.Time) bool {
	if b.Status == AwaitingUpload && b.Multipart == nil {
		return !now.After(b.UploadBy.Add(openGrace))
	}
	return !b.Status.IsTerminal()
}

// IsProcessedWhole reports whether one run of a function is to bring the batch, which is planned, to its end: its file
// is one chunk, and its names are not screened.
func (b Batch) IsProcessedWhole() bool { return b.Plan.Count() == 1 && b.Screening == nil }

// HasTooMany reports whether a number of transactions is more than the batch may have.
func (b Batch) HasTooMany(transactions int64) bool {
	return b.MaxTransactions > 0 && transactions > b.MaxTransactions
}

// Source returns the file that has the lines of the batch: the unpacked copy if there is one, or else the upload.
func (b Batch) Source() Object {
	if b.Content != (Object{}) {
		return b.Content
	}
	return b.Object
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

// NewDigestKey returns a random Batch.DigestKey.
func NewDigestKey() (key [16]byte) {
	rand.Read(key[:])
	return key
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
	// CSVKey names the report as CSV; empty if there is no such report.
	CSVKey string
	// RejectedKey names the file of the rejected lines as they were sent; empty if there is no such file.
	// RejectedLeftOut is the number of rejected lines that are not in it.
	RejectedKey     string
	RejectedLeftOut int64
	// AcceptedSHA256 is the digest over the accepted lines as they were sent, each followed by a line feed; nil if it
	// was not computed.
	AcceptedSHA256 []byte
	// Screening is the result of the screening of names; nil if they were not screened.
	Screening *ScreeningVerdict
}

// Counts returns the numbers of transactions; accepted and invalid are nil if the lines were not judged to the end.
func (v Verdict) Counts() (total, accepted, invalid *int64) {
	if v.Outcome == TooManyTransactions {
		return &v.Total, nil, nil
	}
	return &v.Total, &v.Accepted, &v.Invalid
}

// Valid reports whether there is at least one transaction and all transactions are valid.
func (v Verdict) Valid() bool { return v.Invalid == 0 && v.Accepted > 0 }
