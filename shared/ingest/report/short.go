package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"sluice/shared/ingest/transaction"
)

// DefaultMaxBytes is the number of bytes of a report after which its entries are short, unless a setting says
// otherwise.
const DefaultMaxBytes = 256_000_000

// MaxErrors is the largest number of errors that the report gives of one line.
const MaxErrors = transaction.MaxFindings

// AppendShortTo appends the short form of the line, which is described in the package documentation, with its "\n".
func (l *Line) AppendShortTo(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"line":`...), l.Number, 10)
	for _, id := range []struct {
		name  string
		value []byte
	}{
		{`,"request_uuid":`, l.RequestUUID},
		{`,"transaction_external_id":`, l.TransactionExternalID},
		{`,"modification_external_id":`, l.ModificationID},
	} {
		if id.value != nil {
			b = appendString(append(b, id.name...), id.value)
		}
	}
	b = append(b, `,"codes":[`...)
	for i := range l.Errors {
		code := l.Errors[i].Code
		if slices.ContainsFunc(l.Errors[:i], func(e Error) bool { return e.Code == code }) {
			continue
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, string(code))
	}
	return append(b, ']', '}', '\n')
}

// appendShortOf appends the short form of an entry of the report, which is given in its full form, and returns the
// number of its line, too.
func appendShortOf(b, entry []byte) (_ []byte, number int64, err error) {
	var full struct {
		Line                  int64   `json:"line"`
		RequestUUID           *string `json:"request_uuid"`
		TransactionExternalID *string `json:"transaction_external_id"`
		ModificationID        *string `json:"modification_external_id"`
		Errors                []struct {
			Type transaction.Code `json:"type"`
		} `json:"errors"`
	}
	if err := json.Unmarshal(entry, &full); err != nil {
		return b, 0, fmt.Errorf("read entry of the report: %w", err)
	}
	optional := func(s *string) []byte {
		if s == nil {
			return nil
		}
		return append([]byte{}, *s...)
	}
	line := Line{
		Number: full.Line, RequestUUID: optional(full.RequestUUID),
		TransactionExternalID: optional(full.TransactionExternalID), ModificationID: optional(full.ModificationID),
		Errors: make([]Error, len(full.Errors)),
	}
	for i, e := range full.Errors {
		line.Errors[i].Code = e.Type
	}
	return line.AppendShortTo(b), full.Line, nil
}

// MinBytes returns a number of bytes that the full form of a line is not shorter than, without the errors that other
// lines and the entities add to it. It is the sum of lengths: nothing is formatted.
func MinBytes(res *transaction.Result) int64 {
	n := len(`{"line":1,"request_uuid":,"transaction_external_id":,"modification_external_id":,"errors":[]}` + "\n")
	for _, id := range [][]byte{res.RequestUUID, res.TransactionExternalID, res.ModificationID} {
		if id == nil {
			n += len("null")
		} else {
			n += len(id) + len(`""`)
		}
	}
	for i := range res.Findings[:min(len(res.Findings), MaxErrors-maxRejections)] {
		f := &res.Findings[i]
		n += len(`{"loc":[],"msg":"","type":"","pointer":"","offset":0}`) + len(f.Message) + len(f.Code) +
			len(f.Pointer)
	}
	return int64(n)
}

// maxRejections is more than the number of errors that other lines and the entities can add to a line: one for its
// modification ID and one for each role.
const maxRejections = 20

// IsFull reports whether the entry that begins after a number of bytes of the report is in its full form. A limit of 0
// means that every entry is.
func IsFull(precedingBytes, limit int64) bool { return limit <= 0 || precedingBytes < limit }
