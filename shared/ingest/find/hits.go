package find

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/transaction"
)

// Hit is a line of a batch or a single transaction that has an identifier.
type Hit struct {
	Kind observation.Kind
	// ReceivedAt is when the batch or the request was received.
	ReceivedAt time.Time
	// Batch and Line are zero for a single transaction.
	Batch batch.ID
	Line  int64
	// IsInvalid means that the line itself was rejected.
	IsInvalid bool
	// The identifiers; "" for those that cannot be read. That of the request is known only if it was looked for.
	PaymentID, TransactionID, ModificationID, RequestID string
	// Code is the status of the answer to the request with a single transaction; 0 for a line.
	Code int

	Position Position
}

// IsSingle reports whether a request of its own delivered the transaction.
func (h Hit) IsSingle() bool { return h.Batch == "" }

// IsRefused reports whether the line is a single transaction that was not stored.
func (h Hit) IsRefused() bool { return h.IsSingle() && h.Code != http.StatusCreated }

// version returns the version that the line is stored as, if it is.
func (h Hit) version(tenant string) transaction.Version {
	return transaction.Version{Tenant: tenant, TransactionID: h.TransactionID, Modification: h.ModificationID,
		ReceivedAt: h.ReceivedAt, Batch: string(h.Batch)}
}

// ID returns the identifier by which it was found.
func (h Hit) ID() string {
	switch h.Kind {
	case observation.Payment:
		return h.PaymentID
	case observation.Transaction:
		return h.TransactionID
	case observation.Modification:
		return h.ModificationID
	}
	return h.RequestID
}

// Position is the place of a hit among all hits: the one received last comes first, of several at one time those of the
// first source, and those in its order. The zero Position is before all.
type Position struct {
	At     time.Time
	Source int
	// Place is the place among the hits of the source at that time.
	Place string
}

// String returns a text that ParsePosition reads; "" for the zero Position.
func (p Position) String() string {
	if p == (Position{}) {
		return ""
	}
	return fmt.Sprintf("%d %d %s", p.At.UnixNano(), p.Source, p.Place)
}

// ParsePosition reads the text of a position.
func ParsePosition(text string) (Position, error) {
	if text == "" {
		return Position{}, nil
	}
	var p Position
	parts := strings.SplitN(text, " ", 3)
	if len(parts) < 3 {
		return p, fmt.Errorf("find: malformed position %q", text)
	}
	at, err := strconv.ParseInt(parts[0], 10, 64)
	if err == nil {
		p.Source, err = strconv.Atoi(parts[1])
	}
	p.At, p.Place = time.Unix(0, at).UTC(), parts[2]
	return p, err
}

// in returns the place after which the hits of a source at the time of the position are after the position; "" if all
// of them are, or none, which isPast says.
func (p Position) in(source int) (place string, isPast bool) {
	if p.Source == source {
		return p.Place, false
	}
	return "", p.Source > source
}

// Hits finds lines and single transactions. It is safe for concurrent use.
type Hits struct {
	Lines interface {
		// Search is as in lineindex.Searcher.
		Search(ctx context.Context, q lineindex.Query) (hits []lineindex.Hit, next *lineindex.Position,
			until time.Time, err error)
	}
	Keys interface {
		// Find returns the key of a tenant's index, and since when its lines are indexed; false if none are.
		Find(ctx context.Context, tenant string) (key lineindex.Key, since time.Time, isFound bool, err error)
	}
	Singles interface {
		// Find is as in observationdb.Store.
		Find(ctx context.Context, tenant string, kind observation.Kind, id, before string, limit int, now time.Time) (
			found []observation.Found, isMore bool, err error)
	}
	Versions versions
	Now      func() time.Time
}

type versions interface {
	// List and Find are as in transactiondb.Store.
	List(ctx context.Context, r transaction.Range) (found []transaction.Version, hasMore bool, err error)
	Find(ctx context.Context, wanted []transaction.Version, keysOnly bool) ([]transaction.Version, error)
}

// Page selects hits of a tenant.
type Page struct {
	Tenant, ID string
	// Kinds are the kinds of identifiers that the ID may be.
	Kinds []observation.Kind
	After Position
	Limit int
}

// The sources of hits, in their order: the index, the requests by each kind of identifier, and stored versions.
const (
	fromIndex = iota
	fromRequests
	fromVersions = fromRequests + lineindex.Kinds
)

// part is what a source has of a page: its first hits, and the position after which there may be more; nil at the end.
// Until is as in Read.
type part struct {
	hits  []Hit
	end   *Position
	until time.Time
}

// newPart returns the part with some hits, after the last of which there may be more.
func newPart(hits []Hit, isMore bool) part {
	if !isMore || len(hits) == 0 {
		return part{hits: hits}
	}
	return part{hits: hits, end: &hits[len(hits)-1].Position}
}

// Read returns the hits of a page, those received last first, and the position after which there may be more; nil at
// the end. If lines of batches that ended after a time may be missing, until is that time; otherwise it is zero.
func (h *Hits) Read(ctx context.Context, p Page) (hits []Hit, next *Position, until time.Time, err error) {
	var read []func(context.Context, Page) (part, error)
	read = append(read, h.readLines)
	for _, kind := range p.Kinds {
		read = append(read, func(ctx context.Context, p Page) (part, error) { return h.readRequests(ctx, p, kind) })
		if kind == observation.Transaction {
			read = append(read, h.readVersions)
		}
	}
	parts := make([]part, len(read))
	g, ctx := errgroup.WithContext(ctx)
	for i := range read {
		g.Go(func() (err error) {
			parts[i], err = read[i](ctx, p)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, until, err
	}
	hits, next = merge(parts)
	if len(hits) > p.Limit {
		hits = hits[:p.Limit]
		next = &hits[p.Limit-1].Position
	}
	return hits, next, parts[0].until, nil
}

// merge puts the hits of several sources in order, as far as all of them are known.
func merge(parts []part) (hits []Hit, end *Position) {
	for _, p := range parts {
		hits = append(hits, p.hits...)
		if p.end != nil && (end == nil || comparePositions(*p.end, *end) < 0) {
			end = p.end
		}
	}
	// The places of a source at one time are in the order in which it returned them.
	slices.SortStableFunc(hits, func(a, b Hit) int { return comparePositions(a.Position, b.Position) })
	if end != nil {
		hits = slices.DeleteFunc(hits, func(h Hit) bool { return comparePositions(h.Position, *end) > 0 })
	}
	return hits, end
}

// comparePositions compares two positions but for their places.
func comparePositions(a, b Position) int {
	return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Source, b.Source))
}
