package transactionhttp

import (
	"context"
	"slices"
	"time"

	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/transaction"
)

// pageBudget is for the lines of one reply. It leaves room for the other values of the reply about each line.
const pageBudget httpapi.ReplyBudget = 4 << 20

// Limits of the work for one page, so that it costs the same however many versions a transaction has.
const (
	// maxRead is the number of versions after which a page ends: at the next modification, or inside a modification of
	// which no visible version was found so far.
	maxRead = 1000
	// firstRange and nextRange are how many versions are read at a time, first and later. Most transactions have few.
	firstRange, nextRange = 32, 128
	// newestRange is how many versions of a modification with many are read first: mostly the newest one is visible.
	newestRange = 8
)

// versionLister is the part of transactiondb.Store that reads versions.
type versionLister interface {
	List(ctx context.Context, r transaction.Range) (versions []transaction.Version, hasMore bool, err error)
}

// statusReader reads the statuses of batches; batches that do not exist are left out.
type statusReader interface {
	Statuses(ctx context.Context, ids []batch.ID) (map[batch.ID]batch.Status, error)
}

// position is a place among the versions of a transaction, where a page ends and the next one begins. The zero position
// is the beginning.
type position struct {
	// modification is the last modification that precedes the position.
	modification string
	// version is set if the position is inside that modification: after this version, in the order newest first.
	version *transaction.Version
}

// page reads one page of a transaction: of each modification the newest visible version.
//
// The versions are read twice. Between the first reading and that of the batches' statuses a batch may have become
// PROCESSED, with lines that were stored after the first reading; the first reading alone would show half of that
// batch. The second reading begins after the last status was read, so it sees every line of a batch that was PROCESSED
// then. The first answer about a batch holds for the whole page, and a batch that only the second reading meets is not
// visible in it. Versions that have expired at the time of the page are not visible, even if they are still stored.
type page struct {
	store         versionLister
	batches       statusReader
	now           time.Time
	tenant, id    string
	visibleByID   map[string]bool
	unknown       []batch.ID
	budget        httpapi.ReplyBudget
	newest        []transaction.Version
	versionsRead  int
	isSecondVisit bool
}

// readPage reads the page that begins at a position. The position after it is nil at the end of the transaction.
func readPage(ctx context.Context, store versionLister, batches statusReader, now time.Time, tenant, id string,
	from position) ([]transaction.Version, *position, error) {
	p := &page{
		store: store, batches: batches, now: now, tenant: tenant, id: id, visibleByID: map[string]bool{},
		budget: pageBudget,
	}
	end, err := p.walk(ctx, from, nil)
	if err == nil {
		err = p.lookUpUnknown(ctx)
	}
	if err != nil || p.versionsRead == 0 {
		return nil, nil, err
	}
	p.isSecondVisit, p.versionsRead = true, 0
	end, err = p.walk(ctx, from, end)
	return p.newest, end, err
}

// walk visits the versions from a position on, up to another one or to the end of the transaction (nil), as far as work
// and reply are limited. It returns the position where it ended, nil for the end of the transaction.
func (p *page) walk(ctx context.Context, from position, to *position) (*position, error) {
	if from.version != nil {
		return p.walkInside(ctx, from, to)
	}
	for limit := firstRange; ; {
		versions, hasMore, err := p.list(ctx, transaction.Range{After: from.modification, Limit: limit})
		if err != nil || len(versions) == 0 {
			return nil, err
		}
		if p.versionsRead >= maxRead {
			return &from, nil
		}
		p.versionsRead += len(versions)
		modifications := splitByModification(versions)
		isLong := hasMore && len(modifications) == 1
		if hasMore && !isLong { // the last modification may go on after the range, and is read again
			modifications, limit = modifications[:len(modifications)-1], nextRange
		}
		for _, m := range modifications {
			at := position{modification: m[0].Modification}
			if to != nil && transaction.CompareModifications(at.modification, to.modification) > 0 {
				return &from, nil
			}
			var end *position
			if isLong {
				end, err = p.visitNewestFirst(ctx, from, at, to)
			} else {
				slices.Reverse(m)
				_, end, err = p.visit(ctx, from, m, true, to)
			}
			if end != nil || err != nil {
				return end, err
			}
			from = at
		}
		if !hasMore {
			return nil, nil
		}
	}
}

