// Package findtest has an index of lines in memory, for tests of what finds them.
package findtest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/shared/ingest/lineindex"
)

// Index is an index of lines in memory, and the keys of its tenants. It is safe for concurrent use.
type Index struct {
	// Rejected is what is said of lines that are added.
	Rejected bool

	// Since is since when lines are indexed; the zero time if they are not.
	Since time.Time
	// Until is the end of the earliest batch that may not be searched; the zero time if all are.
	Until time.Time
	Now   func() time.Time

	mu    sync.Mutex
	lines []line
	// Searches counts the searches.
	Searches int
}

type line struct {
	tenant string
	batch  lineindex.Batch
	record lineindex.Record
}

// Add adds a line of a batch. IDs are in the order of lineindex.Kind.
func (x *Index) Add(tenant string, b lineindex.Batch, number int64, ids ...string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	record := lineindex.Record{Line: number, Rejected: x.Rejected, IDs: lineindex.IDs(ids)}
	x.lines = append(x.lines, line{tenant, b, record})
}

// Find returns since when lines are indexed. The key is of no account here.
func (x *Index) Find(context.Context, string) (key lineindex.Key, since time.Time, isFound bool, err error) {
	return key, x.Since, !x.Since.IsZero(), nil
}

// Search implements what find.Hits needs as lineindex.Searcher does.
func (x *Index) Search(_ context.Context, q lineindex.Query) (hits []lineindex.Hit, next *lineindex.Position,
	until time.Time, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.Searches++
	for _, l := range x.lines {
		for k, id := range l.record.IDs {
			kind := lineindex.Kind(k)
			isWanted := slices.ContainsFunc(q.IDs, func(wanted string) bool {
				return id == wanted || kind == lineindex.Request && strings.EqualFold(id, wanted)
			})
			isExpired := !l.batch.Expires.IsZero() && !x.Now().Before(l.batch.Expires)
			at := lineindex.Position{ReceivedAt: l.batch.ReceivedAt, Batch: l.batch.ID,
				Place: uint64(l.record.Line)<<2 | uint64(k)}
			if l.tenant == q.Tenant && isWanted && id != "" && !isExpired && slices.Contains(q.Kinds, kind) &&
				(q.After == nil || compare(at, *q.After) > 0) {
				hits = append(hits, lineindex.Hit{Batch: l.batch, Kind: kind, Record: l.record, Position: at})
			}
		}
	}
	slices.SortFunc(hits, func(a, b lineindex.Hit) int { return compare(a.Position, b.Position) })
	if len(hits) > q.Limit {
		hits = hits[:q.Limit]
		next = &hits[q.Limit-1].Position
	}
	return hits, next, x.Until, nil
}

// compare orders positions as the index does: the batch received last first, and its lines in their order.
func compare(a, b lineindex.Position) int {
	return cmp.Or(b.ReceivedAt.Compare(a.ReceivedAt), cmp.Compare(b.Batch, a.Batch), cmp.Compare(a.Place, b.Place))
}
