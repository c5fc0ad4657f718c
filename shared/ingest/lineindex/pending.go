package lineindex

import (
	"context"
	"slices"

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
}

// Accepted returns a function that reports whether a line of a settled chunk, counted from 0, is accepted.
type Accepted func(ctx context.Context, c batch.Chunk) (func(line int64) bool, error)

// LatestBatches is how many batches of a tenant, the latest ones, may owe their index and are searched.
const LatestBatches = 100

// Pending returns those of the latest batches of a tenant that owe their index. A batch owes it for a second or so.
func (o Owing) Pending(ctx context.Context, tenant string) (pending []Pending, err error) {
	found, _, err := o.Batches.List(ctx, tenant, batch.Filter{}, "", LatestBatches)
	if err != nil {
		return nil, err
	}
	for _, b := range found {
		if !slices.Contains(b.Unannounced, batch.Index) {
			continue
		}
		chunks, err := o.Batches.Chunks(ctx, b.ID)
		if err != nil {
			return nil, err
		}
		files, err := ChunksOf(ctx, chunks, o.Accepted)
		if err != nil {
			return nil, err
		}
		pending = append(pending, Pending{BatchOf(b), files})
	}
	return pending, nil
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
	for i, c := range chunks {
		files[i] = Chunk{Key: c.Validated.IdentifiersKey, FirstLine: counts.FirstLine(i)}
		if c.Settled == nil || c.Settled.Skipped || files[i].Key == "" {
			continue // its lines were not judged to the end, or have no identifiers
		}
		isAccepted, err := accepted(ctx, c)
		if err != nil {
			return nil, err
		}
		files[i].IsRejected = func(line int64) bool { return !isAccepted(line) }
	}
	return files, nil
}

// searchPending returns the hits of a batch that is not in a segment yet after the position, with their records: at
// least one more than the limit if there are as many. They are those that its segment will have.
func (s *Searcher) searchPending(ctx context.Context, q Query, p Pending, wanted map[uint64][]Kind) (hits []Hit,
	err error) {
	if p.isExpired(s.Now()) {
		return nil, nil
	}
	inputs, err := openChunks(ctx, s.Work, p.Chunks)
	if err != nil {
		return nil, err
	}
	for _, in := range inputs {
		file := entryFile{s.Work, in.Key, chunkHeaderBytes}
		for digest, kinds := range wanted {
			err := file.each(ctx, 0, in.entries, digest, func(entries []entry) (bool, error) {
				for _, e := range entries {
					at := Position{p.ReceivedAt, p.ID, e.place + uint64(in.base)<<kindBits}
					if !slices.Contains(kinds, e.kind()) || q.After != nil && at.compare(*q.After) <= 0 {
						continue
					}
					record, err := readRecordAt(ctx, s.Work, in.Key, in.recordsStart()+e.offset())
					if err != nil {
						return false, err
					}
					record.Rejected = in.IsRejected != nil && in.IsRejected(record.Line)
					record.Line += in.FirstLine
					hits = append(hits, Hit{Batch: p.Batch, Kind: e.kind(), Record: record, Position: at})
				}
				return len(hits) <= q.Limit, nil
			})
			if err != nil {
				return nil, err
			}
		}
		if len(hits) > q.Limit {
			break // the chunks are in the order of their lines
		}
	}
	return hits, nil
}
