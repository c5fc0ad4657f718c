package lines

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/report"
)

// maxReportBytes is how much of a chunk's part of the report is read. The reasons of lines that are further on are not
// given.
const maxReportBytes = 16 << 20

// reasonUnread is the reason of a rejected line whose entry in the report was not read.
const reasonUnread = "The line is invalid; the validation report of the batch has the reason."

// describe returns the events of hits in one batch, in their order, and the hits for which the budget did not suffice.
// A batch without events has none.
func (f *Finder) describe(ctx context.Context, b *judged, hits []lineindex.Hit, left *Budget) (
	events []observation.Event, rest []lineindex.Hit, err error) {
	if !HasEvents(b.Batch) || len(b.chunks) == 0 { // their rows expire
		return nil, nil, nil
	}
	counts := batch.CountLines(b.chunks)
	for len(hits) > 0 {
		if left.Bytes <= 0 || left.Events <= 0 {
			return events, hits, nil
		}
		index, first := chunkOf(counts, hits[0].Line)
		if index < 0 {
			return nil, nil, fmt.Errorf("batch %s: line %d of the index is in no chunk", b.ID, hits[0].Line)
		}
		n := 1
		for n < len(hits) && hits[n].Line < first+counts.ByChunk[index] {
			n++
		}
		described, err := f.describeInChunk(ctx, b.Batch, b.chunks[index], hits[:n], first, left)
		if err != nil {
			return nil, nil, err
		}
		events, hits = append(events, described...), hits[n:]
	}
	return events, nil, nil
}

// chunkOf returns the chunk of a line, and the number of its first line; -1 if there is none.
func chunkOf(counts batch.LineCounts, line int64) (index int, first int64) {
	first = 1
	for i, lines := range counts.ByChunk {
		if line < first+lines {
			return i, first
		}
		first += lines
	}
	return -1, 0
}

// describeInChunk returns an event for each of the hits in a chunk, whose first line has a number.
func (f *Finder) describeInChunk(ctx context.Context, b batch.Batch, c batch.Chunk, hits []lineindex.Hit,
	first int64, left *Budget) (events []observation.Event, err error) {
	rejected := map[int64]string{}
	for _, h := range hits {
		if h.Rejected {
			rejected[h.Line-first] = reasonUnread
		}
	}
	if err := f.readReasons(ctx, c, rejected, left); err != nil {
		return nil, err
	}
	for _, h := range hits {
		e := observation.Event{Tenant: b.Tenant, At: b.ReceivedAt, TransactionID: h.IDs[lineindex.Transaction],
			ModificationID: h.IDs[lineindex.Modification]}
		if reason, isRejected := rejected[h.Line-first]; isRejected {
			e.Status, e.Reason = http.StatusBadRequest, reason
		} else {
			e.Status, e.Reason = outcomeOf(b)
		}
		e.Reason = report.CutText(e.Reason, observation.MaxReasonBytes)
		events = append(events, e)
	}
	left.Events -= len(events)
	return events, nil
}

// isSkipped reports whether the lines of a chunk were not judged to the end.
func isSkipped(c batch.Chunk) bool { return c.Settled == nil || c.Settled.Skipped }

// outcomeOf returns the status and the reason of a line that is valid itself: its batch decides.
func outcomeOf(b batch.Batch) (status int, reason string) {
	switch b.Status {
	case batch.Processed:
		return http.StatusCreated, ""
	case batch.ValidationFailed:
		return http.StatusBadRequest, "The batch was rejected: " + b.ErrorMessage
	}
	return http.StatusInternalServerError, "The batch failed: " + b.ErrorMessage
}

// readReasons sets the reasons of rejected lines of a chunk, which are counted from 0, from its part of the report.
func (f *Finder) readReasons(ctx context.Context, c batch.Chunk, rejected map[int64]string, left *Budget) error {
	if len(rejected) == 0 || isSkipped(c) || c.Settled.ReportKey == "" {
		return nil
	}
	body, err := f.Work.Open(ctx, c.Settled.ReportKey, "", 0, min(c.Settled.ReportBytes, maxReportBytes))
	if err != nil {
		return fmt.Errorf("read report: %w", err)
	}
	defer body.Close()
	in := bufio.NewReaderSize(body, 64<<10)
	for missing := len(rejected); missing > 0; {
		entry, err := in.ReadBytes('\n')
		left.Bytes -= int64(len(entry))
		if errors.Is(err, io.EOF) {
			return nil // the last entry may be cut
		}
		if err != nil {
			return fmt.Errorf("read report: %w", err)
		}
		line := lineOf(entry) - c.Settled.FirstLine
		if _, isWanted := rejected[line]; !isWanted {
			continue
		}
		if rejected[line], err = reasonOf(entry); err != nil {
			return err
		}
		missing--
	}
	return nil
}

// lineOf returns the number of the line of an entry of a report, which begins with it; 0 if it does not.
func lineOf(entry []byte) int64 {
	number, _, _ := bytes.Cut(bytes.TrimPrefix(entry, []byte(`{"line":`)), []byte(","))
	line, _ := strconv.ParseInt(string(number), 10, 64)
	return line
}

// reasonOf returns the errors of an entry of a report: a line for each error or, for a short entry, the codes.
func reasonOf(entry []byte) (string, error) {
	var e struct {
		Errors []struct {
			Pointer string `json:"pointer"`
			Message string `json:"msg"`
			Code    string `json:"type"`
		} `json:"errors"`
		Codes []string `json:"codes"`
	}
	if err := json.Unmarshal(entry, &e); err != nil {
		return "", fmt.Errorf("read entry of the report: %w", err)
	}
	if len(e.Codes) > 0 {
		return strings.Join(e.Codes, "\n"), nil
	}
	var reason []string
	for _, found := range e.Errors {
		text := fmt.Sprintf("%s (type=%s)", found.Message, found.Code)
		if found.Pointer != "" {
			text = found.Pointer + ": " + text
		}
		reason = append(reason, text)
	}
	return strings.Join(reason, "\n"), nil
}
