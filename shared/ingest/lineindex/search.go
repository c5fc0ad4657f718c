package lineindex

import (
	"bytes"
	"cmp"
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
	// Work. It may return one that has just got into a segment. If it may leave out batches that ended after some time,
	// it also returns that time. Nil means that there are none.
	Pending func(ctx context.Context, tenant string) ([]Pending, time.Time, error)
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

	record recordPlace
}

// compare orders positions: the batch received last first, and the lines of a batch as they are in the file.
func (p Position) compare(other Position) int {
	a, b := Batch{ID: p.Batch, ReceivedAt: p.ReceivedAt}, Batch{ID: other.Batch, ReceivedAt: other.ReceivedAt}
	return cmp.Or(a.compare(b), cmp.Compare(p.Place, other.Place))
}

// maxAttempts is how often a search reads the segments of a tenant. Each time another merge must have ended meanwhile.
const maxAttempts = 5

// Search returns the first hits after a position, the lines of the batch that was received last first, and the position
// after which there may be more; nil at the end. Lines that expired are not found. If batches that ended after a time
// may not have been searched, until is that time; otherwise it is zero. The limit is 1 or more.
func (s *Searcher) Search(ctx context.Context, q Query) (hits []Hit, next *Position, until time.Time, err error) {
	r := search{Searcher: s, Query: q, wanted: map[uint64][]Kind{}, done: map[part]bool{}}
	for _, id := range q.IDs {
		for _, k := range q.Kinds {
			digest := q.Key.digest(k, []byte(id)) // of Request, perhaps another one than of the other kinds
			r.wanted[digest] = append(r.wanted[digest], k)
		}
	}
	for range maxAttempts {
		if err = r.findHits(ctx); err == nil || !s.IsGone(err) {
			break
		}
	}
	if err != nil {
		return nil, nil, until, fmt.Errorf("search index: %w", err)
	}
	slices.SortFunc(r.hits, func(a, b Hit) int { return a.Position.compare(b.Position) })
	hits = slices.CompactFunc(r.hits, func(a, b Hit) bool { return a.Position.compare(b.Position) == 0 })
	if len(hits) > q.Limit {
		hits = hits[:q.Limit]
		last := hits[len(hits)-1].Position
		next = &last
	}
	hits, err = r.readRecords(ctx, hits)
	return hits, next, r.until, err
}

// search is a search in progress.
type search struct {
	*Searcher
	Query
	// wanted are the digests that are looked for, and the kinds of identifiers of which each may be.
	wanted map[uint64][]Kind
	until  time.Time

	mu sync.Mutex
	// hits are without records, in no order. Those that were found twice, as before and after a merge, are there twice.
	hits []Hit
	done map[part]bool
}

// part is one digest in a segment.
type part struct {
	segment string
	digest  uint64
}

// findHits finds the hits in segments, unless that is done, and in pending batches. If it meets the end of a merge, the
// error is that of a file that does not exist: the segments are others now.
func (r *search) findHits(ctx context.Context) error {
	pending, err := r.pendingChunks(ctx) // before the segments, so that each batch is in one of them
	if err != nil {
		return err
	}
	segments, _, err := r.Catalog.Segments(ctx, r.Tenant)
	if err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(concurrentReads)
	for _, segment := range segments {
		for digest, kinds := range r.wanted {
			g.Go(func() error {
				p := part{segment.ID, digest}
				if r.isDone(p) {
					return nil
				}
				hits, err := r.findInSegment(ctx, segment, digest, kinds)
				if err == nil {
					r.add(hits, p)
				}
				return err
			})
		}
	}
	for _, c := range pending {
		g.Go(func() error {
			hits, err := r.findInChunk(ctx, c)
			r.add(hits)
			return err
		})
	}
	return g.Wait()
}

func (r *search) isDone(p part) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done[p]
}

// add adds the hits of a chunk, or of a part that is done.
func (r *search) add(hits []Hit, done ...part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hits = append(r.hits, hits...)
	for _, p := range done {
		r.done[p] = true
	}
}

// wants reports whether an entry of a kind is a hit, if it has a position.
func (r *search) wants(kinds []Kind, k Kind, at Position) bool {
	return slices.Contains(kinds, k) && (r.After == nil || at.compare(*r.After) > 0)
}

// findInSegment returns the hits of a segment after the position: those of some kinds whose identifiers have the
// digest, at least one more than the limit if there are as many.
func (r *search) findInSegment(ctx context.Context, segment Segment, digest uint64, kinds []Kind) ([]Hit, error) {
	file := segment.fileOf(digest)
	p, err := readPage(ctx, r.Files, r.Tenant, segment, file, segment.pageOf(digest))
	if err != nil || !p.filter.mayHave(digest) {
		return nil, err
	}
	var hits []Hit
	now := r.Now()
	entries := entryFile{r.Files, segment.fileKey(r.Tenant, file)}
	err = entries.each(ctx, p.from, p.to, digest, func(entries []entry) (bool, error) {
		batches, first, err := r.batchesOf(ctx, r.Tenant, segment, entries)
		if err != nil {
			return false, err
		}
		for _, e := range entries {
			b := batches[e.batch()-first]
			at := Position{b.ReceivedAt, b.ID, e.place & (1<<batchShift - 1)}
			if r.wants(kinds, e.kind(), at) && !b.isExpired(now) {
				record := recordPlace{r.Files, recordsKey(r.Tenant, b.ID), e.offset(), nil}
				hits = append(hits, Hit{Batch: b, Kind: e.kind(), Position: at, record: record})
			}
		}
		return len(hits) <= r.Limit, nil
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

// recordPlace is the place of a record.
type recordPlace struct {
	files  Files
	key    string
	offset int64
	// chunk is the work file of a chunk with the record; nil for the records of a batch.
	chunk *chunkInput
}

// readRecords sets the records of hits. A hit whose record has another identifier is left out.
func (r *search) readRecords(ctx context.Context, hits []Hit) ([]Hit, error) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrentReads)
	for i := range hits {
		g.Go(func() (err error) {
			hits[i].Record, err = hits[i].record.read(ctx)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	return slices.DeleteFunc(hits, func(h Hit) bool {
		found := normalize(h.Kind, []byte(h.IDs[h.Kind]))
		return !slices.ContainsFunc(r.IDs, func(id string) bool {
			return bytes.Equal(found, normalize(h.Kind, []byte(id)))
		})
	}), nil
}

func (p recordPlace) read(ctx context.Context) (Record, error) {
	body, err := p.files.Open(ctx, p.key, "", p.offset, p.offset+int64(maxRecordBytes))
	if err != nil {
		return Record{}, err
	}
	defer body.Close()
	b, err := io.ReadAll(io.LimitReader(body, int64(maxRecordBytes)))
	if err != nil {
		return Record{}, err
	}
	record, _, err := readRecord(b)
	if p.chunk != nil && err == nil {
		record.Rejected = p.chunk.IsRejected != nil && p.chunk.IsRejected(record.Line)
		record.Line += p.chunk.FirstLine
	}
	return record, err
}
