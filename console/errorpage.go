package console

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"

	"sluice/client"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/validation/remedy"
)

const (
	// defaultErrorPage and maxErrorPage are how many errors a page has.
	defaultErrorPage = 50
	maxErrorPage     = 500
)

// ErrorQuery says which errors of a report are asked for.
type ErrorQuery struct {
	// Code and Field, a JSON pointer, are those of the errors; "" means any. AtLine means errors of the line itself,
	// whose field is "".
	Code, Field string
	AtLine      bool
	// Line is the first line whose errors are wanted; 0 means the first one of the file.
	Line int64
	// Offset is how many of the errors are left out, and Limit how many there may be.
	Offset, Limit int64
}

// ErrorPage is a page of the errors of a report.
type ErrorPage struct {
	Errors []LineError `json:"errors"`
	// Total is how many errors there are on all pages.
	Total int64 `json:"total"`
	// Next is the offset of the next page; nil if this is the last one.
	Next *int64 `json:"next"`
}

// LineError is one error of one line, as the page shows it.
type LineError struct {
	Line int64 `json:"line"`
	// Entry is the number of the line among those of the report, from 0.
	Entry                 int64   `json:"entry"`
	TransactionExternalID *string `json:"transaction_external_id"`
	ModificationID        *string `json:"modification_external_id"`
	Code                  string  `json:"code"`
	Field                 string  `json:"field"`
	// Message says what is wrong with the line, Reason what causes such errors, and Hint what to do. Message is "" in
	// the part of a long report that has codes only.
	Message string `json:"message"`
	Reason  string `json:"reason,omitempty"`
	Hint    string `json:"hint,omitempty"`
	// Offset is the place in the file in bytes; nil if the report does not have it.
	Offset *int64 `json:"offset"`
	// Excerpt is the part of the line around the error, "" if it is not at hand, and Column the number of characters
	// (code points) that precede it.
	Excerpt string `json:"excerpt,omitempty"`
	Column  int    `json:"column"`
	// OtherLines are the first lines, of OtherLinesTotal, that have the same ID.
	OtherLines      []int64 `json:"other_lines,omitempty"`
	OtherLinesTotal int64   `json:"other_lines_total,omitempty"`
}

// ParseErrorQuery reads code, field, line, offset and limit.
func ParseErrorQuery(values url.Values) (ErrorQuery, error) {
	q := ErrorQuery{Code: values.Get("code"), Field: values.Get("field"), Limit: defaultErrorPage}
	q.AtLine = values.Has("field") && q.Field == ""
	for _, n := range []struct {
		name string
		to   *int64
		most int64
	}{{"line", &q.Line, 1 << 40}, {"offset", &q.Offset, 1 << 40}, {"limit", &q.Limit, maxErrorPage}} {
		text := values.Get(n.name)
		if text == "" {
			continue
		}
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || v < 0 || v > n.most {
			return q, fmt.Errorf("%s is a number from 0 to %d", n.name, n.most)
		}
		*n.to = v
	}
	return q, nil
}

// Total returns how many errors the report has.
func (x *ErrorIndex) Total() int64 { return x.total }

// Close removes the report, if its file has a name no more, and closes it.
func (x *ErrorIndex) Close() error { return x.file.Close() }

// Page returns a page of errors, in the order of the file. Describe, unless it is nil, adds to each what the report
// does not have: its excerpt.
func (x *ErrorIndex) Page(ctx context.Context, q ErrorQuery, describe func(*LineError)) (ErrorPage, error) {
	page := ErrorPage{Errors: []LineError{}}
	skipped := int64(0)
	for i := x.firstBlock(q.Line); i < len(x.blocks); i++ {
		if err := ctx.Err(); err != nil {
			return page, err
		}
		n, isExact := x.countIn(i, q)
		isWanted := skipped+n > q.Offset && int64(len(page.Errors)) < q.Limit
		if isExact && (!isWanted || n == 0) {
			page.Total, skipped = page.Total+n, skipped+n
			continue
		}
		err := x.readBlock(i, q, func(e LineError) {
			page.Total++
			if skipped++; skipped > q.Offset && int64(len(page.Errors)) < q.Limit {
				page.Errors = append(page.Errors, e)
			}
		})
		if err != nil {
			return page, fmt.Errorf("read the report: %w", err)
		}
	}
	if end := q.Offset + int64(len(page.Errors)); len(page.Errors) > 0 && end < page.Total {
		page.Next = &end
	}
	for i := range page.Errors {
		e := &page.Errors[i]
		e.Reason, e.Hint = explainCode(e.Code)
		if describe != nil {
			describe(e)
		}
	}
	return page, nil
}

// firstBlock returns the block in which the errors of a line are, or those that follow it.
func (x *ErrorIndex) firstBlock(line int64) int {
	return max(0, sort.Search(len(x.blocks), func(i int) bool { return x.blocks[i].line > line })-1)
}