// walkInside is walk from a position inside a modification. It ends with that modification at the latest: of the
// others, the reply would show batches that became PROCESSED since the position was made, and of this one it would not.
func (p *page) walkInside(ctx context.Context, from position, to *position) (*position, error) {
	if end, err := p.visitNewestFirst(ctx, from, from, to); end != nil || err != nil {
		return end, err
	}
	following, _, err := p.list(ctx, transaction.Range{After: from.modification, Limit: 1})
	if err != nil || len(following) == 0 {
		return nil, err
	}
	return &position{modification: from.modification}, nil
}

// visitNewestFirst visits the versions of one modification from a position in it on, until a visible one is found. It
// returns nil if the walk goes on after the modification.
func (p *page) visitNewestFirst(ctx context.Context, previous, at position, to *position) (*position, error) {
	for limit := newestRange; ; limit = nextRange {
		versions, hasMore, err := p.list(ctx, transaction.Range{
			Modification: at.modification, Before: at.version, Limit: limit,
		})
		if err != nil || len(versions) == 0 {
			return nil, err
		}
		p.versionsRead += len(versions)
		isFound, end, err := p.visit(ctx, previous, versions, !hasMore, to)
		if isFound || end != nil || err != nil || !hasMore {
			return end, err
		}
		last := versions[len(versions)-1]
		at.version = &transaction.Version{ReceivedAt: last.ReceivedAt, Batch: last.Batch}
		if p.versionsRead >= maxRead {
			return &at, nil
		}
	}
}

// visit visits versions of one modification, newest first, and reports whether one of them is visible; they are the
// last ones if isComplete is set. The walk ends at a position that is not nil: at previous, the position before the
// modification, if the reply is full, or at to, if that is among the versions.
func (p *page) visit(ctx context.Context, previous position, versions []transaction.Version, isComplete bool,
	to *position) (isFound bool, end *position, err error) {
	if !p.isSecondVisit {
		isFound, err = p.note(ctx, versions, isComplete)
		return isFound, nil, err
	}
	for _, v := range versions {
		if to != nil && to.version != nil && to.modification == v.Modification && v.Compare(*to.version) < 0 {
			return false, to, nil // the first visit has not asked for the statuses of the versions after these
		}
		if !p.isVisible(v) {
			continue
		}
		if fits := p.budget.ReserveText(v.Text); !fits && len(p.newest) > 0 {
			return true, &previous, nil
		}
		p.newest = append(p.newest, v)
		return true, nil, nil
	}
	return false, nil, nil
}

// note is the first visit: it notes the batches of the versions down to the first one that is known to be visible. It
// reports whether one is visible; of the last versions of a modification it need not know.
func (p *page) note(ctx context.Context, versions []transaction.Version, isComplete bool) (bool, error) {
	for _, v := range versions {
		if p.isVisible(v) {
			return true, nil
		}
		if _, isKnown := p.visibleByID[v.Batch]; !isKnown && !v.IsExpired(p.now) {
			p.visibleByID[v.Batch] = false
			p.unknown = append(p.unknown, batch.ID(v.Batch))
		}
	}
	if isComplete {
		return false, nil
	}
	if err := p.lookUpUnknown(ctx); err != nil {
		return false, err
	}
	return slices.ContainsFunc(versions, p.isVisible), nil
}

// isVisible reports whether a version is visible as far as the statuses of batches are known.
func (p *page) isVisible(v transaction.Version) bool {
	return !v.IsExpired(p.now) && (v.IsSingle() || p.visibleByID[v.Batch])
}

// lookUpUnknown reads the statuses of the batches that were met since the last call.
func (p *page) lookUpUnknown(ctx context.Context) error {
	if len(p.unknown) == 0 {
		return nil
	}
	statuses, err := p.batches.Statuses(ctx, p.unknown)
	for _, id := range p.unknown {
		p.visibleByID[string(id)] = statuses[id] == batch.Processed
	}
	p.unknown = nil
	return err
}

// list reads versions of the transaction, on the first visit without their texts.
func (p *page) list(ctx context.Context, r transaction.Range) ([]transaction.Version, bool, error) {
	r.Tenant, r.TransactionID, r.KeysOnly = p.tenant, p.id, !p.isSecondVisit
	return p.store.List(ctx, r)
}

// splitByModification splits versions by modification. The versions of one modification are adjacent.
func splitByModification(versions []transaction.Version) [][]transaction.Version {
	var out [][]transaction.Version
	for start, i := 0, 1; i <= len(versions); i++ {
		if i == len(versions) || versions[i].Modification != versions[start].Modification {
			out = append(out, versions[start:i])
			start = i
		}
	}
	return out
}
