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
	// IsGone reports whether an error of Files means that an object does not exist.
	IsGone func(error) bool
	Now    func() time.Time
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
	for _, segment := range segments {
		for digest, kinds := range wanted {
			g.Go(func() error {
				found, err := s.searchSegment(gctx, q, segment, digest, kinds)
				mu.Lock()
				defer mu.Unlock()
				hits = append(hits, found...)
				return err
			})
		}
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
	err = s.eachEntry(ctx, q.Tenant, segment, file, p, digest, func(entries []entry) (bool, error) {
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

// blockEntries is how many entries are read at a time.
const blockEntries = 4 << 10

// eachEntry calls visit with the entries of a page that have a digest, until it returns false. A page that has many
// entries, because many lines share an identifier, is searched by halves.
func (s *Searcher) eachEntry(ctx context.Context, tenant string, segment Segment, file int, p page, digest uint64,
	visit func([]entry) (bool, error)) error {
	read := func(from, to int64) ([]entry, error) {
		b, err := readRange(ctx, s.Files, segment.fileKey(tenant, file), from*entryBytes, to*entryBytes)
		entries := make([]entry, 0, len(b)/entryBytes)
		for ; len(b) > 0; b = b[entryBytes:] {
			entries = append(entries, decodeEntry(b))
		}
		return entries, err
	}
	from, to := p.from, p.to
	for to-from > blockEntries { // the first entry with the digest is not before from, and not after to
		middle := from + (to-from)/2
		e, err := read(middle, middle+1)
		if err != nil {
			return err
		}
		if e[0].digest < digest {
			from = middle + 1
		} else {
			to = middle
		}
	}
	for from < p.to {
		entries, err := read(from, min(from+blockEntries, p.to))
		if err != nil {
			return err
		}
		from += int64(len(entries))
		first, _ := slices.BinarySearchFunc(entries, digest, compareDigest)
		end, _ := slices.BinarySearchFunc(entries, digest+1, compareDigest)
		if digest+1 == 0 {
			end = len(entries)
		}
		if first < end {
			if isMore, err := visit(entries[first:end]); err != nil || !isMore {
				return err
			}
		}
		if end < len(entries) {
			return nil
		}
	}
	return nil
}

func compareDigest(e entry, digest uint64) int {
	switch {
	case e.digest < digest:
		return -1
	case e.digest > digest:
		return 1
	}
	return 0
}

// batchesOf returns the batches of some entries and those between them, and the number of the first one.
func (s *Searcher) batchesOf(ctx context.Context, tenant string, segment Segment, entries []entry) ([]Batch, int,
	error) {
	first, last := entries[0].batch(), entries[len(entries)-1].batch() // entries of one digest are in their order
	batches, err := readBatches(ctx, s.Files, tenant, segment, first, last)
	return batches, first, err
}

// readRecords sets the records of hits. A hit whose record has another identifier is left out.
func (s *Searcher) readRecords(ctx context.Context, q Query, hits []Hit) ([]Hit, error) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrentReads)
	for i := range hits {
		g.Go(func() (err error) {
			hits[i].Record, err = s.readRecord(ctx, q.Tenant, hits[i])
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

func (s *Searcher) readRecord(ctx context.Context, tenant string, h Hit) (Record, error) {
	offset := int64(h.Position.Place >> kindBits)
	body, err := s.Files.Open(ctx, recordsKey(tenant, h.Batch.ID), "", offset, offset+int64(maxRecordBytes))
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
