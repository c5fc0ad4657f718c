package pipeline

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/export"
)

// owedExport is a store with a batch that owes its export.
type owedExport struct {
	batch.Batch
	chunks []batch.Chunk
	// marked are the keys that were recorded.
	marked []string
}

func (s *owedExport) Chunks(context.Context, batch.ID) ([]batch.Chunk, error) { return s.chunks, nil }

func (s *owedExport) ClaimExport(_ context.Context, id batch.ID, _ string, _, _ time.Time) (batch.Batch, error) {
	if id != s.ID {
		return batch.Batch{}, batch.ErrNothingToExport
	}
	return s.Batch, nil
}

func (s *owedExport) MarkExported(_ context.Context, _ batch.ID, key string) error {
	s.marked = append(s.marked, key)
	return nil
}

// Files that cannot be read may be readable again tomorrow. After a week the export is given up.
func TestExportsOfWhatIsGone(t *testing.T) {
	ended := time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		after     time.Duration
		fails     bool
		isGivenUp bool
	}{
		"at first":     {time.Minute, true, false},
		"after a week": {exportPatience + time.Second, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			// The rows of the chunks are gone.
			store := &owedExport{Batch: batch.Batch{ID: "b", Tenant: "t", UpdatedAt: ended,
				Plan: chunk.NewPlan(100, 10)}}
			s := &Export{
				Batches: store, Attempt: func(context.Context) string { return "a" },
				Write: func(context.Context, io.Writer, export.File) error { return errors.New("written") },
				Now:   func() time.Time { return ended.Add(test.after) }, Log: slog.New(slog.DiscardHandler),
			}
			if _, err := s.Run(t.Context(), BatchInput{ID: "b"}); (err != nil) != test.fails {
				t.Errorf("got error %v, want one: %v", err, test.fails)
			}
			if isMarked := len(store.marked) == 1 && store.marked[0] == ""; isMarked != test.isGivenUp {
				t.Errorf("recorded %q, want that it is given up: %v", store.marked, test.isGivenUp)
			}
			if _, err := s.Run(t.Context(), BatchInput{ID: "another"}); err != nil {
				t.Errorf("a batch that owes nothing: %v", err)
			}
		})
	}
}
