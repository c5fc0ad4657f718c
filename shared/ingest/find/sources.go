package find

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"
	"time"

	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/transaction"
)

// kindsOfLines are the kinds of identifiers as the index names them.
var kindsOfLines = map[observation.Kind]lineindex.Kind{
	observation.Payment: lineindex.Payment, observation.Transaction: lineindex.Transaction,
	observation.Modification: lineindex.Modification, observation.Request: lineindex.Request,
}

// readLines is the source of the lines of batches.
func (h *Hits) readLines(ctx context.Context, p Page) (out part, err error) {
	key, _, isFound, err := h.Keys.Find(ctx, p.Tenant)
	if err != nil || !isFound {
		return part{}, err
	}
	q := lineindex.Query{Tenant: p.Tenant, Key: key, IDs: []string{p.ID}, Limit: p.Limit}
	if q.After, err = linePosition(p.After); err != nil {
		return part{}, err
	}
	kinds := map[lineindex.Kind]observation.Kind{}
	for _, k := range p.Kinds {
		q.Kinds = append(q.Kinds, kindsOfLines[k])
		kinds[kindsOfLines[k]] = k
	}
	found, next, until, err := h.Lines.Search(ctx, q)
	out.until = until
	for _, f := range found {
		out.hits = append(out.hits, Hit{
			Kind: kinds[f.Kind], ReceivedAt: f.Batch.ReceivedAt, Batch: f.Batch.ID, Line: f.Line, IsInvalid: f.Rejected,
			PaymentID: f.IDs[lineindex.Payment], TransactionID: f.IDs[lineindex.Transaction],
			ModificationID: f.IDs[lineindex.Modification], RequestID: f.IDs[lineindex.Request],
			Position: positionOfLine(f.Position),
		})
	}
	if next != nil {
		end := positionOfLine(*next)
		out.end = &end
	}
	return out, err
}

func positionOfLine(p lineindex.Position) Position {
	return Position{p.ReceivedAt, fromIndex, p.String()}
}

// linePosition returns the position in the index of a position among all hits; nil for the beginning.
func linePosition(p Position) (*lineindex.Position, error) {
	if p == (Position{}) {
		return nil, nil
	}
	if place, isPast := p.in(fromIndex); !isPast {
		return lineindex.ParsePosition(place)
	}
	// No batch has the empty ID, which is after all batches that were received at the time.
	return &lineindex.Position{ReceivedAt: p.At, Place: math.MaxUint64}, nil
}

// readRequests is the source of the requests with single transactions, by one kind of identifier.
func (h *Hits) readRequests(ctx context.Context, p Page, kind observation.Kind) (part, error) {
	source, before := fromRequests+int(kindsOfLines[kind]), ""
	if p.After != (Position{}) {
		switch place, isPast := p.After.in(source); {
		case place != "":
			before = place
		case isPast:
			before = observation.PlaceOf(p.After.At)
		default:
			before = observation.PlaceOf(p.After.At.Add(1))
		}
	}
	found, isMore, err := h.Singles.Find(ctx, p.Tenant, kind, p.ID, before, p.Limit+1, h.Now())
	if len(found) > p.Limit {
		found, isMore = found[:p.Limit], true
	}
	var hits []Hit
	for _, f := range found {
		hits = append(hits, Hit{Kind: kind, ReceivedAt: f.At, PaymentID: f.PaymentID,
			TransactionID: f.TransactionID, ModificationID: f.ModificationID, RequestID: f.RequestID, Code: f.Status,
			Position: Position{f.At, source, f.Place}})
	}
	return newPart(hits, isMore), err
}

// Limits of the search for single transactions among the versions of a transaction.
const (
	versionsRange = 1000
	maxVersions   = 8 * versionsRange
)

// readVersions is the source of the stored single transactions with a transaction ID, whose requests have no item by
// it. Of a transaction with more than maxVersions versions, those whose modifications come later are not found, and of
// a modification that has more than are read at a time, only the oldest.
func (h *Hits) readVersions(ctx context.Context, p Page) (part, error) {
	var hits []Hit
	r := transaction.Range{Tenant: p.Tenant, TransactionID: p.ID, Limit: versionsRange, KeysOnly: true}
	for read, hasMore := 0, true; hasMore && read < maxVersions; {
		var found []transaction.Version
		var err error
		if found, hasMore, err = h.Versions.List(ctx, r); err != nil {
			return part{}, err
		}
		if len(found) == 0 {
			break
		}
		read, r.After = read+len(found), found[len(found)-1].Modification
		isLast := func(v transaction.Version) bool { return v.Modification == r.After }
		if begins := slices.IndexFunc(found, isLast); hasMore && begins > 0 {
			// The last modification may go on after the range, and is read again.
			found, r.After = found[:begins], found[begins-1].Modification
		}
		for _, v := range found {
			hit := Hit{Kind: observation.Transaction, ReceivedAt: v.ReceivedAt, TransactionID: p.ID,
				ModificationID: v.Modification, Code: http.StatusCreated,
				Position: Position{v.ReceivedAt, fromVersions, v.Modification}}
			if v.IsSingle() && !v.IsExpired(h.Now()) && p.isAfter(hit.Position) {
				hits = append(hits, hit)
			}
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(comparePositions(a.Position, b.Position), cmp.Compare(a.Position.Place, b.Position.Place))
	})
	if len(hits) > p.Limit {
		return newPart(hits[:p.Limit], true), nil
	}
	return part{hits: hits}, nil
}

// isAfter reports whether a position is after the beginning of the page.
func (p Page) isAfter(at Position) bool {
	if p.After == (Position{}) {
		return true
	}
	return cmp.Or(comparePositions(at, p.After), cmp.Compare(at.Place, p.After.Place)) > 0
}

// Since returns since when the lines of a tenant are indexed; the zero time if they are not.
func (h *Hits) Since(ctx context.Context, tenant string) (time.Time, error) {
	_, since, _, err := h.Keys.Find(ctx, tenant)
	return since, err
}
