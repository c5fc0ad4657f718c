package pipeline

import (
	"context"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/validation"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/objects"
)

// PartitionInput is the input of the state ReconcilePartitions.
type PartitionInput struct {
	ID         batch.ID       `json:"batch_id"`
	Partitions PartitionRange `json:"partitions"`
}

// Reconcile is the step of the state ReconcilePartitions, the second pass: it compares a range of partitions over the
// whole batch and commits, for each, the key of the rejections, which are the lines that it rejects as duplicates or
// for an entity that they name.
type Reconcile struct {
	Batches  batch.JobStore
	Entities entities
	Work     *objects.Bucket
	// NewAttempt names an attempt.
	NewAttempt func() string
	Log        *slog.Logger
}

type entities interface {
	// AreOnboarded returns, for each of the IDs that is an entity of the tenant, whether transactions may name it.
	AreOnboarded(ctx context.Context, tenant string, ids []string) (map[string]bool, error)
}

const (
	// concurrentReads is how many work files a step reads at the same time.
	concurrentReads = 8
	// concurrentPartitions is how many partitions are reconciled at the same time: while the entities of one are looked
	// up, the digests of another one are compared. Of a batch of more than largeTransactions, it is one, because two
	// would take too much memory.
	concurrentPartitions = 2
	largeTransactions    = 5_000_000
	// heldBytes is how much of the indexes is held in memory. Neighbouring partitions of an index adjoin: as many as
	// fit are read by one request for each chunk.
	heldBytes = 16 << 20
)

// Run reconciles a range of partitions. It leaves out the partitions that are reconciled.
func (s *Reconcile) Run(ctx context.Context, in PartitionInput) (struct{}, error) {
	return runAction(ctx, s.Log, in.ID, func(ctx context.Context) error { return s.run(ctx, in) })
}

func (s *Reconcile) run(ctx context.Context, in PartitionInput) error {
	j, err := openJob(ctx, s.Batches, in.ID)
	if err != nil {
		return err
	}
	reconciled, err := s.Batches.Reconciled(ctx, in.ID)
	if err != nil {
		return err
	}
	chunks, err := j.validatedChunks(ctx)
	if err != nil {
		return err
	}
	counts := batch.CountLines(chunks)
	if in.Partitions.First == 0 { // one of the ranges does this for the whole batch
		if _, err := s.Batches.CommitLineCounts(ctx, in.ID, counts); err != nil {
			return err
		}
	}
	concurrency := concurrentPartitions
	if counts.Transactions > largeTransactions {
		concurrency = 1
	}
	isOpen := func(p int) bool { return p < in.Partitions.End && reconciled[p] == nil }
	for p := in.Partitions.First; p < in.Partitions.End; p++ {
		first := p
		for isOpen(p) && isOpen(p+1) && areHeld(chunks, first, p+2) {
			p++
		}
		if isOpen(first) {
			group := PartitionRange{first, p + 1}
			if err := s.reconcileGroup(ctx, j, chunks, counts.ByChunk, group, concurrency); err != nil {
				return err
			}
		}
	}
	return nil
}

// areHeld reports whether the partitions [first, end) of all indexes are known to fit into memory.
func areHeld(chunks []batch.Chunk, first, end int) bool {
	sum := int64(0)
	for _, c := range chunks {
		if c.Validated.IndexKey == "" {
			continue
		}
		n, isKnown := validation.Sections(c.Validated.IndexSections).IndexBytes(first, end)
		if sum += n; !isKnown || sum > heldBytes {
			return false
		}
	}
	return true
}

// reconcileGroup reconciles neighbouring partitions. It reads those of each index at once if there is more than one.
func (s *Reconcile) reconcileGroup(ctx context.Context, j *job, chunks []batch.Chunk, lineCounts []int64,
	group PartitionRange, concurrency int) error {
	index := func(i int) chunk.Source {
		return sectionedFile(s.Work, chunks[i].Validated.IndexKey, chunks[i].Validated.IndexSections)
	}
	if group.End > group.First+1 {
		held, err := s.hold(ctx, chunks, group)
		if err != nil {
			return err
		}
		index = func(i int) chunk.Source { return held[i] }
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrency)
	for p := group.First; p < group.End; p++ {
		g.Go(func() error { return s.reconcile(ctx, j, lineCounts, index, p) })
	}
	return g.Wait()
}

// hold reads the partitions of a group of each index.
func (s *Reconcile) hold(ctx context.Context, chunks []batch.Chunk, group PartitionRange) ([]chunk.Source, error) {
	indexes := make([]*validation.SectionedFile, len(chunks))
	for i, c := range chunks {
		if key := c.Validated.IndexKey; key != "" {
			indexes[i] = &validation.SectionedFile{Source: s.Work.Source(key, ""),
				Sections: validation.Sections(c.Validated.IndexSections)}
		}
	}
	return validation.HoldPartitions(ctx, indexes, group.First, group.End, concurrentReads)
}

// reconcile compares one partition and commits its result.
func (s *Reconcile) reconcile(ctx context.Context, j *job, lineCounts []int64, index func(i int) chunk.Source,
	partition int) error {
	rejections := s.Work.Create(ctx, j.partitionWorkKey(partition, s.NewAttempt(), "marks"))
	defer rejections.Abort()
	r, err := validation.ReconcilePartition(ctx, validation.ReconcileInput{
		Partition:   partition,
		LineCounts:  lineCounts,
		Index:       index,
		Entities:    tenantEntities{s.Entities, j.Tenant},
		DigestKey:   j.DigestKey,
		Concurrency: concurrentReads,
	}, rejections)
	if err != nil {
		return err
	}
	metric.Add(ctx, metric.Findings, r.Duplicates)
	key, err := rejections.CommitIfWritten()
	if err != nil {
		return err
	}
	result := batch.ReconcileResult{RejectionsKey: key, RejectionsSections: string(r.RejectionsSections)}
	_, err = s.Batches.CommitReconciled(ctx, j.ID, partition, result)
	return err
}

// tenantEntities answers validation's questions about the entities of one tenant.
type tenantEntities struct {
	entities entities
	tenant   string
}

// Lookup returns the state of each entity, in the order of the IDs.
func (e tenantEntities) Lookup(ctx context.Context, ids []string) ([]validation.EntityState, error) {
	found, err := e.entities.AreOnboarded(ctx, e.tenant, ids)
	if err != nil {
		return nil, err
	}
	states := make([]validation.EntityState, len(ids))
	for i, id := range ids {
		switch isOnboarded, exists := found[id]; {
		case !exists:
			states[i] = validation.Missing
		case !isOnboarded:
			states[i] = validation.NotOnboarded
		default:
			states[i] = validation.Onboarded
		}
	}
	return states, nil
}
