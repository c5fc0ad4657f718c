// Package report is the validation report of a batch: one JSON object for each rejected line, in the order of the lines
// (JSON Lines), and a summary beside it. The format is described in docs/contract/batch.md, Validation report.
package report

import "sluice/shared/transaction"

// Line is a rejected line of a batch, with all its errors.
type Line struct {
	Number                int64 // absolute, from 1
	RequestUUID           []byte
	TransactionExternalID []byte
	ModificationID        []byte // identifiers are nil where the line gives none that can be read
	Errors                []Error
	Dropped               int // errors beyond the bound of a line
}

// Error is one error of a line.
type Error struct {
	Code    transaction.Code
	Pointer string // RFC 6901, "" for the line as a whole
	Message string
	Offset  int64 // byte in the file, from 0

	// Of a duplicate only: the first lines, absolute, that share the ID, without this one, and how many there are.
	OtherLines      []int64
	OtherLinesTotal int64
}
