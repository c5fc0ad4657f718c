package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/kit/deadline"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/objects"
)

// Index has the lines of ended batches found by their identifiers, and maintains the indexes. It is no state of the
// state machine: the row of a batch owes it, as it does an export.
type Index struct {
	Batches indexedBatches
	Indexer *lineindex.Indexer
	// Accepted is AcceptedLines of the bucket of work files.
	Accepted lineindex.Accepted
	// Tenants returns the tenants that have an index.
	Tenants func(ctx context.Context) ([]string, error)
	Now     func() time.Time
	Log     *slog.Logger
}

type indexedBatches interface {
	// Get, Chunks and MarkAnnounced are as in batch.Store.
	Get(ctx context.Context, id batch.ID) (batch.Batch, error)
	Chunks(ctx context.Context, id batch.ID) ([]batch.Chunk, error)
	MarkAnnounced(ctx context.Context, b batch.Batch, to []batch.Receiver) error
}

// indexPatience is how long a batch whose work files cannot be read is tried again. They are deleted after that time.
const indexPatience = 7 * 24 * time.Hour

// Run indexes a batch that owes its index, and then merges the segments of its tenant. Repeating it, also at the same
// time, makes no difference to searches. Without a batch, which is how a schedule invokes it, it merges the segments of
// every tenant.
func (s *Index) Run(ctx context.Context, in BatchInput) (struct{}, error) {
	if in.ID == "" {
		return struct{}{}, s.maintain(ctx)
	}
	return runAction(ctx, s.Log, in.ID, func(ctx context.Context) error {
		b, err := s.Batches.Get(ctx, in.ID)
		if err != nil {
			return err
		}
		metric.SetProperty(ctx, "tenant", b.Tenant)
		if !b.Status.IsTerminal() {
			return fmt.Errorf("batch %s is %s: it has not ended", b.ID, b.Status)
		}
		if slices.Contains(b.Unannounced, batch.Index) {
			if err := s.addOrGiveUp(ctx, b); err != nil {
				return err
			}
		}
		return s.Indexer.Maintain(ctx, b.Tenant)
	})
}

// addOrGiveUp indexes a batch, or gives it up if its work files have been deleted, and records that its index is not
// owed any more.
func (s *Index) addOrGiveUp(ctx context.Context, b batch.Batch) error {
	err := s.add(ctx, b)
	if objects.IsGone(err) && s.Now().Sub(b.UpdatedAt) > indexPatience {
		s.Log.ErrorContext(ctx, "the index of a batch is given up", "batch", b.ID, "error", err)
		err = nil
	}
	if err != nil {
		return err
	}
	return s.Batches.MarkAnnounced(ctx, b, []batch.Receiver{batch.Index})
}

// add indexes the lines of a batch.
func (s *Index) add(ctx context.Context, b batch.Batch) error {
	chunks, err := s.Batches.Chunks(ctx, b.ID)
	if err != nil {
		return err
	}
	for _, c := range chunks {
		if c.Validated != nil {
			metric.Add(ctx, metric.Lines, c.Validated.Lines)
		}
	}
	files, err := lineindex.ChunksOf(ctx, chunks, s.Accepted)
	if err != nil {
		return err
	}
	return s.Indexer.Add(ctx, b.Tenant, lineindex.BatchOf(b), files)
}

// maintain merges the segments of every tenant, as far as the time suffices, in random order.
func (s *Index) maintain(ctx context.Context) error {
	ctx, cancel := deadline.Shorten(ctx, margin)
	defer cancel()
	tenants, err := s.Tenants(ctx)
	if err != nil {
		return err
	}
	rand.Shuffle(len(tenants), func(i, j int) { tenants[i], tenants[j] = tenants[j], tenants[i] })
	var errs []error
	for _, tenant := range tenants {
		if err := s.Indexer.Maintain(ctx, tenant); err != nil {
			s.Log.ErrorContext(ctx, "cannot merge an index", "tenant", tenant, "error", err)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
