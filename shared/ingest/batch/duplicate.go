package batch

import (
	"fmt"
	"time"
)

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
