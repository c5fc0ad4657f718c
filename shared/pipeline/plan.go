package pipeline

import (
	"context"
	"log/slog"

	"sluice/shared/batch"
	"sluice/shared/chunk"
)

// BatchInput is the input of the steps that concern a batch as a whole.
type BatchInput struct {
	ID batch.ID `json:"batch_id"`
}

// ChunkInput is the input of the steps that concern one chunk.
type ChunkInput struct {
	ID    batch.ID `json:"batch_id"`
	Index int      `json:"chunk"`
}

// PartitionInput is the input of the step that concerns a run of partitions.
type PartitionInput struct {
	ID         batch.ID `json:"batch_id"`
	Partitions Run      `json:"partitions"`
}

// Run is the partitions from First up to, but not including, End.
type Run struct {
	First int `json:"first"`
	End   int `json:"end"`
}

// PlanOutput is what the Map states go over.
type PlanOutput struct {
	ID          batch.ID `json:"batch_id"`
	Chunks      []int    `json:"chunks"`
	Partitions  []Run    `json:"partitions"`
	Concurrency int      `json:"concurrency"`
}

// Plan begins validation: it decides the byte ranges. Nothing is read.
type Plan struct {
	Batches         batches
	ChunkBytes      int64 // 0: the default of chunk.NewPlan
	MaxLineBytes    int64
	MaxTransactions int64 // in one batch; 0: no limit
	Concurrency     int
	Now             Clock
	Log             *slog.Logger
}

// maxChunks bounds the chunks of a batch: three Map states go over them with up to eight events each, of the 25,000 that an
// execution may have, and retries and resumed ingestion need the other half.
const maxChunks = 512

// Run is the state Plan.
func (s *Plan) Run(ctx context.Context, in BatchInput) (PlanOutput, error) {
	return step(ctx, s.Log, in.ID, func(ctx context.Context) (PlanOutput, error) { return s.run(ctx, in.ID) })
}

func (s *Plan) run(ctx context.Context, id batch.ID) (PlanOutput, error) {
	b, err := open(ctx, s.Batches, id)
	if err != nil {
		return PlanOutput{}, err
	}
	plan := chunk.NewPlan(b.Object.Size, s.ChunkBytes)
	// However small the setting, the chunks of a batch fit into the history and the payloads of one execution.
	plan.ChunkBytes = max(plan.ChunkBytes, (b.Object.Size+maxChunks-1)/maxChunks)
	b, err = move(ctx, s.Batches, id, batch.Transition{
		To: batch.ValidationStarted, At: s.Now(), Plan: &plan, MaxLineBytes: s.MaxLineBytes, MaxTransactions: s.MaxTransactions,
	})
	if err != nil {
		return PlanOutput{}, err
	}
	// An earlier run may have decided with other settings: the row counts.
	out := PlanOutput{ID: id, Chunks: make([]int, b.Plan.Count()), Partitions: runs(b.Object.Size), Concurrency: s.Concurrency}
	for i := range out.Chunks {
		out.Chunks[i] = i
	}
	return out, nil
}

// runs spreads the partitions over as many invocations as the size of the file is worth: a small batch needs one.
func runs(size int64) []Run {
	const worth = 64 << 20 // bytes of file to one invocation
	n := int(min(max((size+worth-1)/worth, 1), batch.Partitions))
	out := make([]Run, n)
	for i := range out {
		out[i] = Run{i * batch.Partitions / n, (i + 1) * batch.Partitions / n}
	}
	return out
}
