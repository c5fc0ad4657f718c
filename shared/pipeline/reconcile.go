package pipeline

import (
	"context"
	"fmt"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"sluice/shared/batch"
	"sluice/shared/chunk"
	"sluice/shared/entity"
	"sluice/shared/objects"
	"sluice/shared/validation"
)

type reconciler interface {
	batches
	Chunks(ctx context.Context, id batch.ID) ([]batch.Chunk, error)
	Reconciled(ctx context.Context, id batch.ID) ([batch.Partitions]*batch.ReconcileResult, error)
	CommitReconciled(ctx context.Context, id batch.ID, partition int, r batch.ReconcileResult) (batch.ReconcileResult, error)
}

type entities interface {
	Lookup(ctx context.Context, tenant string, ids []string) (map[string]entity.LifecycleStatus, error)
}

// Reconcile compares a run of partitions over the whole batch.
type Reconcile struct {
	Batches  reconciler
	Entities entities
	Work     *objects.Bucket
	Attempt  Attempts
	Log      *slog.Logger
}

const (
	fetches        = 8 // index files read at once
	partitionsOnce = 2 // partitions worked on at once, to look entities up while another one's digests are compared
)

// Run is the state ReconcilePartitions.
func (s *Reconcile) Run(ctx context.Context, in PartitionInput) (struct{}, error) {
	return step(ctx, s.Log, in.ID, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.run(ctx, in) })
}

func (s *Reconcile) run(ctx context.Context, in PartitionInput) error {
	b, err := open(ctx, s.Batches, in.ID)
	if err != nil {
		return err
	}
	done, err := s.Batches.Reconciled(ctx, in.ID)
	if err != nil {
		return err
	}
	chunks, err := validated(ctx, s.Batches, b)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(partitionsOnce)
	for p := in.Partitions.First; p < in.Partitions.End; p++ {
		if done[p] == nil {
			g.Go(func() error { return s.partition(ctx, b, chunks, p) })
		}
	}
	return g.Wait()
}

func (s *Reconcile) partition(ctx context.Context, b batch.Batch, chunks []batch.Chunk, p int) error {
	lines := make([]int64, len(chunks))
	for i, c := range chunks {
		lines[i] = c.Validated.Lines
	}
	marks := s.Work.Create(ctx, workKey(b.ID, fmt.Sprintf("partition-%02d", p), s.Attempt(), "marks"))
	defer marks.Abort()
	_, err := validation.Reconcile(ctx, validation.ReconcileInput{
		Partition: p,
		Lines:     lines,
		Index: func(i int) chunk.Source {
			return s.source(chunks[i].Validated.IndexKey)
		},
		Entities: directory{s.Entities, b.Tenant},
		Key:      b.DigestKey,
		Fetch:    fetches,
	}, marks)
	if err != nil {
		return err
	}
	key, err := marks.Keep()
	if err != nil {
		return err
	}
	_, err = s.Batches.CommitReconciled(ctx, b.ID, p, batch.ReconcileResult{RejectionsKey: key})
	return err
}

func (s *Reconcile) source(key string) chunk.Source {
	if key == "" {
		return nil
	}
	return s.Work.Source(key, "")
}

type chunkLister interface {
	Chunks(ctx context.Context, id batch.ID) ([]batch.Chunk, error)
}

// validated reads the chunks of a batch, every one of which the first pass must have committed.
func validated(ctx context.Context, s chunkLister, b batch.Batch) ([]batch.Chunk, error) {
	chunks, err := s.Chunks(ctx, b.ID)
	if err != nil {
		return nil, err
	}
	if len(chunks) != b.Plan.Count() {
		return nil, fmt.Errorf("batch %s: %d of %d chunks are validated", b.ID, len(chunks), b.Plan.Count())
	}
	for i, c := range chunks {
		if c.Index != i || c.Validated == nil {
			return nil, fmt.Errorf("batch %s: chunk %d is not validated", b.ID, i)
		}
	}
	return chunks, nil
}

// directory is the entities of one tenant as the validation asks for them.
type directory struct {
	entities entities
	tenant   string
}

func (d directory) Lookup(ctx context.Context, ids []string) ([]validation.EntityState, error) {
	found, err := d.entities.Lookup(ctx, d.tenant, ids)
	if err != nil {
		return nil, err
	}
	states := make([]validation.EntityState, len(ids))
	for i, id := range ids {
		switch status, ok := found[id]; {
		case !ok:
			states[i] = validation.Missing
		case !status.IsOnboarded():
			states[i] = validation.NotOnboarded
		default:
			states[i] = validation.Onboarded
		}
	}
	return states, nil
}
