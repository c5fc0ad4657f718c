package batch

import (
	"fmt"
	"slices"
	"time"

	"sluice/shared/ingest/chunk"
)

// Status is the state of a batch (docs/contract/batch.md).
type Status string

// The statuses of a batch. The status endpoint answers 202 while a batch is in one of the first two, which its replies
// never name.
const (
	// AwaitingUpload: the upload URL is issued and nothing is stored yet.
	AwaitingUpload Status = "AWAITING_UPLOAD"
	// Uploaded: the object is pinned; it waits for its malware scan or for the state machine.
	Uploaded Status = "UPLOADED"
	// ValidationStarted: the file is planned and is being validated.
	ValidationStarted Status = "VALIDATION_STARTED"
	// ValidationFailed: the batch is rejected as a whole; its report says why. Terminal.
	ValidationFailed Status = "VALIDATION_FAILED"
	// PendingIngestion: the batch is validated and waits to be admitted.
	PendingIngestion Status = "PENDING_INGESTION"
	// Initialized: the batch is admitted to ingestion.
	Initialized Status = "INITIALIZED"
	// InProgress: accepted lines are being stored.
	InProgress Status = "IN_PROGRESS"
	// Processed: all accepted lines are stored and visible. Terminal.
	Processed Status = "PROCESSED"
	// Failed: the batch could not be processed; nothing of it is visible. Terminal.
	Failed Status = "ERROR"
)

// successors lists the legal transitions (docs/contract/batch.md, Statuses). That from ValidationStarted to Processed
// is legal for a batch that is ValidateOnly: see EndsValidateOnly.
var successors = map[Status][]Status{
	AwaitingUpload:    {Uploaded, Failed},
	Uploaded:          {ValidationStarted, Failed},
	ValidationStarted: {PendingIngestion, ValidationFailed, Processed, Failed},
	PendingIngestion:  {Initialized, Failed},
	Initialized:       {InProgress, Failed},
	InProgress:        {Processed, Failed},
}

// Statuses returns every status in the order in which a batch passes through them.
func Statuses() []Status {
	return []Status{AwaitingUpload, Uploaded, ValidationStarted, ValidationFailed, PendingIngestion, Initialized,
		InProgress, Processed, Failed}
}

// CanTransitionTo reports whether one transition leads from s to next.
func (s Status) CanTransitionTo(next Status) bool { return slices.Contains(successors[s], next) }

// Predecessors returns the statuses from which one transition leads to s.
func (s Status) Predecessors() []Status {
	var from []Status
	for _, p := range Statuses() {
		if p.CanTransitionTo(s) {
			from = append(from, p)
		}
	}
	return from
}

// EndsValidateOnly reports whether a transition is the one by which a batch that is ValidateOnly ends with its
// validation. It is not legal for any other batch.
func EndsValidateOnly(from, to Status) bool { return from == ValidationStarted && to == Processed }

// IsTerminal reports whether no transition leads out of s.
func (s Status) IsTerminal() bool { return len(successors[s]) == 0 }

// IsVisible reports whether the status endpoint names s; for the other statuses it answers 202.
func (s Status) IsVisible() bool { return s != AwaitingUpload && s != Uploaded }

// StatusAt is a status and the time of the transition to it.
type StatusAt struct {
	Status Status
	At     time.Time
}

