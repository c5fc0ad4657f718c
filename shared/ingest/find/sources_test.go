package find

import (
	"context"
	"fmt"
	"testing"
	"time"

	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/errtest"
)

// longTransaction is a transaction with so many single versions, three of each modification, in the order of lists.
type longTransaction struct {
	versions, lists int
	at              time.Time
}

func (l *longTransaction) List(_ context.Context, r transaction.Range) (found []transaction.Version, hasMore bool,
	err error) {
	l.lists++
	for i := range l.versions {
		v := transaction.Version{Modification: fmt.Sprintf("m%05d", i/3), ReceivedAt: l.at.Add(time.Duration(i))}
		if v.Modification <= r.After {
			continue
		}
		if len(found) == r.Limit {
			return found, true, nil
		}
		found = append(found, v)
	}
	return found, false, nil
}

func (*longTransaction) Find(context.Context, []transaction.Version, bool) ([]transaction.Version, error) {
	panic("not called")
}

// The single versions of a long transaction are found with none left out where its ranges end, and with bounded reads.
func TestSinglesOfALongTransaction(t *testing.T) {
	at := time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)
	for _, c := range []struct{ versions, want, lists int }{
		{0, 0, 1}, {999, 999, 1}, {2500, 2500, 3}, {9000, 7992, 8},
	} {
		long := &longTransaction{versions: c.versions, at: at}
		h := &Hits{Versions: long, Now: func() time.Time { return at }}
		p := Page{ID: "t", Kinds: []observation.Kind{observation.Transaction}, Limit: 10_000}
		got := errtest.Must(h.readVersions(t.Context(), p))(t)
		seen := map[Position]bool{}
		for i, hit := range got.hits {
			seen[hit.Position] = true
			if i > 0 && !hit.ReceivedAt.Before(got.hits[i-1].ReceivedAt) {
				t.Fatalf("of %d versions, hit %d is not older than the one before", c.versions, i)
			}
		}
		if len(seen) != c.want || len(got.hits) != c.want || long.lists != c.lists || got.end != nil {
			t.Errorf("of %d versions found %d, %d different ones, with %d reads; want %d with %d", c.versions,
				len(got.hits), len(seen), long.lists, c.want, c.lists)
		}
	}
}
