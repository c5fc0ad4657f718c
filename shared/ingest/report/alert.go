package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"

	"sluice/shared/ingest/transaction"
)

// Alert is a hit of the name that a line gives an unknown entity: one entry of a watchlist that is like it. The alerts
// of a batch are JSON Lines, in the order of the lines, of the names in a line, and of the scores of a name, the
// highest first. docs/contract/batch.md describes their members for clients.
type Alert struct {
	// Line is the number of the line in the file, from 1.
	Line int64

	// TransactionExternalID and ModificationID identify the line, and ExternalID the unknown entity; nil if they cannot
	// be read.
	TransactionExternalID []byte
	ModificationID        []byte
	ExternalID            []byte

	// Role is the part that the entity plays in the line.
	Role transaction.Role

	// FullName is the name as it was screened: without white space around it.
	FullName []byte

	Hit Hit
}

// Hit is an entry of a watchlist that is like a name.
type Hit struct {
	// List and Version name the list and its version.
	List, Version string

	// EntryID is the source's own ID of the entry, and EntryName that of its names which is most like the name.
	EntryID, EntryName string

	// Score is 0 to 100.
	Score float64

	// Explanation says which words met which.
	Explanation string
}

// AppendTo appends the alert as a line of JSON.
func (a *Alert) AppendTo(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"line":`...), a.Line, 10)
	b = appendID(append(b, `,"transaction_external_id":`...), a.TransactionExternalID)
	b = appendID(append(b, `,"modification_external_id":`...), a.ModificationID)
	b = appendString(append(b, `,"role":`...), a.Role.Name())
	b = appendID(append(b, `,"external_id":`...), a.ExternalID)
	b = appendString(append(b, `,"full_name":`...), a.FullName)
	b = appendString(append(b, `,"list":`...), a.Hit.List)
	b = appendString(append(b, `,"list_version":`...), a.Hit.Version)
	b = appendString(append(b, `,"entry_id":`...), a.Hit.EntryID)
	b = appendString(append(b, `,"entry_name":`...), a.Hit.EntryName)
	b = strconv.AppendFloat(append(b, `,"score":`...), a.Hit.Score, 'f', -1, 64)
	b = appendString(append(b, `,"explanation":`...), a.Hit.Explanation)
	return append(b, '}', '\n')
}

// Screening is the outcome of screening the names of unknown entities.
type Screening struct {
	// Names is the number of distinct names that were screened, and Hits that of alerts.
	Names, Hits int64

	// Complete is false if the last alerts are left out, because those before them reach the limit.
	Complete bool
}

// AlertJoiner writes the alerts of a batch from its parts. An alert is left out if the alerts before it have as many
// bytes as the limit; so the output does not depend on the division into parts.
type AlertJoiner struct {
	out      io.Writer
	limit    int64
	written  int64
	complete bool
	in       *bufio.Reader
}

// NewAlertJoiner returns a joiner that writes to out up to a limit in bytes; 0 means none.
func NewAlertJoiner(out io.Writer, limit int64) *AlertJoiner {
	return &AlertJoiner{out: out, limit: limit, complete: true, in: bufio.NewReaderSize(nil, 64<<10)}
}

// Complete reports whether no alert was left out.
func (j *AlertJoiner) Complete() bool { return j.complete }

// AddPart adds the alerts of the next part, which has size bytes and complete says whether all its alerts are in it.
func (j *AlertJoiner) AddPart(part io.Reader, size int64, complete bool) error {
	if !j.complete {
		return nil
	}
	j.complete = complete
	if j.limit <= 0 || j.written+size <= j.limit {
		n, err := io.Copy(j.out, part)
		j.written += n
		if err == nil && n != size {
			err = fmt.Errorf("it has %d bytes instead of %d", n, size)
		}
		if err != nil {
			return fmt.Errorf("copy alerts: %w", err)
		}
		return nil
	}
	j.in.Reset(part)
	for IsFull(j.written, j.limit) {
		alert, err := j.in.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(alert) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read alerts: %w", err)
		}
		n, err := j.out.Write(alert)
		j.written += int64(n)
		if err != nil {
			return fmt.Errorf("write alerts: %w", err)
		}
	}
	if _, err := j.in.ReadByte(); !errors.Is(err, io.EOF) {
		j.complete = false
	}
	return nil
}
