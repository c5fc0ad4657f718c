package batchhttp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/report"
	"sluice/shared/kit/objects"
)

// Limits of the work for one page of failed modifications. A page ends when one of them is reached.
const (
	// maxFailedBatches is how many batches are inspected, and maxFailedReports how many reports are opened.
	maxFailedBatches, maxFailedReports = 1000, 50
	// maxFailedBytes is how many bytes of reports are read, but for the last entry.
	maxFailedBytes = 8 << 20
)

// observedDays is for how many days clients can ask for what became of transactions.
const observedDays = 30

// newListMetadata describes a page with the token of the next one, which is "" at the end.
func newListMetadata(count int, token string) wire.PageMetadata {
	out := wire.PageMetadata{Count: int64(count)}
	if token != "" {
		out.Next = &token
	}
	return out
}

// FailedModifications returns the modification IDs of the lines that were rejected in the batches of the caller's
// tenant that were created on a day, the newest batch first and its lines in their order, and then those of the single
// transactions that were refused on it. Lines are read from the reports: a deleted report has no lines.
func (s *Batches) FailedModifications(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply,
	error) {
	values := r.URL.Query()
	day, err := readDay(values, "date")
	if err != nil {
		return httpapi.Reply{}, err
	}
	if day.Before(s.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -observedDays)) {
		return httpapi.Reply{}, httpapi.InvalidQuery(values, "date",
			fmt.Sprintf("Failed modifications are kept for %d days.", observedDays), "date_range")
	}
	limit, err := httpapi.QueryLimit(values, maxObservedLimit, maxObservedLimit)
	if err != nil {
		return httpapi.Reply{}, err
	}
	query := "failed modifications " + values.Get("date")
	position, err := s.Paging.OpenQuery(caller.Tenant, query, values)
	if err != nil {
		return httpapi.Reply{}, err
	}
	page := failedPage{reports: s.Reports, ids: []string{}, limit: limit, bytesLeft: maxFailedBytes,
		reportsLeft: maxFailedReports}
	end, err := s.readFailedOrRefused(ctx, &page, caller.Tenant, day, position)
	if err != nil {
		return httpapi.Reply{}, err
	}
	metadata := newListMetadata(len(page.ids), s.Paging.Seal(caller.Tenant, query, end))
	return httpapi.Reply{Body: wire.FailedModifications{Metadata: metadata, Data: page.ids}}, nil
}

// singlesPosition begins the positions that follow the last batch.
const singlesPosition = "singles "

// readFailedOrRefused fills a page from a position on, and returns the position where it ends; "" for the end of the
// list.
func (s *Batches) readFailedOrRefused(ctx context.Context, page *failedPage, tenant string, day time.Time,
	position string) (end string, err error) {
	if after, isAmongSingles := strings.CutPrefix(position, singlesPosition); isAmongSingles {
		return s.readRefused(ctx, page, tenant, day, after)
	}
	if end, err = s.readFailed(ctx, page, tenant, day, position); end != "" || err != nil {
		return end, err
	}
	return s.readRefused(ctx, page, tenant, day, "")
}

// readRefused adds single transactions to a page, from one of their positions on, and returns the position where it
// ends; "" for the end of the list.
func (s *Batches) readRefused(ctx context.Context, page *failedPage, tenant string, day time.Time,
	after string) (string, error) {
	if page.isFull() {
		return singlesPosition + after, nil
	}
	ids, next, err := s.Singles.Refused(ctx, tenant, day.Format(time.DateOnly), after, page.limit-len(page.ids))
	if err != nil {
		return "", err
	}
	page.ids = append(page.ids, ids...)
	if next == "" {
		return "", nil
	}
	return singlesPosition + next, nil
}

// readFailed adds lines to a page from a position on, and returns the position where it ends; "" for the last batch. A
// position is the ID of the last batch that was read and, if there is more in its report, where that goes on.
func (s *Batches) readFailed(ctx context.Context, page *failedPage, tenant string, day time.Time,
	position string) (string, error) {
	last, offsetText, isInside := strings.Cut(position, " ")
	if isInside {
		offset, err := strconv.ParseInt(offsetText, 10, 64)
		if err != nil {
			return "", fmt.Errorf("read position: %w", err)
		}
		b, err := s.Store.Get(ctx, batch.ID(last))
		if err != nil {
			return "", err
		}
		if end, err := page.read(ctx, b, offset); end != "" || err != nil {
			return end, err
		}
	}
	found, next, err := s.Store.List(ctx, tenant, onDays(day, day), batch.ID(last), maxFailedBatches)
	if err != nil {
		return "", err
	}
	for _, b := range found {
		if hasFailedLines(b) {
			if page.isFull() {
				return last, nil
			}
			if end, err := page.read(ctx, b, 0); end != "" || err != nil {
				return end, err
			}
		}
		last = string(b.ID)
	}
	return string(next), nil
}

// hasFailedLines reports whether a batch has a report of lines that were to be ingested and were rejected. A batch that
// was only to be validated and one that was cancelled have no failed lines.
func hasFailedLines(b batch.Batch) bool {
	v := b.Verdict
	return v != nil && v.Invalid > 0 && v.ReportKey != "" && !b.ValidateOnly && !b.IsCancelled()
}

// failedPage collects modification IDs from reports.
type failedPage struct {
	reports reports
	ids     []string
	limit   int
	// bytesLeft and reportsLeft are how much may still be read.
	bytesLeft   int64
	reportsLeft int
}

func (p *failedPage) isFull() bool {
	return len(p.ids) >= p.limit || p.bytesLeft <= 0 || p.reportsLeft <= 0
}

// read reads the report of a batch from an offset on, and returns the position where the page ends; "" if the report
// was read to its end.
func (p *failedPage) read(ctx context.Context, b batch.Batch, offset int64) (end string, err error) {
	p.reportsLeft--
	body, err := p.reports.Open(ctx, b.Verdict.ReportKey, "", offset, -1)
	if objects.IsGone(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer body.Close()
	for in := bufio.NewReaderSize(body, 64<<10); ; {
		if _, err := in.Peek(1); errors.Is(err, io.EOF) {
			return "", nil
		} else if err != nil {
			return "", fmt.Errorf("read report: %w", err)
		}
		if len(p.ids) >= p.limit || p.bytesLeft <= 0 {
			return string(b.ID) + " " + strconv.FormatInt(offset, 10), nil
		}
		entry, err := in.ReadBytes('\n')
		if err != nil {
			return "", fmt.Errorf("read report: %w", err)
		}
		offset += int64(len(entry))
		p.bytesLeft -= int64(len(entry))
		if err := p.add(entry); err != nil {
			return "", err
		}
	}
}

// add adds the modification ID of an entry of a report, if the line has one that can be read.
func (p *failedPage) add(entry []byte) error {
	var line struct {
		ModificationID string `json:"modification_external_id"`
	}
	if err := json.Unmarshal(entry, &line); err != nil {
		return fmt.Errorf("read entry of the report: %w", err)
	}
	if line.ModificationID != "" {
		p.ids = append(p.ids, report.CutID(line.ModificationID))
	}
	return nil
}
