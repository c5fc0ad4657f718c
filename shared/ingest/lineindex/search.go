package lineindex

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/shared/ingest/batch"
)

// Searcher finds lines. It is safe for concurrent use.
type Searcher struct {
	Catalog interface {
		// Segments is as in Indexer.
		Segments(ctx context.Context, tenant string) ([]Segment, []Merge, error)
	}
	Files Files
	// Pending returns the batches of a tenant that have ended and are not in a segment yet, with their work files in
	// Work. It may return one that has just got into a segment. Nil means that there are none.
	Pending func(ctx context.Context, tenant string) ([]Pending, error)
	Work    Files
	// IsGone reports whether an error of Files means that an object does not exist.
	IsGone func(error) bool
	Now    func() time.Time
}

// Pending is a batch that is not in a segment yet.
type Pending struct {
	Batch
	Chunks []Chunk
}

// Query is what is looked for.
type Query struct {
	Tenant string
	Key    Key
	// IDs are looked for together: their hits are in one order.
	IDs []string
	// Kinds are the kinds of identifiers that the IDs may be.
	Kinds []Kind
	// After is the hit after which the search goes on; nil for the first one.
	After *Position
	// Limit is the largest number of hits.
	Limit int
}

// Position is the place of a hit among others.
type Position struct {
	ReceivedAt time.Time
	Batch      batch.ID
	// Place is the place of the record in the batch, with the kind.
	Place uint64
}

// String returns the position as ParsePosition reads it.
func (p Position) String() string {
	return fmt.Sprintf("%d %s %d", p.ReceivedAt.UnixNano(), p.Batch, p.Place)
}

// ParsePosition returns the position of a text; nil, the beginning, for the empty text.
func ParsePosition(text string) (*Position, error) {
	if text == "" {
		return nil, nil
	}
	var nanos int64
	var p Position
	if _, err := fmt.Sscanf(text, "%d %s %d", &nanos, &p.Batch, &p.Place); err != nil {
		return nil, fmt.Errorf("read position: %w", err)
	}
	p.ReceivedAt = time.Unix(0, nanos).UTC()
	return &p, nil
}

// Hit is a line that has an identifier.
type Hit struct {
	Batch Batch
	Kind  Kind
	Record
	Position Position
}

// compare orders positions: the batch received last first, and the lines of a batch as they are in the file.
func (p Position) compare(other Position) int {
	a, b := Batch{ID: p.Batch, ReceivedAt: p.ReceivedAt}, Batch{ID: other.Batch, ReceivedAt: other.ReceivedAt}
	if c := a.compare(b); c != 0 {
		return c
	}
	switch {
	case p.Place < other.Place:
		return -1
	case p.Place > other.Place:
		return 1
	}
	return 0
}

// Search returns the first hits after a position, the lines of the batch that was received last first, and the position
// after which there may be more; nil at the end. Lines that expired are not found. A search that meets the end of a
// merge begins again.
func (s *Searcher) Search(ctx context.Context, q Query) (hits []Hit, next *Position, err error) {
	for range 3 {
		hits, next, err = s.search(ctx, q)
		if err == nil || !s.IsGone(err) {
			break
		}
	}
	return hits, next, err
}

