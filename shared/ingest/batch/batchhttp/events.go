package batchhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/observation/lines"
	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/objects"
)

// Limits of the work for one page of events. A page ends when one of them is reached.
const (
	maxEventIDs = 100
	// maxEventBatches is how many batches are searched, and maxListedBatches how many are inspected for that.
	maxEventBatches, maxListedBatches = 100, 1000
	// maxEventSections is how many sections of indexes are read.
	maxEventSections = 512
	// maxEventBytes is how many bytes of files and reports are read, but for the last chunk.
	maxEventBytes = 64 << 20
)

// maxUploadAge is longer than any batch waits for its file: its receipt is less than that after its creation.
const maxUploadAge = batch.MaxMultipartAge + 24*time.Hour

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
	limit, err := readLimit(values)
	if err != nil {
		return httpapi.Reply{}, err
	}
	query := "events " + strings.Join(texts, "\x00")
	position, err := s.openPage(caller, query, values)
	if err != nil {
		return httpapi.Reply{}, err
	}
	page := eventPage{ids: ids, data: []wire.TransactionEvent{}, left: lines.Budget{
		Sections: maxEventSections, Bytes: maxEventBytes, Events: limit}}
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
		return nil, invalidQuery(map[string][]string{name: texts}, name, message, code)
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

// The positions of a list of events: in the single transactions of an ID, after a batch, and in a batch.
const (
	inSingles  = "single"
	afterBatch = "after"
	inBatch    = "in"
)

// readEvents fills a page from a position on, and returns the position where it ends; "" for the end of the list.
func (s *Batches) readEvents(ctx context.Context, page *eventPage, tenant, position string) (end string, err error) {
	kind, rest, _ := strings.Cut(position, " ")
	switch kind {
	case "", inSingles:
		end, err := s.readSingleEvents(ctx, page, tenant, rest)
		if end != "" || err != nil {
			return end, err
		}
		rest = ""
	case inBatch:
		parts := strings.Split(rest, " ")
		if len(parts) != 3 {
			return "", errPosition
		}
		from := lines.Position{}
		if from.Chunk, err = strconv.Atoi(parts[1]); err != nil {
			return "", errPosition
		}
		if from.Line, err = strconv.ParseInt(parts[2], 10, 64); err != nil {
			return "", errPosition
		}
		b, err := s.Store.Get(ctx, batch.ID(parts[0]))
		if err != nil {
			return "", err
		}
		if end, err := s.readLineEvents(ctx, page, b, from); end != "" || err != nil {
			return end, err
		}
		rest = parts[0]
	}
	return s.readBatchEvents(ctx, page, tenant, batch.ID(rest))
}

var errPosition = errors.New("events: malformed position")

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

// readBatchEvents adds the events of the lines of the batches that follow one.
func (s *Batches) readBatchEvents(ctx context.Context, page *eventPage, tenant string, last batch.ID) (end string,
	err error) {
	earliest := s.Now().Add(-lines.Life)
	filter := batch.Filter{CreatedAfter: earliest.Add(-maxUploadAge)}
	found, next, err := s.Store.List(ctx, tenant, filter, last, maxListedBatches)
	if err != nil {
		return "", err
	}
	searched := 0
	for _, b := range found {
		if lines.HasEvents(b) && b.ReceivedAt.After(earliest) {
			if page.left.IsSpent() || searched == maxEventBatches {
				return afterBatch + " " + string(last), nil
			}
			searched++
			if end, err := s.readLineEvents(ctx, page, b, lines.Position{}); end != "" || err != nil {
				return end, err
			}
		}
		last = b.ID
	}
	if next == "" {
		return "", nil
	}
	return afterBatch + " " + string(next), nil
}

// readLineEvents adds the events of the lines of a batch from a position on. A batch whose files are deleted has no
// events.
func (s *Batches) readLineEvents(ctx context.Context, page *eventPage, b batch.Batch, from lines.Position) (end string,
	err error) {
	finder := lines.Finder{Chunks: s.Store, Uploads: s.Uploads, Work: s.Reports}
	events, stop, err := finder.Find(ctx, b, page.ids, from, &page.left)
	isGone := errors.Is(err, objects.ErrNotFound) || errors.Is(err, objects.ErrDenied) // S3 denies missing objects
	if isGone || errors.Is(err, objects.ErrChanged) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	page.add(events)
	if stop == nil {
		return "", nil
	}
	return fmt.Sprintf("%s %s %d %d", inBatch, b.ID, stop.Chunk, stop.Line), nil
}
