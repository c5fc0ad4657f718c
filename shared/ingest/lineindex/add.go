package lineindex

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"
)

// Chunk is the work file of a chunk of a batch.
type Chunk struct {
	// Key is the key in Work, and Offset where the identifiers begin in the file; "" for a chunk without identifiers.
	Key    string
	Offset int64
	// FirstLine is the number in the file of the chunk's first line, from 1.
	FirstLine int64
	// IsRejected reports whether a line of the chunk, counted from 0, is rejected; nil if that is not known.
	IsRejected func(line int64) bool
}

// concurrentReads is how many objects are read at the same time.
const concurrentReads = 16

// Add writes the records of a batch and makes a segment of its work files. Repeating it, also at the same time, makes
// another segment, with which searches find the same and merges one entry of two: files that are registered, or removed
// after a merge, are never written again. Work files may only be added to those of earlier calls, at the end. A batch
// without identifiers has no segment.
func (x *Indexer) Add(ctx context.Context, tenant string, b Batch, chunks []Chunk) error {
	inputs, err := openChunks(ctx, x.Work, chunks)
	if err != nil || len(inputs) == 0 {
		return err
	}
	key := recordsKey(tenant, b.ID)
	err = x.Files.WriteObject(ctx, key, func(w io.Writer) error { return x.copyRecords(ctx, w, inputs) })
	if err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	s := Segment{ID: segmentID(b.ReceivedAt, x.NewName()), Batches: 1, Only: b, FirstExpiry: b.Expires}
	streams, entries := make([]*stream, len(inputs)), int64(0)
	for i, in := range inputs {
		streams[i] = in.stream(x.Work)
		entries += in.entries
	}
	fileBits, pageBits := x.layoutOf(entries)
	s.PageBits, s.Entries = pageBits, make([]int64, 1<<fileBits)
	m, err := newMerger(ctx, streams)
	if err != nil {
		return err
	}
	for i := range s.Entries {
		if s.Entries[i], err = m.writeFile(ctx, x.Files, tenant, s, i); err != nil {
			return fmt.Errorf("write segment: %w", err)
		}
	}
	return x.Catalog.Register(ctx, tenant, s)
}

// segmentID returns the ID of a segment that was made at a time.
func segmentID(at time.Time, name string) string { return fmt.Sprintf("%019d-%s", at.UnixNano(), name) }

// chunkInput is a work file that is being read.
type chunkInput struct {
	Chunk
	entries int64
	// records is the number of bytes of the records, and base is where they begin in those of the batch.
	records, base int64
}

// openChunks reads the headers of the work files that exist.
func openChunks(ctx context.Context, work Files, chunks []Chunk) ([]*chunkInput, error) {
	var inputs []*chunkInput
	for _, c := range chunks {
		if c.Key != "" {
			inputs = append(inputs, &chunkInput{Chunk: c})
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrentReads)
	for _, in := range inputs {
		g.Go(func() error {
			header, err := readRange(ctx, work, in.Key, in.Offset, in.Offset+chunkHeaderBytes)
			if err != nil {
				return fmt.Errorf("read work file: %w", err)
			}
			if string(header[:4]) != chunkMagic {
				return fmt.Errorf("%w: not %s", ErrCorrupt, chunkMagic)
			}
			in.entries = int64(binary.LittleEndian.Uint32(header[4:]))
			in.records = int64(binary.LittleEndian.Uint64(header[8:]))
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	base := int64(0)
	for _, in := range inputs {
		in.base = base
		if in.records < 0 || in.records > maxRecordsBytes-base {
			return nil, fmt.Errorf("%w: %d bytes of records", ErrCorrupt, in.records)
		}
		base += in.records
	}
	return inputs, nil
}

// stream returns the entries of the chunk as those of the batch.
func (in *chunkInput) stream(work Files) *stream {
	shift := uint64(in.base) << kindBits
	return &stream{files: work, key: in.Key, offset: in.Offset + chunkHeaderBytes, to: in.entries,
		place: func(place uint64) (uint64, bool, error) {
			if place>>kindBits >= uint64(in.records) {
				return 0, false, fmt.Errorf("%w: %s has no record %d", ErrCorrupt, in.Key, place>>kindBits)
			}
			return place + shift, true, nil
		}}
}

// copyRecords copies the records of the chunks, with the numbers of lines in the file.
func (x *Indexer) copyRecords(ctx context.Context, w io.Writer, inputs []*chunkInput) error {
	out := bufio.NewWriterSize(w, 256<<10)
	for _, in := range inputs {
		if err := x.copyChunk(ctx, out, in); err != nil {
			return fmt.Errorf("copy records: %w", err)
		}
	}
	return out.Flush()
}

func (x *Indexer) copyChunk(ctx context.Context, out *bufio.Writer, in *chunkInput) error {
	start := in.recordsStart()
	body, err := x.Work.Open(ctx, in.Key, "", start, start+in.records)
	if err != nil {
		return err
	}
	defer body.Close()
	r := bufio.NewReaderSize(body, 256<<10)
	for left := in.records; left > 0; {
		b, err := r.Peek(int(min(left, int64(maxRecordBytes))))
		if err == io.EOF {
			err = fmt.Errorf("%w: %s ends early", ErrCorrupt, in.Key)
		}
		if err != nil {
			return err
		}
		n, err := recordBytes(b)
		if err != nil {
			return err
		}
		number := int64(binary.LittleEndian.Uint32(b))
		line := in.FirstLine + number
		if line > maxLine {
			return fmt.Errorf("%w: %s has line %d", ErrCorrupt, in.Key, line)
		}
		if in.IsRejected != nil && in.IsRejected(number) {
			line |= rejectedBit
		}
		binary.LittleEndian.PutUint32(b, uint32(line)) // in the buffer of r
		if _, err := out.Write(b[:n]); err != nil {
			return err
		}
		left -= int64(n)
		_, _ = r.Discard(n) // what was peeked
	}
	return nil
}

// recordsStart returns where the records begin in the work file.
func (in *chunkInput) recordsStart() int64 {
	return in.Offset + chunkHeaderBytes + in.entries*entryBytes
}
