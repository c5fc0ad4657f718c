package transaction

import "time"

// MaxIDBytes is the longest identifier of a line, in bytes of UTF-8.
const MaxIDBytes = 255

// Record is one accepted line as it is stored: a version of a modification that is never overwritten.
type Record struct {
	Tenant        string
	TransactionID string // transaction_external_id
	Modification  string // modification.external_id
	ReceivedAt    time.Time
	Batch         string
	Line          int64 // 1-based, in the uploaded file
	MainEntity    Role
	Text          []byte // the line as sent
}
