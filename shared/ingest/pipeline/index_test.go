package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/lineindex/lineindextest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/objects"
)

// owedIndex is a store with a batch of one chunk.
type owedIndex struct {
	batch.Batch
	marked [][]batch.Receiver
}

func (s *owedIndex) Get(context.Context, batch.ID) (batch.Batch, error) { return s.Batch, nil }

func (s *owedIndex) Chunks(context.Context, batch.ID) ([]batch.Chunk, error) {
	return []batch.Chunk{{Validated: &batch.ValidateResult{Lines: 1, IdentifiersKey: "work/identifiers"}}}, nil
}

func (s *owedIndex) MarkAnnounced(_ context.Context, _ batch.Batch, to []batch.Receiver) error {
	s.marked = append(s.marked, to)
	return nil
}

// unreadableFiles counts how often work files are read, which fails.
type unreadableFiles struct {
	*lineindextest.Files
	err   error
	reads int
}

func (f *unreadableFiles) Open(context.Context, string, string, int64, int64) (io.ReadCloser, error) {
	f.reads++
	return nil, fmt.Errorf("read object: %w", f.err)
}

// Work files that cannot be read may be readable again tomorrow. Those that do not exist after a week are given up; S3
// denies them to who may not list the bucket.
func TestIndexOfWhatIsGone(t *testing.T) {
	ended := time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)
	owed, late := []batch.Receiver{batch.Index}, indexPatience+time.Second
	for name, test := range map[string]struct {
		err       error
		after     time.Duration
		owes      []batch.Receiver
		isGivenUp bool
		reads     int
	}{
		"at first":                           {objects.ErrNotFound, time.Minute, owed, false, 1},
		"after a week":                       {objects.ErrNotFound, late, owed, true, 1},
		"denied at first":                    {objects.ErrDenied, time.Minute, owed, false, 1},
		"denied after a week":                {objects.ErrDenied, late, owed, true, 1},
		"another error after a week":         {errors.New("slow down"), late, owed, false, 1},
		"a batch that does not owe it":       {objects.ErrNotFound, late, []batch.Receiver{batch.Export}, false, 0},
		"a batch that owes nothing any more": {objects.ErrNotFound, late, nil, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			store := &owedIndex{Batch: batch.Batch{ID: "b", Tenant: "t", Status: batch.Processed, UpdatedAt: ended,
				Unannounced: test.owes}}
			now := func() time.Time { return ended.Add(test.after) }
			files := &unreadableFiles{Files: lineindextest.NewFiles(), err: test.err}
			s := &Index{Batches: store, Now: now, Log: slog.New(slog.DiscardHandler),
				Indexer: &lineindex.Indexer{Catalog: lineindextest.NewCatalog(), Work: files, Files: files,
					NewName: uuid.NewString, Lease: time.Minute, Now: now}}
			_, err := s.Run(t.Context(), BatchInput{ID: "b"})
			if fails := test.reads > 0 && !test.isGivenUp; fails {
				errtest.Fails(t, "run", err)
			} else {
				errtest.Fatal(t, err)
			}
			difftest.Equal(t, "reads", test.reads, files.reads)
			var want [][]batch.Receiver
			if test.isGivenUp {
				want = [][]batch.Receiver{owed}
			}
			difftest.Equal(t, "marked", want, store.marked)
		})
	}
}
