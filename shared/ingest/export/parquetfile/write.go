package parquetfile

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"golang.org/x/sync/errgroup"

	"sluice/shared/ingest/export"
)

const (
	// rowGroupBytes is how many bytes of the uploaded file are in a row group, rounded to whole chunks. It bounds the
	// memory of a writer: a row group is collected before it is written.
	rowGroupBytes = 64 << 20
	// flushBytes is how many bytes of lines are divided into columns before their values are encoded.
	flushBytes = 256 << 10
)

// Write writes the file to w. The row groups are made at the same time, one for each processor.
func Write(ctx context.Context, w io.Writer, f export.File) error {
	return lineTable.write(ctx, w, f, rowGroupBytes, runtime.GOMAXPROCS(0))
}

func (t *table) write(ctx context.Context, w io.Writer, f export.File, groupBytes int64, workers int) error {
	file := parquet.NewGenericWriter[any](w, t.schema,
		parquet.CreatedBy("sluice", "1", ""),
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}),
		parquet.DataPageVersion(1), // which every reader knows
		parquet.DataPageStatistics(false),
		parquet.SkipPageBounds(rawLineColumn),
		parquet.KeyValueMetadata(VersionKey, strconv.Itoa(t.version)),
		parquet.KeyValueMetadata(TenantKey, f.Tenant),
		parquet.KeyValueMetadata(BatchKey, f.Batch),
	)
	groups, ctx := errgroup.WithContext(ctx)
	groups.SetLimit(workers)
	committed := make(chan struct{})
	close(committed)
	for first := 0; first < len(f.ChunkBytes); {
		last := endOfGroup(f.ChunkBytes, first, groupBytes)
		chunks, turn, done := [2]int{first, last}, committed, make(chan struct{})
		groups.Go(func() error {
			group := file.BeginRowGroup()
			if err := t.fillGroup(ctx, group, f, chunks); err != nil {
				return err
			}
			select {
			case <-turn:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if _, err := group.Commit(); err != nil {
				return fmt.Errorf("write a row group: %w", err)
			}
			close(done)
			return nil
		})
		first, committed = last, done
	}
	if err := groups.Wait(); err != nil {
		return err
	}
	return file.Close()
}

// endOfGroup returns the chunk after the last one of the row group that begins with a chunk.
func endOfGroup(chunkBytes []int64, first int, groupBytes int64) int {
	total := int64(0)
	for i := first; i < len(chunkBytes); i++ {
		if total += chunkBytes[i]; total > groupBytes && i > first {
			return i
		}
	}
	return len(chunkBytes)
}

// fillGroup writes the lines of the chunks [chunks[0], chunks[1]) to a row group.
func (t *table) fillGroup(ctx context.Context, group *parquet.ConcurrentRowGroupWriter, f export.File,
	chunks [2]int) error {
	r := newRows(t)
	batch := []byte(f.Batch)
	flush := func() error {
		for i, c := range group.ColumnWriters() {
			if len(r.columns[i]) == 0 {
				continue // the library takes the address of the first value
			}
			if _, err := c.WriteRowValues(r.columns[i]); err != nil {
				return fmt.Errorf("write column %d: %w", i, err)
			}
		}
		r.reset()
		return nil
	}
	for i := chunks[0]; i < chunks[1]; i++ {
		err := f.Lines(ctx, i, func(l export.Line) error {
			if err := r.add(l, batch, f.ReceivedAt); err != nil {
				return err
			}
			if len(r.arena) < flushBytes {
				return nil
			}
			return flush()
		})
		if err != nil {
			return err
		}
	}
	return flush()
}
