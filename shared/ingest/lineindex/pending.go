package lineindex

import (
	"context"
	"io"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/shared/ingest/batch"
)

// Owing finds the batches that have ended and owe their index.
type Owing struct {
	Batches interface {
		// List and Chunks are as in batch.Store.
		List(ctx context.Context, tenant string, f batch.Filter, after batch.ID, limit int) ([]batch.Batch, batch.ID,
			error)
		Chunks(ctx context.Context, id batch.ID) ([]batch.Chunk, error)
	}
	Accepted Accepted
	// IsGone reports whether an error of Accepted means that a work file does not exist.
	IsGone func(error) bool
}

// Accepted returns a function that reports whether a line of a settled chunk, counted from 0, is accepted.
type Accepted func(ctx context.Context, c batch.Chunk) (func(line int64) bool, error)

// LatestBatches is how many batches of a tenant, the latest ones, may owe their index and are searched.
const LatestBatches = 100

// Pending returns those of the latest batches of a tenant that owe their index. A batch owes it for a second or so. If
// earlier ones may owe it, too, until is when the earliest of these ended; otherwise the zero time.
func (o Owing) Pending(ctx context.Context, tenant string) (pending []Pending, until time.Time, err error) {
	found, _, err := o.Batches.List(ctx, tenant, batch.Filter{}, "", LatestBatches)
	if err != nil {
		return nil, until, err
	}
	if n := len(found); n == LatestBatches && slices.Contains(found[n-1].Unannounced, batch.Index) {
		until = found[n-1].UpdatedAt
	}
	for _, b := range found {
		if !slices.Contains(b.Unannounced, batch.Index) {
			continue
		}
		chunks, err := o.Batches.Chunks(ctx, b.ID)
		if err != nil {
			return nil, until, err
		}
		files, err := ChunksOf(ctx, chunks, o.Accepted)
		if err != nil && o.IsGone(err) {
			continue // they are deleted a week after the end of a batch that could not be indexed
		}
		if err != nil {
			return nil, until, err
		}
		pending = append(pending, Pending{BatchOf(b), files})
	}
	return pending, until, nil
}

// BatchOf returns a batch as the index has it.
func BatchOf(b batch.Batch) Batch {
	return Batch{ID: b.ID, ReceivedAt: b.ReceivedAt, Expires: b.Settings.ExpiryOf(b.ReceivedAt)}
}

// ChunksOf returns the work files of chunks, up to the first one that was not validated: without its lines those after
// it cannot be numbered.
func ChunksOf(ctx context.Context, chunks []batch.Chunk, accepted Accepted) ([]Chunk, error) {
	for i, c := range chunks {
		if c.Index != i || c.Validated == nil {
			chunks = chunks[:i]
			break
		}
	}
	counts := batch.CountLines(chunks)
	files := make([]Chunk, len(chunks))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrentReads)
	for i, c := range chunks {
		files[i] = Chunk{Key: c.Validated.IdentifiersKey, Offset: c.Validated.IdentifiersOffset,
			FirstLine: counts.FirstLine(i)}
		if c.Settled == nil || c.Settled.Skipped || files[i].Key == "" {
			continue // its lines were not judged to the end, or have no identifiers
		}
		g.Go(func() error {
			isAccepted, err := accepted(ctx, c)
			files[i].IsRejected = func(line int64) bool { return !isAccepted(line) }
			return err
		})
	}
	return files, g.Wait()
}

// pendingChunk is the work file of a chunk of a batch that is not in a segment yet.
type pendingChunk struct {
	Batch
	in *chunkInput
}

// pendingChunks returns the work files of the pending batches that exist.
func (r *search) pendingChunks(ctx context.Context) (chunks []pendingChunk, err error) {
	if r.Pending == nil {
		return nil, nil
	}
	pending, until, err := r.Pending(ctx, r.Tenant)
	if err != nil {
		return nil, err
	}
	r.until = until
	for _, p := range pending {
		if p.isExpired(r.Now()) {
			continue
		}
		inputs, err := openChunks(ctx, r.Work, p.Chunks)
		if err != nil && !r.IsGone(err) {
			return nil, err
		}
		for _, in := range inputs {
			chunks = append(chunks, pendingChunk{p.Batch, in})
		}
	}
	return chunks, nil
}

// findInChunk returns the hits of a chunk after the position, of each digest at least one more than the limit if there
// are as many: those that the segment of the batch will have. It reads all entries, with one request for 8,192 of them,
// however many digests there are.
func (r *search) findInChunk(ctx context.Context, c pendingChunk) (hits []Hit, err error) {
	found := map[uint64]int{}
	for s := c.in.stream(r.Work); ; {
		if err := s.next(ctx); err == io.EOF {
			return hits, nil
		} else if err != nil {
			return nil, err
		}
		e := s.current
		kinds, isWanted := r.wanted[e.digest]
		at := Position{c.ReceivedAt, c.ID, e.place}
		if !isWanted || found[e.digest] > r.Limit || !r.wants(kinds, e.kind(), at) {
			continue
		}
		found[e.digest]++
		record := recordPlace{r.Work, c.in.Key, c.in.recordsStart() + e.offset() - c.in.base, c.in}
		hits = append(hits, Hit{Batch: c.Batch, Kind: e.kind(), Position: at, record: record})
	}
}
