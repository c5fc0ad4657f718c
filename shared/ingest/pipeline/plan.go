package pipeline

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
)

// Plan is the step of the state Plan: it divides the file into chunks and pins the plan with the transition to
// VALIDATION_STARTED. It reads nothing of the file.
type Plan struct {
	Batches batch.JobStore
	// ChunkBytes is the size of a chunk; 0 means the default of chunk.NewPlan.
	ChunkBytes int64
	// MaxLineBytes is the length of the longest line allowed.
	MaxLineBytes int64
	// MaxTransactions is the number of transactions allowed in one batch; 0 means no limit.
	MaxTransactions int64
	// MaxReportBytes is the number of bytes of a report after which its entries are short; 0 means no limit.
	MaxReportBytes int64
	// Widths are how many chunks or partitions of a batch are worked on at the same time.
	Widths Widths
	// RoundChunks is how many chunks are ingested before the batch gives its slot back; 0 means all.
	RoundChunks int
	// Lists chooses the versions of the watchlists with which names are screened.
	Lists listPinner
	Now   func() time.Time
	Log   *slog.Logger
}

// PlanOutput has the lists over which the Map states iterate.
type PlanOutput struct {
	ID     batch.ID `json:"batch_id"`
	Chunks []int    `json:"chunks"`
	// Rounds are the chunks in the order in which they are ingested, a slot for each round.
	Rounds     [][]int          `json:"rounds"`
	Partitions []PartitionRange `json:"partitions"`
	// Screening are the partitions whose names are screened; empty if they are not.
	Screening []PartitionRange `json:"screening"`
	// IsProcessedWhole is as in batch.Batch.
	IsProcessedWhole bool   `json:"whole"`
	Widths           Widths `json:"widths"`
	// Concurrency is the width of all states in an execution of a release that had one for all.
	Concurrency int `json:"concurrency"`
}

// Widths are the numbers of chunks or partitions of one batch that a state works on at the same time.
type Widths struct {
	Validate  int `json:"validate"`
	Reconcile int `json:"reconcile"`
	Screen    int `json:"screen"`
	Settle    int `json:"settle"`
	Ingest    int `json:"ingest"`
}

// PartitionRange is the partitions from First up to, but not including, End.
type PartitionRange struct {
	First int `json:"first"`
	End   int `json:"end"`
}

// maxChunks bounds the chunks of a batch. Three Map states iterate over them with 25 events for each chunk in all. That
// is half of the 25,000 events that an execution may have; retries and resumed ingestion need the other half.
const maxChunks = 512

// Run plans a batch. A repeated run returns the plan that the first one pinned.
func (s *Plan) Run(ctx context.Context, in BatchInput) (PlanOutput, error) {
	return runStep(ctx, s.Log, in.ID, func(ctx context.Context) (PlanOutput, error) { return s.run(ctx, in.ID) })
}

func (s *Plan) run(ctx context.Context, id batch.ID) (PlanOutput, error) {
	j, err := openJob(ctx, s.Batches, id)
	if err != nil {
		return PlanOutput{}, err
	}
	plan := chunk.NewPlan(j.Source().Size, s.ChunkBytes)
	plan.ChunkBytes = max(plan.ChunkBytes, (j.Source().Size+maxChunks-1)/maxChunks)
	versions, err := s.currentLists(ctx, j)
	if err != nil {
		return PlanOutput{}, err
	}
	err = j.transition(ctx, batch.Transition{
		To: batch.ValidationStarted, At: s.Now(),
		Plan: &plan, MaxLineBytes: s.MaxLineBytes, MaxTransactions: s.MaxTransactions,
		MaxReportBytes: s.MaxReportBytes, ListVersions: versions,
	})
	if err != nil {
		return PlanOutput{}, err
	}
	// An earlier run may have pinned a plan with other settings, so the output is made from the batch.
	out := PlanOutput{
		ID: id, Chunks: make([]int, j.Plan.Count()), Partitions: partitionRanges(j.Source().Size, maxReconcileRanges),
		Screening: []PartitionRange{}, IsProcessedWhole: j.IsProcessedWhole(), Widths: s.Widths,
		Concurrency: s.Widths.Ingest,
	}
	if j.Screening != nil {
		out.Screening = partitionRanges(j.Source().Size, batch.Partitions)
	}
	for i := range out.Chunks {
		out.Chunks[i] = i
	}
	if s.RoundChunks <= 0 {
		out.Rounds = [][]int{out.Chunks}
		return out, nil
	}
	out.Rounds = slices.Collect(slices.Chunk(out.Chunks, s.RoundChunks))
	return out, nil
}

// maxReconcileRanges bounds the invocations of Reconcile. Each reads its neighbouring partitions of an index at once.
const maxReconcileRanges = 4

// partitionRanges divides the partitions among as many invocations as the size of the file justifies, up to a number of
// them: one for a small file.
func partitionRanges(size, most int64) []PartitionRange {
	const bytesPerInvocation = 64 << 20
	n := int(min(max((size+bytesPerInvocation-1)/bytesPerInvocation, 1), most))
	ranges := make([]PartitionRange, n)
	for i := range ranges {
		ranges[i] = PartitionRange{i * batch.Partitions / n, (i + 1) * batch.Partitions / n}
	}
	return ranges
}