// Transition is a change of status together with everything that becomes true with it.
type Transition struct {
	// To is the new status.
	To Status
	// From is the only status that the batch may have; empty for any of To.Predecessors().
	From Status
	// At is the time of the transition, which becomes Batch.UpdatedAt.
	At time.Time
	// Object and ReceivedAt are recorded with Uploaded.
	Object     *Object
	ReceivedAt time.Time
	// Encoding is recorded with Failed, if the file is known to be packed and is not unpacked.
	Encoding Encoding
	// Plan, MaxLineBytes, MaxTransactions and MaxReportBytes are pinned with ValidationStarted.
	Plan            *chunk.Plan
	MaxLineBytes    int64
	MaxTransactions int64
	MaxReportBytes  int64
	// ListVersions are pinned with ValidationStarted, if names are screened.
	ListVersions []ListVersion
	// Verdict is recorded with PendingIngestion, ValidationFailed and, of a batch that is ValidateOnly, Processed.
	Verdict *Verdict
	// DuplicateOf is recorded with the verdict, if the file of the batch was processed before.
	DuplicateOf ID
	// File is the file that counts as processed by the batch from Processed on; nil for none. If another batch is the
	// one that has processed it last, within DuplicateWindow, that is recorded as DuplicateOf, unless the batch has
	// one.
	File *File
	// Opens is the file that the batch processes from PendingIngestion on until it ends; nil for none. If Alone is
	// true, the transition, also one to Processed, is made only if no other batch processes the file then, and none has
	// processed it within DuplicateWindow: otherwise Apply returns a *FileTakenError.
	Opens *File
	Alone bool
	// ErrorMessage is recorded with ValidationFailed and Failed.
	ErrorMessage string
	// Export means that the accepted lines are to be written as Parquet: the batch is Unannounced to Export, too.
	Export bool
	// Index means that lines were validated, which are to be indexed: the batch is Unannounced to Index, too.
	Index bool
	// Expires is when the store may forget the batch; zero means never.
	Expires time.Time
}

// The messages of batches that failed outside their validation.
const (
	// TechnicalFailure is the message of a batch whose processing failed or stopped.
	TechnicalFailure = "Processing failed for a technical reason; nothing of the batch was ingested. " +
		"Upload it again as a new batch."
	// NeverUploaded is the message of a batch whose file did not arrive.
	NeverUploaded = "The upload did not arrive in time."
	// GivenUp is the message of a batch whose upload in parts the client has given up.
	GivenUp = "The upload was given up by the client."
	// OtherFile is the message of a batch whose file has another digest than was announced.
	OtherFile = "The file is not the one that was announced."
	// Unscannable is the message of a batch whose file could not be scanned for malware.
	Unscannable = "The file could not be scanned for malware. Upload it again as a new batch."
)

// ConflictError means that a transition was not made because the batch has a status from which the transition is not
// legal.
type ConflictError struct {
	// Wanted is the status that the batch was to get.
	Wanted Status
	// Current is the batch as it is. A caller can see in it whether an earlier or concurrent run of itself has already
	// made the transition.
	Current Batch
}

// Error implements error.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("batch %s cannot become %s: it is %s", e.Current.ID, e.Wanted, e.Current.Status)
}

// DuplicateWindow is how long a file counts as processed, from the end of the batch that had it.
const DuplicateWindow = 30 * 24 * time.Hour

// File is the record that batches of a tenant with the same file, packed or not, have in common.
type File struct {
	Tenant string
	// SHA256 is the digest of the lines as they were sent, unpacked.
	SHA256 []byte
}

// File returns the file of a batch, nil while its digest is not known.
func (b Batch) File() *File {
	if b.FileSHA256 == nil {
		return nil
	}
	return &File{b.Tenant, b.FileSHA256}
}

// IsRejectedAsDuplicate reports whether the batch was rejected because its file was processed before, or is.
func (b Batch) IsRejectedAsDuplicate() bool {
	return b.Status == ValidationFailed && b.DuplicateOf != "" && b.OnDuplicate.Rejects()
}

// DuplicateMessage returns the message of a batch that is rejected because its file was processed as another batch.
func DuplicateMessage(of ID) string { return fmt.Sprintf("This file was processed as batch %s.", of) }

// FileTakenError means that a transition was not made because another batch processes the file, or has processed it.
type FileTakenError struct {
	By          ID
	IsProcessed bool
}

// Error implements error. The text is the message of a batch that is rejected for it.
func (e *FileTakenError) Error() string {
	if e.IsProcessed {
		return DuplicateMessage(e.By)
	}
	return fmt.Sprintf("This file is being processed as batch %s.", e.By)
}
