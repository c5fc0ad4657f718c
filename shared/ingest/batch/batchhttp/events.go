package batchhttp

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/observation/lines"
	"sluice/shared/ingest/transaction"
)

// Limits of the work for one page of events. A page ends when one of them is reached.
const (
	maxEventIDs = 100
	// maxEventBytes is how many bytes of reports are read, but for the last chunk.
	maxEventBytes = 64 << 20
)

// The values of Event.Status.
const (
	EventSucceeded = "succeeded"
	EventFailed    = "failed"
)

// storedMessage is the message of an event of a stored transaction.
const storedMessage = "The transaction is stored."

// newEvent returns an event as the interface has it.
func newEvent(e observation.Event) wire.TransactionEvent {
	out := wire.TransactionEvent{Status: EventFailed, ModificationExternalID: e.ModificationID,
		TransactionExternalID: e.TransactionID,
		StatusCode:            int64(e.Status), StatusMessage: e.Reason, CreatedAt: e.At.UTC()}
	if e.IsStored() {
		out.Status, out.StatusMessage = EventSucceeded, storedMessage
	}
	return out
}

// Events returns what became of the transactions with some modification IDs: first of single ones, in the order of the
// IDs and the oldest first, then of lines of batches, the newest batch first and its lines in their order.
func (s *Batches) Events(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	values := r.URL.Query()
	ids, err := readModificationIDs(values["modification_external_ids"])
	if err != nil {
		return httpapi.Reply{}, err
	}
	texts := values["modification_external_ids"]
	values["modification_external_ids"] = texts[:1] // which alone may be repeated
	limit, err := httpapi.QueryLimit(values, maxObservedLimit, maxObservedLimit)
	if err != nil {
		return httpapi.Reply{}, err
	}
	query := "events " + strings.Join(texts, "\x00")
	position, err := s.Paging.OpenQuery(caller.Tenant, query, values)
	if err != nil {
		return httpapi.Reply{}, err
	}
	page := eventPage{ids: ids, data: []wire.TransactionEvent{}, left: lines.Budget{
		Bytes: maxEventBytes, Events: limit}}
	end, err := s.readEvents(ctx, &page, caller.Tenant, position)
	if err != nil {
		return httpapi.Reply{}, err
	}
	metadata := newListMetadata(len(page.data), s.Paging.Seal(caller.Tenant, query, end))
	return httpapi.Reply{Body: wire.TransactionEvents{Metadata: metadata, Data: page.data}}, nil
}

// readModificationIDs reads the IDs of a query, each once. Each text has some that are separated by commas; one that
// has commas is also an ID itself, because IDs may have them.
func readModificationIDs(texts []string) (ids []string, err error) {
	invalid := func(message, code string) ([]string, error) {
		const name = "modification_external_ids"
		return nil, httpapi.InvalidQuery(map[string][]string{name: texts}, name, message, code)
	}
	add := func(id string) {
		if len(id) <= transaction.MaxIDBytes+len("…") && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	named := 0
	for _, text := range texts {
		parts := strings.Split(text, ",")
		if named += len(parts); named > maxEventIDs {
			return invalid(fmt.Sprintf("The value must have at most %d IDs.", maxEventIDs), "too_long")
		}
		for _, id := range parts {
			if id == "" {
				return invalid("The value must be modification IDs, separated by commas.", "missing")
			}
			add(id)
		}
		add(text)
	}
	if named == 0 {
		return invalid("Give modification IDs, separated by commas.", "missing")
	}
	return ids, nil
}

// eventPage collects events.
type eventPage struct {
	ids  []string
	data []wire.TransactionEvent
	left lines.Budget
}

func (p *eventPage) add(events []observation.Event) {
	for _, e := range events {
		p.data = append(p.data, newEvent(e))
	}
}

// The positions of a list of events: in the single transactions of an ID, and after a line.
const (
	inSingles = "single"
	afterLine = "line"
)

// readEvents fills a page from a position on, and returns the position where it ends; "" for the end of the list.
func (s *Batches) readEvents(ctx context.Context, page *eventPage, tenant, position string) (end string, err error) {
	kind, rest, _ := strings.Cut(position, " ")
	var after *lineindex.Position
	switch kind {
	case "", inSingles:
		end, err := s.readSingleEvents(ctx, page, tenant, rest)
		if end != "" || err != nil {
			return end, err
		}
	case afterLine:
		if after, err = lineindex.ParsePosition(rest); err != nil {
			return "", err
		}
	}
	if page.left.Events <= 0 {
		return afterLine, nil
	}
	events, last, err := s.Lines.Find(ctx, tenant, page.ids, after, &page.left)
	if err != nil {
		return "", err
	}
	page.add(events)
	if last == nil {
		return "", nil
	}
	return afterLine + " " + last.String(), nil
}

// readSingleEvents adds the events of single transactions, from a position "index of the ID, position in it" on.
func (s *Batches) readSingleEvents(ctx context.Context, page *eventPage, tenant, position string) (end string,
	err error) {
	number, after, _ := strings.Cut(position, " ")
	first, _ := strconv.Atoi(number) // 0 at the beginning
	for i := first; i < len(page.ids); i++ {
		for {
			if page.left.Events <= 0 {
				return fmt.Sprintf("%s %d %s", inSingles, i, after), nil
			}
			events, next, err := s.Singles.Events(ctx, tenant, page.ids[i], s.Now().Add(-observation.Life), after,
				page.left.Events)
			if err != nil {
				return "", err
			}
			page.add(events)
			page.left.Events -= len(events)
			if after = next; next == "" {
				break
			}
		}
	}
	return "", nil
}
