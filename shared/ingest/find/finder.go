package find

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/shared/access"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/observation"
)

// Finder finds everything that has an identifier. It is safe for concurrent use.
type Finder struct {
	Hits    *Hits
	Batches interface {
		// GetAll is as in batchdb.Store.
		GetAll(ctx context.Context, ids []batch.ID) (map[batch.ID]batch.Batch, error)
	}
	// Sources are those of the kinds that are no identifiers of lines.
	Sources map[Kind]Source
	Now     func() time.Time
}

// Query selects what is found.
type Query struct {
	Tenant string
	Layers access.Layers
	ID     string
	// Kinds are the kinds that the caller wants and may read.
	Kinds []Kind
	After Position
	Limit int
}

// Result is a page of what was found, newest first.
type Result struct {
	Items []Item
	// Next is the position after which there may be more; the zero Position at the end.
	Next Position
	// From and To bound the times of the ends of batches whose lines were searched. From is zero if lines are not
	// indexed.
	From, To time.Time
}

// placed is an item and its position.
type placed struct {
	Item
	at Position
}

// Find returns a page.
func (f *Finder) Find(ctx context.Context, q Query) (r Result, err error) {
	var lines, objects []placed
	var next *Position
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		lines, next, r.To, err = f.findLines(gctx, q)
		return err
	})
	g.Go(func() (err error) {
		objects, err = f.findObjects(gctx, q)
		return err
	})
	g.Go(func() (err error) {
		r.From, err = f.Hits.Since(gctx, q.Tenant)
		return err
	})
	if err := g.Wait(); err != nil {
		return Result{}, err
	}
	if r.To.IsZero() {
		r.To = f.Now()
	}
	all := append(lines, objects...)
	slices.SortStableFunc(all, func(a, b placed) int { return comparePositions(a.at, b.at) })
	if next != nil { // objects that are after it may be after further lines, too
		all = slices.DeleteFunc(all, func(p placed) bool { return comparePositions(p.at, *next) > 0 })
	}
	if len(all) > q.Limit {
		all = all[:q.Limit]
		next = &all[q.Limit-1].at
	}
	for _, p := range all {
		r.Items = append(r.Items, p.Item)
	}
	if next != nil {
		r.Next = *next
	}
	return r, nil
}

// fromObjects is the first source of objects, after those of hits.
const fromObjects = fromVersions + 1

// findObjects returns the objects of all sources that are after the position.
func (f *Finder) findObjects(ctx context.Context, q Query) (all []placed, err error) {
	found := make([][]Item, len(q.Kinds))
	g, ctx := errgroup.WithContext(ctx)
	for i, kind := range q.Kinds {
		if source := f.Sources[kind]; source != nil {
			g.Go(func() (err error) {
				found[i], err = source.Find(ctx, q.Tenant, q.Layers, q.ID)
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for _, item := range slices.Concat(found...) {
		p := placed{item, Position{item.ReceivedAt, fromObjects + slices.Index(Kinds(), item.Kind), item.Href}}
		if item.ReceivedAt.IsZero() {
			p.at.At = time.Unix(0, 0).UTC()
		}
		if (Page{After: q.After}).isAfter(p.at) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b placed) int {
		return cmp.Or(comparePositions(a.at, b.at), cmp.Compare(a.at.Place, b.at.Place))
	})
	return all, nil
}

// findLines returns the lines and single transactions of a page, the position after which there may be more, and until
// as Hits.Read does.
func (f *Finder) findLines(ctx context.Context, q Query) (all []placed, next *Position, until time.Time, err error) {
	p := Page{Tenant: q.Tenant, ID: q.ID, After: q.After, Limit: q.Limit}
	for _, kind := range q.Kinds {
		if kind.IsOfLine() {
			p.Kinds = append(p.Kinds, observation.Kind(kind))
		}
	}
	if len(p.Kinds) == 0 {
		return nil, nil, until, nil
	}
	hits, next, until, err := f.Hits.Read(ctx, p)
	if err != nil {
		return nil, nil, until, err
	}
	outcomes, err := f.readOutcomes(ctx, q.Tenant, hits)
	if err != nil {
		return nil, nil, until, err
	}
	for _, h := range hits {
		item := Item{Kind: Kind(h.Kind), ID: h.ID(), Batch: h.Batch, Line: h.Line, TransactionID: h.TransactionID,
			ModificationID: h.ModificationID, PaymentID: h.PaymentID, ReceivedAt: h.ReceivedAt}
		outcomes.describe(q.Tenant, h, &item)
		all = append(all, placed{item, h.Position})
	}
	return all, next, until, nil
}

// BatchSource is the Source of batches.
type BatchSource struct {
	Batches interface {
		Get(ctx context.Context, id batch.ID) (batch.Batch, error)
	}
}

// Find implements Source.
func (s BatchSource) Find(ctx context.Context, tenant string, _ access.Layers, id string) ([]Item, error) {
	parsed, err := batch.ParseID(id)
	if err != nil {
		return nil, nil
	}
	b, err := s.Batches.Get(ctx, parsed)
	if errors.Is(err, batch.ErrNotFound) || err == nil && b.Tenant != tenant {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	item := Item{Kind: Batch, ID: string(b.ID), Batch: b.ID, ReceivedAt: b.ReceivedAt, Href: batch.StatusURL(b.ID)}
	if b.Status.IsVisible() {
		item.Status = string(b.Status)
	}
	return []Item{item}, nil
}