// countIn returns how many errors of a block a query asks for, at most, and whether that is exact.
func (x *ErrorIndex) countIn(i int, q ErrorQuery) (n int64, isExact bool) {
	b := x.blocks[i]
	isExact = q.Line <= b.line
	for _, c := range b.counts {
		switch kind := x.kinds[c.kind]; {
		case kind.code == "" && kind.isOther:
			isExact = isExact && q.Code == "" && !q.hasField()
		case q.Code != "" && q.Code != kind.code:
			continue
		case !q.hasField():
		case kind.isOther:
			isExact = false
		case kind.field != q.Field:
			continue
		}
		n += int64(c.count)
	}
	return n, isExact
}

func (q ErrorQuery) hasField() bool { return q.Field != "" || q.AtLine }

// readBlock calls each with the errors of a block that a query asks for.
func (x *ErrorIndex) readBlock(i int, q ErrorQuery, each func(LineError)) error {
	b, end := x.blocks[i], x.end
	if i+1 < len(x.blocks) {
		end = x.blocks[i+1].offset
	}
	entries := json.NewDecoder(bufio.NewReaderSize(io.NewSectionReader(x.file, b.offset, end-b.offset),
		errorBlockBytes))
	for n := b.entry; ; n++ {
		var line client.ReportLine
		if err := entries.Decode(&line); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if line.Line < q.Line {
			continue
		}
		for _, e := range lineErrors(line, n) {
			if (q.Code == "" || e.Code == q.Code) && (!q.hasField() || e.Field == q.Field) {
				each(e)
			}
		}
	}
}

// lineErrors returns the errors of an entry of the report.
func lineErrors(line client.ReportLine, entry int64) []LineError {
	var out []LineError
	about := LineError{Line: line.Line, Entry: entry}
	if id := line.TransactionExternalID; id != "" {
		about.TransactionExternalID = &id
	}
	if id := line.ModificationExternalID; id != "" {
		about.ModificationID = &id
	}
	for _, e := range line.Errors {
		l, offset := about, e.Offset
		l.Code, l.Field, l.Message, l.Offset = e.Type, e.Pointer, e.Msg, &offset
		l.OtherLines, l.OtherLinesTotal = e.OtherLines, e.OtherLinesTotal
		out = append(out, l)
	}
	for _, code := range line.Codes {
		l := about
		l.Code = code
		out = append(out, l)
	}
	return out
}

// explainCode returns what causes errors with a code, and what to do about them; "" for a code that is not known.
func explainCode(code string) (reason, hint string) {
	r := remedy.Of(transaction.Code(code))
	return r.Reason, r.Hint
}

// Values of problem.ErrorCode of requests that the service has not answered, or has refused.
const (
	// codeUnreachable means that the service, or its storage, does not answer.
	codeUnreachable = "service_unreachable"
	// codeCredentials means that the token endpoint refuses the credentials of the command.
	codeCredentials = "credentials_refused"
	// codeStorage means that the storage of the service refuses a signed address.
	codeStorage = "storage_refused"
)

// explainFailure returns the answer to a request for which a call of the service has failed. What the service refuses
// has the status that it gave. The answer shows no token and no signed address.
func explainFailure(err error) problem {
	var refused *client.Error
	var refusedToken *client.TokenError
	var storage *client.StorageError
	var unreachable *client.UnreachableError
	p := problem{Status: http.StatusBadGateway, Title: "The service does not answer", ErrorCode: codeUnreachable}
	switch {
	case errors.As(err, &refused):
		text := strings.TrimPrefix(err.Error(), "the service answers ")
		p = problem{Status: refused.Status, Detail: cmp.Or(refused.Message, text), ErrorCode: refused.Code,
			RequestID: refused.RequestID}
		if refused.Foreign || refused.Status < http.StatusBadRequest || refused.Status == http.StatusUnauthorized {
			p.Status, p.Title, p.ErrorCode = http.StatusBadGateway, "The service gives a "+
				"strange answer", codeUnreachable
			p.Detail = err.Error()
		}
	case errors.As(err, &refusedToken):
		p.Detail = refusedToken.Error()
		if refusedToken.Status >= 400 && refusedToken.Status < 500 {
			p.Title, p.ErrorCode = "The service refuses the credentials of the console", codeCredentials
		}
	case errors.As(err, &storage):
		p.Title, p.Detail, p.ErrorCode = "The storage of the service refuses the request", storage.Error(), codeStorage
	case errors.As(err, &unreachable):
		p.Detail = unreachable.Error()
	case errors.Is(err, context.DeadlineExceeded):
		p.Detail = "It took too long."
	default:
		p.Detail = "The connection to it failed: " + err.Error()
	}
	return p
}

// fail answers a request for which a call of the service has failed. A browser that has gone gets no answer.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	p := explainFailure(err)
	s.refuse(w, r, &p)
}
