package lineindextest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"sluice/shared/ingest/lineindex"
)

// Catalog is a lineindex.Catalog in memory.
type Catalog struct {
	mu       sync.Mutex
	segments map[place]segment
	merges   map[place]merge
}

// place is a tenant and the ID of a segment.
type place struct{ tenant, id string }

type segment struct {
	lineindex.Segment
	isMerging bool
}

type merge struct {
	lineindex.Merge
	worker string
	until  time.Time
}

// NewCatalog returns a catalog without segments.
func NewCatalog() *Catalog { return &Catalog{segments: map[place]segment{}, merges: map[place]merge{}} }

// Register implements lineindex.Catalog.
func (c *Catalog) Register(_ context.Context, tenant string, s lineindex.Segment) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := (place{tenant, s.ID}); c.segments[at].ID == "" {
		c.segments[at] = segment{Segment: s}
	}
	return nil
}

// Segments implements lineindex.Catalog.
func (c *Catalog) Segments(_ context.Context, tenant string) (segments []lineindex.Segment, merges []lineindex.Merge,
	err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at, s := range c.segments {
		if at.tenant == tenant {
			segments = append(segments, s.Segment)
		}
	}
	for at, m := range c.merges {
		if at.tenant == tenant {
			merges = append(merges, m.copy())
		}
	}
	slices.SortFunc(segments, func(a, b lineindex.Segment) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(merges, func(a, b lineindex.Merge) int { return cmp.Compare(a.Output.ID, b.Output.ID) })
	return segments, merges, nil
}

// copy returns the merge without memory that it shares.
func (m merge) copy() lineindex.Merge {
	m.Output.Entries = slices.Clone(m.Output.Entries)
	return m.Merge
}

// BeginMerge implements lineindex.Catalog.
func (c *Catalog) BeginMerge(_ context.Context, tenant string, m lineindex.Merge) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, in := range m.Inputs {
		if s := c.segments[place{tenant, in.ID}]; s.ID == "" || s.isMerging {
			return lineindex.ErrTaken
		}
	}
	for _, in := range m.Inputs {
		c.segments[place{tenant, in.ID}] = segment{in, true}
	}
	c.merges[place{tenant, m.Output.ID}] = merge{Merge: merge{Merge: m}.copy()}
	return nil
}

// ClaimMerge implements lineindex.Catalog.
func (c *Catalog) ClaimMerge(_ context.Context, tenant, id, worker string, now, until time.Time) (lineindex.Merge,
	error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, exists := c.merges[place{tenant, id}]
	if !exists || m.worker != "" && m.worker != worker && !m.until.Before(now) {
		return lineindex.Merge{}, lineindex.ErrTaken
	}
	m.worker, m.until = worker, until
	c.merges[place{tenant, id}] = m
	return m.copy(), nil
}

// SaveMerge implements lineindex.Catalog.
func (c *Catalog) SaveMerge(_ context.Context, tenant, worker string, m lineindex.Merge, until time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := place{tenant, m.Output.ID}
	saved, exists := c.merges[at]
	if !exists || saved.worker != worker {
		return lineindex.ErrTaken
	}
	saved.until, saved.Done = until, m.Done
	saved.Output = merge{Merge: m}.copy().Output
	c.merges[at] = saved
	return nil
}

// PublishMerge implements lineindex.Catalog.
func (c *Catalog) PublishMerge(_ context.Context, tenant, worker string, m lineindex.Merge) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := place{tenant, m.Output.ID}
	published, exists := c.merges[at]
	if !exists || published.worker != worker || published.IsPublished {
		return lineindex.ErrTaken
	}
	published.IsPublished = true
	c.merges[at] = published
	if slices.Max(m.Output.Entries) > 0 {
		c.segments[at] = segment{Segment: m.Output}
	}
	return nil
}

// RemoveInputs implements lineindex.Catalog.
func (c *Catalog) RemoveInputs(_ context.Context, tenant string, m lineindex.Merge) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, in := range m.Inputs {
		delete(c.segments, place{tenant, in.ID})
	}
	return nil
}

// EndMerge implements lineindex.Catalog.
func (c *Catalog) EndMerge(_ context.Context, tenant string, m lineindex.Merge) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.merges, place{tenant, m.Output.ID})
	return nil
}
