// Package lines finds what became of the lines of batches, by their modification IDs. Lines have no index of their own:
// it reads the index of each chunk (package validation) and, of the chunks that have such lines, the file as it was
// uploaded, the accept bitmap and the part of the report. So a batch can be asked for as long as its work files are
// kept, and the work is bounded by a Budget.
package lines

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/duplicate"
	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/validation"
)

// Life is how long after its receipt the lines of a batch can be found: the work files of a batch are made after that,
// and kept as long.
const Life = 7 * 24 * time.Hour

// concurrentReads is how many sections of indexes are read at the same time.
const concurrentReads = 16

// Chunks reads the results that the steps have committed for the chunks of batches.
type Chunks interface {
	// Chunks returns all chunks of a batch about which anything is committed, in the order of their indexes.
	Chunks(ctx context.Context, id batch.ID) ([]batch.Chunk, error)
}

// Files reads objects. It is safe for concurrent use.
type Files interface {
	// Open returns the bytes [from, to) of an object, or those from from on if to is negative.
	Open(ctx context.Context, key, etag string, from, to int64) (io.ReadCloser, error)
	// Source returns the object, in the version that the ETag names, as the source of a chunk.Reader.
	Source(key, etag string) chunk.Source
}

// Finder finds lines. It is safe for concurrent use.
type Finder struct {
	Chunks Chunks
	// Uploads has the files of batches, and Work their work files.
	Uploads, Work Files
}

// Budget is how much may still be read. A search ends when one of its numbers is used up, and may read more bytes for
// the chunk at which it ends.
type Budget struct {
	// Sections is how many sections of indexes may be read.
	Sections int
	// Bytes is how much of uploaded files and reports may be read.
	Bytes int64
	// Events is how many events may be found.
	Events int
}

// IsSpent reports whether nothing may be read any more.
func (b Budget) IsSpent() bool { return b.Sections <= 0 || b.Bytes <= 0 || b.Events <= 0 }

// Position is where a search in a batch goes on. The zero Position is the beginning.
type Position struct {
	Chunk int
	// Line is the number of a line within the chunk, from 0.
	Line int64
}

// HasEvents reports whether the lines of a batch have events: it ended after its verdict, was not only to be validated,
// and was not cancelled by its client.
func HasEvents(b batch.Batch) bool {
	return b.Verdict != nil && b.Status.IsTerminal() && !b.ValidateOnly && !b.IsCancelled()
}

// Find returns the events of those lines of a batch that have one of some modification IDs, in the order of the lines,
// from a position on; and the position where it ended, nil at the end of the batch. HasEvents must hold for the batch.
func (f *Finder) Find(ctx context.Context, b batch.Batch, ids []string, from Position, left *Budget) (
	events []observation.Event, end *Position, err error) {
	chunks, err := f.Chunks.Chunks(ctx, b.ID)
	if err != nil {
		return nil, nil, err
	}
	wanted := newWanted(b, ids)
	for from.Chunk < len(chunks) {
		if left.IsSpent() {
			return events, &from, nil
		}
		group := chunks[from.Chunk:min(len(chunks), from.Chunk+max(1, min(concurrentReads,
			left.Sections)/len(wanted.partitions)))]
		found, err := f.findInChunks(ctx, group, wanted, from, left.Events+1)
		if err != nil {
			return nil, nil, err
		}
		left.Sections -= len(group) * len(wanted.partitions)
		for i, hits := range found {
			if len(hits) > 0 && (left.Bytes <= 0 || left.Events <= 0) {
				return events, &from, nil
			}
			rest := hits[min(len(hits), left.Events):]
			if hits = hits[:len(hits)-len(rest)]; len(hits) > 0 {
				described, err := f.describe(ctx, b, group[i], hits, left)
				if err != nil {
					return nil, nil, err
				}
				events = append(events, described...)
			}
			if len(rest) > 0 {
				return events, &Position{from.Chunk, rest[0].line}, nil
			}
			from = Position{Chunk: from.Chunk + 1}
		}
	}
	return events, nil, nil
}

// wanted are the modification IDs that are looked for in a batch.
type wanted struct {
	ids map[duplicate.Digest]string
	// partitions are those of the digests of the IDs.
	partitions map[int]map[duplicate.Digest]bool
}

func newWanted(b batch.Batch, ids []string) wanted {
	w := wanted{map[duplicate.Digest]string{}, map[int]map[duplicate.Digest]bool{}}
	key := duplicate.NewKey(b.DigestKey)
	for _, id := range ids {
		digest := key.Digest([]byte(id))
		w.ids[digest] = id
		p := digest.Partition(validation.Partitions)
		if w.partitions[p] == nil {
			w.partitions[p] = map[duplicate.Digest]bool{}
		}
		w.partitions[p][digest] = true
	}
	return w
}

// hit is a line of a chunk, by its number from 0, that has a modification ID.
type hit struct {
	line int64
	id   string
}

// findInChunks returns the hits of each chunk, in the order of their lines; those of the first chunk from the line of a
// position on. Of each ID a chunk has at most limit.
func (f *Finder) findInChunks(ctx context.Context, chunks []batch.Chunk, w wanted, from Position, limit int) ([][]hit,
	error) {
	found := make([][]hit, len(chunks))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrentReads)
	results := make(chan func(), len(chunks)*len(w.partitions))
	for i, c := range chunks {
		if c.Validated == nil || c.Validated.IndexKey == "" {
			continue
		}
		in := validation.FindInput{
			Index: validation.SectionedFile{Source: f.Work.Source(c.Validated.IndexKey, ""),
				Sections: validation.Sections(c.Validated.IndexSections)},
			LineCount: c.Validated.Lines, Limit: limit,
		}
		if i == 0 {
			in.From = from.Line
		}
		for p, digests := range w.partitions {
			in := in
			in.Partition, in.Digests = p, digests
			g.Go(func() error {
				lines, err := validation.FindLines(ctx, in)
				results <- func() { found[i] = appendHits(found[i], lines, w) }
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("find lines: %w", err)
	}
	close(results)
	for add := range results {
		add()
	}
	for _, hits := range found {
		slices.SortFunc(hits, func(a, b hit) int { return cmp.Compare(a.line, b.line) })
	}
	return found, nil
}

func appendHits(hits []hit, lines map[duplicate.Digest][]int64, w wanted) []hit {
	for digest, numbers := range lines {
		for _, line := range numbers {
			hits = append(hits, hit{line, w.ids[digest]})
		}
	}
	return hits
}
