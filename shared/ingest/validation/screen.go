package validation

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/duplicate"
	"sluice/shared/ingest/report"
)

// The hits of a partition are a sectioned file with one section for each chunk. A section holds the names of the chunk
// that have hits, if there are any:
//
//	uvarint    number of names; each:
//	  text     name
//	  uvarint  number of references
//	  uvarint  number of bytes of the references
//	           the references, as in the index
//	  text     the hits: their number (uvarint), the best one first, and of each
//	    text   list
//	    text   version of the list
//	    text   ID of the entry
//	    text   name of the entry
//	    8 bytes score, as the bits of a float64, little endian
//	    text   explanation
const hitsMagic = "SLH1"

// MaxHitsPerName is the number of hits of a name that become alerts: the best ones.
const MaxHitsPerName = 20

const (
	// MaxPartitionHitBytes bounds the memory for the hits of one partition, each name counted once.
	MaxPartitionHitBytes = 64 << 20
	// maxSectionHitBytes bounds the hits of a chunk in one partition, of a chunk of up to as many bytes.
	maxSectionHitBytes = 8 << 20
	// screenedTogether is the number of names that are given to a Screener together.
	screenedTogether = 1024
)

// ErrTooManyHits means that names have more hits than can be listed: a threshold is too low.
var ErrTooManyHits = errors.New("validation: too many hits")

// Screener compares names with watchlists. It is not used concurrently.
type Screener interface {
	// Screen calls found with each of the names that has hits, by its index, and the hits, the best first. The names
	// are valid until it returns; found must not be called after that.
	Screen(ctx context.Context, names []string, found func(i int, hits []report.Hit)) error
}

// ScreenInput is the input of ScreenPartition.
type ScreenInput struct {
	// Partition is the partition to screen, in [0, Partitions).
	Partition int
	// Chunks is the number of chunks, and ChunkBytes the size of one.
	Chunks     int
	ChunkBytes int64
	// Names returns the names of a chunk, or nil if it has none. It must be safe for concurrent use.
	Names func(chunk int) chunk.Source
	// Screener compares the names.
	Screener Screener
	// DigestKey is the key with which the chunks were validated.
	DigestKey [16]byte
	// Concurrency is the number of files of names that are read at the same time; 0 means 1.
	Concurrency int
}

// ScreenResult is the outcome of screening a partition.
type ScreenResult struct {
	// Names is the number of distinct names that were screened.
	Names int64
	// HitsBytes is the number of bytes written to hits. If it is 0, no name has a hit, and the file is not needed.
	HitsBytes int64
	// HitsSections are the sections of the hits; empty if there are no hits.
	HitsSections Sections
}

// ScreenPartition compares each distinct name of one partition with watchlists, once, and writes the hits, or nothing
// if there are none. It returns ErrTooManyHits if they would take too much memory here or in SettleChunk.
func ScreenPartition(ctx context.Context, in ScreenInput, hits io.Writer) (ScreenResult, error) {
	return new(partitionScreener).screen(ctx, in, hits)
}

// partitionScreener screens one partition at a time and keeps its memory for the next one.
type partitionScreener struct {
	reader   sectionReader
	sections sectionWriter
	// names are the distinct names so far. hits has those with hits, by number, as they are encoded.
	names    duplicate.Table
	hits     map[uint32][]byte
	hitBytes int

	// unscreened are the names of one section that were not in those before, and numbers are their numbers.
	unscreened []string
	numbers    []uint32
}

// chunkHits are the names of a chunk that have hits.
type chunkHits struct {
	uses    []usedText
	numbers []uint32
}

func (p *partitionScreener) screen(ctx context.Context, in ScreenInput, hits io.Writer) (ScreenResult, error) {
	p.names.Reset(0)
	p.hits, p.hitBytes = make(map[uint32][]byte), 0
	chunks := make([]chunkHits, in.Chunks)
	key := duplicate.NewKey(in.DigestKey)
	err := p.reader.readEach(ctx, in.Chunks, in.Concurrency,
		func(ctx context.Context, i int, buf []byte) ([]byte, error) {
			return readSection(ctx, in.Names(i), namesMagic, Partitions, in.Partition, buf)
		},
		func(i int, section []byte) (err error) {
			chunks[i], err = p.addSection(ctx, in.Screener, key, section)
			return err
		})
	if err != nil {
		return ScreenResult{}, fmt.Errorf("screen names: %w", err)
	}
	result := ScreenResult{Names: int64(p.names.Len())}
	if len(p.hits) == 0 {
		return result, nil
	}
	if err := p.checkSize(in, chunks); err != nil {
		return ScreenResult{}, err
	}
	if result.HitsBytes, err = p.writeHits(hits, chunks); err != nil {
		return ScreenResult{}, fmt.Errorf("write hits: %w", err)
	}
	result.HitsSections = p.sections.written
	return result, nil
}

