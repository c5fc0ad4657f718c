package lineindex

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// work does what is left of a merge: it writes the files that are missing, publishes the output and removes the inputs.
func (x *Indexer) work(ctx context.Context, tenant, worker, id string) error {
	now := x.Now()
	m, err := x.Catalog.ClaimMerge(ctx, tenant, id, worker, now, now.Add(x.Lease))
	if err != nil {
		return err
	}
	if !m.IsPublished {
		if m, err = x.write(ctx, tenant, worker, m); err != nil {
			return err
		}
		if err := x.Catalog.PublishMerge(ctx, tenant, worker, m); err != nil {
			return err
		}
	}
	return x.removeInputs(ctx, tenant, m)
}

// write writes the files of a merge that are missing and removes the records of batches that have expired. It returns
// the merge with all files.
func (x *Indexer) write(ctx context.Context, tenant, worker string, m Merge) (Merge, error) {
	tables, err := x.readTables(ctx, tenant, m.Inputs)
	if err != nil {
		return m, err
	}
	batches := unite(tables, m.At)
	if m.Done == 0 {
		if err := x.writeTable(ctx, tenant, &m.Output, batches); err != nil {
			return m, err
		}
	}
	numbers := make([][]int64, len(tables))
	for i := range tables {
		numbers[i] = renumber(tables[i], batches)
	}
	for m.Done < len(m.Output.Entries) {
		if x.isLate(ctx) {
			return m, errLate
		}
		if m.Output.Entries[m.Done], err = x.writeMerged(ctx, tenant, m, numbers); err != nil {
			return m, fmt.Errorf("merge segments: %w", err)
		}
		m.Done++
		if err := x.Catalog.SaveMerge(ctx, tenant, worker, m, x.Now().Add(x.Lease)); err != nil {
			return m, err
		}
	}
	var expired []string
	for _, b := range slices.Concat(tables...) {
		if b.isExpired(m.At) {
			expired = append(expired, recordsKey(tenant, b.ID))
		}
	}
	return m, x.remove(ctx, expired)
}

// removeInputs removes the inputs of a published merge, and an output that is empty: first from the segments, then
// their files. The merge goes last, so that another worker can go on here.
func (x *Indexer) removeInputs(ctx context.Context, tenant string, m Merge) error {
	if err := x.Catalog.RemoveInputs(ctx, tenant, m); err != nil {
		return err
	}
	obsolete := m.Inputs
	if m.Output.total() == 0 {
		obsolete = append(slices.Clone(obsolete), m.Output)
	}
	var keys []string
	for _, s := range obsolete {
		for file := range s.Entries {
			keys = append(keys, s.fileKey(tenant, file))
		}
		if s.Batches > 1 {
			keys = append(keys, s.tableKey(tenant))
		}
	}
	if err := x.remove(ctx, keys); err != nil {
		return err
	}
	return x.Catalog.EndMerge(ctx, tenant, m)
}

// remove removes objects.
func (x *Indexer) remove(ctx context.Context, keys []string) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrentReads)
	for _, key := range keys {
		g.Go(func() error { return x.Files.Remove(ctx, key) })
	}
	return g.Wait()
}

// readTables returns the batches of each segment.
func (x *Indexer) readTables(ctx context.Context, tenant string, segments []Segment) ([][]Batch, error) {
	tables := make([][]Batch, len(segments))
	g, ctx := errgroup.WithContext(ctx)
	for i, s := range segments {
		g.Go(func() (err error) {
			tables[i], err = readBatches(ctx, x.Files, tenant, s, 0, int(s.Batches)-1)
			return err
		})
	}
	return tables, g.Wait()
}

// unite returns the batches of tables in order, each once, without those whose lines are gone.
func unite(tables [][]Batch, now time.Time) []Batch {
	all := slices.Concat(tables...)
	all = slices.DeleteFunc(all, func(b Batch) bool { return b.isExpired(now) })
	slices.SortFunc(all, Batch.compare)
	return slices.CompactFunc(all, func(a, b Batch) bool { return a.ID == b.ID })
}

// renumber returns for each batch of a table its number among others; -1 if it is not among them.
func renumber(table, batches []Batch) []int64 {
	numbers := make([]int64, len(table))
	for i, b := range table {
		numbers[i] = -1
		if n, isFound := slices.BinarySearchFunc(batches, b, Batch.compare); isFound {
			numbers[i] = int64(n)
		}
	}
	return numbers
}

// writeTable sets the batches of a segment, and writes its table if there are several.
func (x *Indexer) writeTable(ctx context.Context, tenant string, s *Segment, batches []Batch) error {
	if s.Batches = int64(len(batches)); s.Batches > maxBatches {
		return errors.New("merge segments: too many batches")
	}
	var b []byte
	for _, row := range batches {
		b = appendRow(b, row)
		if !row.Expires.IsZero() && (s.FirstExpiry.IsZero() || row.Expires.Before(s.FirstExpiry)) {
			s.FirstExpiry = row.Expires
		}
	}
	if len(batches) == 1 {
		s.Only = batches[0]
	}
	if len(batches) < 2 {
		return nil
	}
	err := x.Files.WriteObject(ctx, s.tableKey(tenant), func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(b))
		return err
	})
	if err != nil {
		return fmt.Errorf("write table of batches: %w", err)
	}
	return nil
}

// writeMerged writes the next file of a merge and returns the number of its entries.
func (x *Indexer) writeMerged(ctx context.Context, tenant string, m Merge, numbers [][]int64) (int64, error) {
	inputs := make([]*stream, len(m.Inputs))
	g, gctx := errgroup.WithContext(ctx)
	for i, s := range m.Inputs {
		g.Go(func() (err error) {
			inputs[i], err = x.streamFile(gctx, tenant, s, m.Output, m.Done, numbers[i])
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	merged, err := newMerger(ctx, inputs)
	if err != nil {
		return 0, err
	}
	return merged.writeFile(ctx, x.Files, tenant, m.Output, m.Done)
}

// streamFile returns the entries of a segment that belong into a file of a merged one, which has as many files or more.
func (x *Indexer) streamFile(ctx context.Context, tenant string, s, merged Segment, file int,
	numbers []int64) (*stream, error) {
	shift := 64 - merged.fileBits()
	first, limit := uint64(0), uint64(0)
	if shift < 64 {
		first, limit = uint64(file)<<shift, uint64(file+1)<<shift // 0 after the last file
	}
	from := s.fileOf(first)
	in := &stream{files: x.Files, key: s.fileKey(tenant, from), to: s.Entries[from], first: first, limit: limit,
		place: func(place uint64) (uint64, bool, error) {
			n := place >> batchShift
			if n >= uint64(len(numbers)) {
				return 0, false, fmt.Errorf("%w: segment %s has no batch %d", ErrCorrupt, s.ID, n)
			}
			return uint64(numbers[n])<<batchShift | place&(1<<batchShift-1), numbers[n] >= 0, nil
		}}
	if len(s.Entries) < len(merged.Entries) { // a part of the file: from the page of its first entry on
		p, err := readPage(ctx, x.Files, tenant, s, from, s.pageOf(first))
		if err != nil {
			return nil, err
		}
		in.from = p.from
	}
	return in, nil
}
