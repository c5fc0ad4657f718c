package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"sluice/shared/transaction"
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

// appendShortOf appends the short form of an entry of the report, which is given in its full form.
func appendShortOf(b, entry []byte) ([]byte, error) {
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
		return b, fmt.Errorf("read entry of the report: %w", err)
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
	return line.AppendShortTo(b), nil
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
		n += len(`{"loc":[],"msg":"","type":"","pointer":"","offset":0}`) + len(f.Message) + len(f.Code) + len(f.Pointer)
	}
	return int64(n)
}

// maxRejections is more than the number of errors that other lines and the entities can add to a line: one for its
// modification ID and one for each role.
const maxRejections = 20

// IsFull reports whether the entry that begins after a number of bytes of the report is in its full form. A limit of 0
// means that every entry is.
func IsFull(precedingBytes, limit int64) bool { return limit <= 0 || precedingBytes < limit }

// Joiner writes a report from its parts.
//
// Parts are made independently of each other. The maker of a part knows only a number of bytes that the preceding parts
// are not shorter than (MinBytes), and so shortens an entry or two too few, never too many. The joiner, which knows
// what precedes, shortens the others. The report is therefore the same for every division into parts: an entry is full
// exactly if IsFull says so of the bytes that precede it.
type Joiner struct {
	out       io.Writer
	limit     int64
	written   int64
	shortened bool
	in        *bufio.Reader
	buf       []byte
}

// NewJoiner returns a Joiner that writes to out and shortens the entries after limit bytes; 0 means none.
func NewJoiner(out io.Writer, limit int64) *Joiner {
	return &Joiner{out: out, limit: limit, in: bufio.NewReaderSize(nil, 64<<10)}
}

// Shortened reports whether an entry of the report is short.
func (j *Joiner) Shortened() bool { return j.shortened }

// AddPart adds the next part: first full entries of fullBytes bytes, and then short ones of shortBytes bytes.
func (j *Joiner) AddPart(part io.Reader, fullBytes, shortBytes int64) error {
	j.in.Reset(part)
	rest := fullBytes
	if within := j.bytesWithinLimit(fullBytes); within == fullBytes {
		rest = 0
		if err := j.copy(fullBytes); err != nil {
			return err
		}
	} else if within > 0 {
		// The entry with the last byte within the limit begins within it, and so is full.
		if err := j.copy(within - 1); err != nil {
			return err
		}
		end, err := j.in.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("read part of the report: %w", err)
		}
		if err := j.write(end); err != nil {
			return err
		}
		rest -= within - 1 + int64(len(end))
	}
	for rest > 0 {
		entry, err := j.in.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("read part of the report: %w", err)
		}
		rest -= int64(len(entry))
		if j.buf, err = appendShortOf(j.buf[:0], entry); err != nil {
			return err
		}
		j.shortened = true
		if err := j.write(j.buf); err != nil {
			return err
		}
	}
	j.shortened = j.shortened || shortBytes > 0
	if err := j.copy(shortBytes); err != nil {
		return err
	}
	if _, err := j.in.ReadByte(); err != io.EOF {
		return fmt.Errorf("part of the report has more than its %d bytes (%v)", fullBytes+shortBytes, err)
	}
	return nil
}

// bytesWithinLimit returns how many of n bytes lie within the limit.
func (j *Joiner) bytesWithinLimit(n int64) int64 {
	if j.limit <= 0 {
		return n
	}
	return max(min(n, j.limit-j.written), 0)
}

func (j *Joiner) copy(n int64) error {
	copied, err := io.CopyN(j.out, j.in, n)
	j.written += copied
	if err != nil {
		return fmt.Errorf("copy %d bytes of a part of the report: %w", n, err)
	}
	return nil
}

func (j *Joiner) write(b []byte) error {
	n, err := j.out.Write(b)
	j.written += int64(n)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
