// Package batch holds the life of a batch: what it is, the states it passes, and what a store of batches promises.
package batch

import (
	"time"

	"sluice/shared/chunk"
	"sluice/shared/transaction"
)

// Batch is one uploaded file on its way. Everything a step needs that could change between two runs of that step (times,
// settings) is pinned here, so that every step can run twice with one outcome.
type Batch struct {
	ID              ID
	Tenant          string
	Client          string
	Status          Status
	ErrorMessage    string // "" unless Status is ValidationFailed or Failed
	RejectOnInvalid bool
	CreatedAt       time.Time
	UpdatedAt       time.Time
	UploadBy        time.Time // when the pre-signed URL ends
	ReceivedAt      time.Time // when the upload was complete, from the storage event; zero before
	Object          Object    // zero until pinned
	Settings        Settings
	Plan            chunk.Plan // zero until VALIDATION_STARTED
	MaxLineBytes    int64      // pinned with the plan
	MaxTransactions int64      // pinned with the plan; 0: no limit
	DigestKey       [16]byte   // of the digests that find duplicates; random, so that nobody can aim at a collision
	Verdict         *Verdict   // nil until validation is finished
}

// Object is the uploaded file as pinned by the scan: a later object under the same key is another one.
type Object struct {
	Key     string
	ETag    string // as S3 sends it in If-Match, with quotes
	Version string // "" where the bucket keeps no versions
	Size    int64  // bytes
}

// Settings are the tenant's rules as they were when the batch was made.
type Settings struct {
	MaxPast    time.Duration              // how far created_at may lie before the receipt time; 0: no limit
	MaxFuture  time.Duration              // how far after it
	MainEntity transaction.MainEntityRule // which role must be known
}

// Verdict is the outcome of validation.
type Verdict struct {
	Total      int64  // transactions in the file, readable or not; blank lines are none
	Accepted   int64  // valid lines
	Invalid    int64  // lines in the report
	ReportKey  string // the report, in the work bucket; "": refused for its number of transactions, none accepted
	SummaryKey string // its counts by code
}

// Valid reports whether every line was valid and there was at least one.
func (v Verdict) Valid() bool { return v.Invalid == 0 && v.Accepted > 0 }

// Chunk is what the steps have committed about one byte range of the file. A nil part has not been reached.
type Chunk struct {
	Index     int
	Validated *Validated
	Settled   *Settled
	Ingested  *Ingested
}

// Validated is the committed result of reading one chunk.
type Validated struct {
	Lines        int64  // lines that start in the chunk, blank ones included
	Transactions int64  // of these, not blank
	Invalid      int64  // of these, with findings of their own
	Bytes        int64  // of the chunk
	FindingsKey  string // "" when there are none
	IndexKey     string // digests and entity references by partition; "" when there are none
}

// Settled is the committed result of merging one chunk's findings with the reconciled partitions.
type Settled struct {
	FirstLine   int64 // absolute number, from 1, of the chunk's first line
	Accepted    int64
	Invalid     int64
	AcceptedKey string // bitmap of accepted lines; "" when all transactions are, or none
	ReportKey   string // this chunk's part of the report; "" when it is empty
	ReportBytes int64
	SummaryKey  string // of this part; "" when it is empty
}

// Ingested is how far the lines of one chunk are stored.
type Ingested struct {
	Done   bool
	Offset int64 // bytes of the chunk that are behind
	Line   int64 // lines of the chunk that are behind
	Stored int64 // transactions written
}
