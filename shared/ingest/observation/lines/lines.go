// Package lines finds what became of the lines of batches, by their modification IDs: the index of lines (package
// lineindex) names the lines, and the work files of a batch, which are kept for a time, their outcomes.
package lines

import (
	"context"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/observation"
)

// Life is how long after its receipt the outcomes of the lines of a batch are known: the work files of a batch are made
// after that, and kept as long.
const Life = 7 * 24 * time.Hour

// concurrentReads is how many batches are read at the same time, and maxBatches how many have events of one call.
const concurrentReads, maxBatches = 16, 100

// Batches reads batches and the results that the steps have committed for their chunks.
type Batches interface {
	Get(ctx context.Context, id batch.ID) (batch.Batch, error)
	Chunks(ctx context.Context, id batch.ID) ([]batch.Chunk, error)
}

// Index finds lines by their identifiers.
type Index interface {
	// Search is as in lineindex.Searcher.
	Search(ctx context.Context, q lineindex.Query) ([]lineindex.Hit, *lineindex.Position, time.Time, error)
}

// Work has the work files of batches. It is safe for concurrent use.
type Work interface {
	// Open returns the bytes [from, to) of an object, or those from from on if to is negative.
	Open(ctx context.Context, key, etag string, from, to int64) (io.ReadCloser, error)
}

// Finder finds lines. It is safe for concurrent use.
type Finder struct {
	Batches Batches
	Index   Index
	// Keys has the keys of the digests of tenants; false for one without an index.
	Keys interface {
		Find(ctx context.Context, tenant string) (key lineindex.Key, since time.Time, isFound bool, err error)
	}
	Work Work
	// IsGone reports whether an error means that a work file or a batch does not exist any more.
	IsGone func(error) bool
	Now    func() time.Time
}

// Budget is how much may still be read. A search ends when one of its numbers is used up, and may read more bytes for
// the line at which it ends.
type Budget struct {
	// Bytes is how much of reports may be read.
	Bytes int64
	// Events is how many events may be found.
	Events int
}

// HasEvents reports whether the lines of a batch have events: it ended after its verdict, was not only to be validated,
// and was not cancelled by its client.
func HasEvents(b batch.Batch) bool {
	return b.Verdict != nil && b.Status.IsTerminal() && !b.ValidateOnly && !b.IsCancelled()
}

// Find returns the events of the lines that have one of some modification IDs, the batch that was received last first,
// from a position on; and the position where it ended, nil at the end of the list.
func (f *Finder) Find(ctx context.Context, tenant string, ids []string, after *lineindex.Position, left *Budget) (
	events []observation.Event, end *lineindex.Position, err error) {
	key, _, isFound, err := f.Keys.Find(ctx, tenant)
	if err != nil || !isFound {
		return nil, nil, err
	}
	hits, end, _, err := f.Index.Search(ctx, lineindex.Query{Tenant: tenant, Key: key, IDs: ids,
		Kinds: []lineindex.Kind{lineindex.Modification}, After: after, Limit: left.Events})
	if err != nil {
		return nil, nil, err
	}
	hits, end = f.cut(hits, end)
	read, err := f.readBatches(ctx, hits)
	if err != nil {
		return nil, nil, err
	}
	for last := after; len(hits) > 0; {
		n := 1
		for n < len(hits) && hits[n].Batch.ID == hits[0].Batch.ID {
			n++
		}
		described, rest, err := f.describe(ctx, read[hits[0].Batch.ID], hits[:n], left)
		if err != nil && !f.IsGone(err) {
			return nil, nil, err
		}
		if err == nil {
			events = append(events, described...)
		}
		if done := n - len(rest); done > 0 {
			last = &hits[done-1].Position
		}
		if hits = hits[n:]; len(rest) > 0 || left.Bytes <= 0 && len(hits) > 0 {
			return events, last, nil
		}
	}
	return events, end, nil
}

// cut returns the hits whose outcomes are known, of at most maxBatches batches, and where the next ones begin.
func (f *Finder) cut(hits []lineindex.Hit, end *lineindex.Position) ([]lineindex.Hit, *lineindex.Position) {
	earliest := f.Now().Add(-Life)
	batches := map[batch.ID]bool{}
	for i, h := range hits {
		if !h.Batch.ReceivedAt.After(earliest) {
			return hits[:i], nil
		}
		if batches[h.Batch.ID] = true; len(batches) > maxBatches {
			return hits[:i], &hits[i-1].Position
		}
	}
	return hits, end
}

// judged is a batch with its chunks.
type judged struct {
	batch.Batch
	chunks []batch.Chunk
}

// readBatches returns the batches of hits. One that does not exist any more has no chunks.
func (f *Finder) readBatches(ctx context.Context, hits []lineindex.Hit) (map[batch.ID]*judged, error) {
	read := map[batch.ID]*judged{}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrentReads)
	for _, h := range hits {
		if read[h.Batch.ID] != nil {
			continue
		}
		b := &judged{}
		read[h.Batch.ID] = b
		g.Go(func() (err error) {
			if b.Batch, err = f.Batches.Get(ctx, h.Batch.ID); err == nil {
				b.chunks, err = f.Batches.Chunks(ctx, h.Batch.ID)
			}
			if err != nil && f.IsGone(err) {
				return nil
			}
			return err
		})
	}
	return read, g.Wait()
}