func (s *Searcher) search(ctx context.Context, q Query) (hits []Hit, next *Position, err error) {
	var pending []Pending
	if s.Pending != nil { // before the segments, so that each batch is in one of them
		if pending, err = s.Pending(ctx, q.Tenant); err != nil {
			return nil, nil, err
		}
	}
	segments, _, err := s.Catalog.Segments(ctx, q.Tenant)
	if err != nil {
		return nil, nil, err
	}
	wanted := map[uint64][]Kind{}
	for _, id := range q.IDs {
		for _, k := range q.Kinds {
			digest := q.Key.digest(k, []byte(id)) // of Request, perhaps another one than of the other kinds
			wanted[digest] = append(wanted[digest], k)
		}
	}
	var mu sync.Mutex
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrentReads)
	collect := func(search func() ([]Hit, error)) {
		g.Go(func() error {
			found, err := search()
			mu.Lock()
			defer mu.Unlock()
			hits = append(hits, found...)
			return err
		})
	}
	for _, segment := range segments {
		for digest, kinds := range wanted {
			collect(func() ([]Hit, error) { return s.searchSegment(gctx, q, segment, digest, kinds) })
		}
	}
	for _, p := range pending {
		collect(func() ([]Hit, error) { return s.searchPending(gctx, q, p, wanted) })
	}
	if err := g.Wait(); err != nil {
		return nil, nil, fmt.Errorf("search index: %w", err)
	}
	slices.SortFunc(hits, func(a, b Hit) int { return a.Position.compare(b.Position) })
	hits = slices.CompactFunc(hits, func(a, b Hit) bool { return a.Position.compare(b.Position) == 0 })
	if len(hits) > q.Limit {
		hits = hits[:q.Limit]
		last := hits[len(hits)-1].Position
		next = &last
	}
	hits, err = s.readRecords(ctx, q, hits)
	return hits, next, err
}

// searchSegment returns the hits of a segment after the position, without records: those of some kinds whose
// identifiers have the digest, at least one more than the limit if there are as many.
func (s *Searcher) searchSegment(ctx context.Context, q Query, segment Segment, digest uint64, kinds []Kind) ([]Hit,
	error) {
	file := segment.fileOf(digest)
	p, err := readPage(ctx, s.Files, q.Tenant, segment, file, segment.pageOf(digest))
	if err != nil || !p.filter.mayHave(digest) {
		return nil, err
	}
	var hits []Hit
	now := s.Now()
	entries := entryFile{s.Files, segment.fileKey(q.Tenant, file), 0}
	err = entries.each(ctx, p.from, p.to, digest, func(entries []entry) (bool, error) {
		batches, first, err := s.batchesOf(ctx, q.Tenant, segment, entries)
		if err != nil {
			return false, err
		}
		for _, e := range entries {
			b := batches[e.batch()-first]
			at := Position{b.ReceivedAt, b.ID, e.place & (1<<batchShift - 1)}
			isWanted := slices.Contains(kinds, e.kind()) && (q.After == nil || at.compare(*q.After) > 0)
			if isWanted && !b.isExpired(now) {
				hits = append(hits, Hit{Batch: b, Kind: e.kind(), Position: at})
			}
		}
		return len(hits) <= q.Limit, nil
	})
	return hits, err
}

// batchesOf returns the batches of some entries and those between them, and the number of the first one.
func (s *Searcher) batchesOf(ctx context.Context, tenant string, segment Segment, entries []entry) ([]Batch, int,
	error) {
	first, last := entries[0].batch(), entries[len(entries)-1].batch() // entries are in the order of their places
	batches, err := readBatches(ctx, s.Files, tenant, segment, first, last)
	return batches, first, err
}

// readRecords sets the records of hits. A hit whose record has another identifier is left out.
func (s *Searcher) readRecords(ctx context.Context, q Query, hits []Hit) ([]Hit, error) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrentReads)
	for i := range hits {
		if hits[i].Line > 0 {
			continue // of a pending batch
		}
		g.Go(func() (err error) {
			h := &hits[i]
			h.Record, err = readRecordAt(ctx, s.Files, recordsKey(q.Tenant, h.Batch.ID),
				int64(h.Position.Place>>kindBits))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	return slices.DeleteFunc(hits, func(h Hit) bool {
		found := normalize(h.Kind, []byte(h.IDs[h.Kind]))
		return !slices.ContainsFunc(q.IDs, func(id string) bool {
			return bytes.Equal(found, normalize(h.Kind, []byte(id)))
		})
	}), nil
}

// readRecordAt reads the record at an offset of an object.
func readRecordAt(ctx context.Context, files Files, key string, offset int64) (Record, error) {
	body, err := files.Open(ctx, key, "", offset, offset+int64(maxRecordBytes))
	if err != nil {
		return Record{}, err
	}
	defer body.Close()
	b, err := io.ReadAll(io.LimitReader(body, int64(maxRecordBytes)))
	if err != nil {
		return Record{}, err
	}
	r, _, err := readRecord(b)
	return r, err
}