// addSection screens the names of a section that are new, and returns those of its names that have hits.
func (p *partitionScreener) addSection(ctx context.Context, s Screener, key duplicate.Key, section []byte) (
	chunkHits, error) {
	if len(section) == 0 {
		return chunkHits{}, nil
	}
	var found []usedText
	var numbers []uint32
	p.unscreened, p.numbers = p.unscreened[:0], p.numbers[:0]
	d := &decoder{b: section}
	eachUse(d, func(u usedText) {
		number, isNew := p.names.Intern(key.Digest(u.text))
		if isNew {
			p.unscreened, p.numbers = append(p.unscreened, string(u.text)), append(p.numbers, number)
		}
		found, numbers = append(found, u), append(numbers, number)
	})
	if err := d.finish("names of a chunk"); err != nil {
		return chunkHits{}, err
	}
	if err := p.screenNew(ctx, s); err != nil {
		return chunkHits{}, err
	}
	var out chunkHits
	for i, u := range found {
		if p.hits[numbers[i]] != nil {
			copied := usedText{append([]byte(nil), u.text...), u.count, append([]byte(nil), u.references...)}
			out.uses, out.numbers = append(out.uses, copied), append(out.numbers, numbers[i])
		}
	}
	return out, nil
}

// screenNew screens the names that are new, some at a time.
func (p *partitionScreener) screenNew(ctx context.Context, s Screener) error {
	for from := 0; from < len(p.unscreened); from += screenedTogether {
		if err := ctx.Err(); err != nil {
			return err
		}
		names := p.unscreened[from:min(from+screenedTogether, len(p.unscreened))]
		err := s.Screen(ctx, names, func(i int, hits []report.Hit) {
			if len(hits) > 0 {
				encoded := appendHits(nil, hits[:min(len(hits), MaxHitsPerName)])
				p.hits[p.numbers[from+i]] = encoded
				p.hitBytes += len(encoded)
			}
		})
		if err != nil {
			return err
		}
		if p.hitBytes > MaxPartitionHitBytes {
			return ErrTooManyHits
		}
	}
	return nil
}

// checkSize returns ErrTooManyHits if a section would have more than SettleChunk can hold of each partition.
func (p *partitionScreener) checkSize(in ScreenInput, chunks []chunkHits) error {
	limit := int(max(maxSectionHitBytes, in.ChunkBytes))
	for _, c := range chunks {
		size := 0
		for i, u := range c.uses {
			size += len(u.text) + len(u.references) + len(p.hits[c.numbers[i]])
		}
		if size > limit {
			return ErrTooManyHits
		}
	}
	return nil
}

func (p *partitionScreener) writeHits(w io.Writer, chunks []chunkHits) (int64, error) {
	return p.sections.write(w, hitsMagic, len(chunks), func(i int, b []byte) []byte {
		c := &chunks[i]
		if len(c.uses) == 0 {
			return b
		}
		b = binary.AppendUvarint(b, uint64(len(c.uses)))
		for n, u := range c.uses {
			b = appendCountedList(appendText(b, u.text), int(u.count), u.references)
			b = appendText(b, p.hits[c.numbers[n]])
		}
		return b
	})
}

// appendHits appends the hits of a name.
func appendHits(b []byte, hits []report.Hit) []byte {
	b = binary.AppendUvarint(b, uint64(len(hits)))
	for i := range hits {
		h := &hits[i]
		b = appendText(appendText(appendText(appendText(b, h.List), h.Version), h.EntryID), h.EntryName)
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(h.Score))
		b = appendText(b, h.Explanation)
	}
	return b
}

// decodeHits is the inverse of appendHits.
func decodeHits(encoded []byte) ([]report.Hit, error) {
	d := &decoder{b: encoded}
	var hits []report.Hit
	for n := d.uvarintUpTo(MaxHitsPerName); n > 0 && !d.failed; n-- {
		h := report.Hit{List: string(d.text()), Version: string(d.text()), EntryID: string(d.text()),
			EntryName: string(d.text())}
		if score := d.bytes(8); score != nil {
			h.Score = math.Float64frombits(binary.LittleEndian.Uint64(score))
		}
		h.Explanation = string(d.text())
		if math.IsNaN(h.Score) || math.IsInf(h.Score, 0) {
			d.fail()
		}
		hits = append(hits, h)
	}
	return hits, d.finish("hits of a name")
}

// ScreenerFunc is a Screener that looks up one name at a time: it returns the hits of a name, the best first.
type ScreenerFunc func(name string) ([]report.Hit, error)

// Screen implements Screener.
func (f ScreenerFunc) Screen(ctx context.Context, names []string, found func(i int, hits []report.Hit)) error {
	for i, name := range names {
		if i%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		hits, err := f(name)
		if err != nil {
			return err
		}
		if len(hits) > 0 {
			found(i, hits)
		}
	}
	return nil
}
