package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"sluice/shared/batch"
	"sluice/shared/chunk"
	"sluice/shared/objects"
	"sluice/shared/validation"
)

type settler interface {
	batches
	Chunks(ctx context.Context, id batch.ID) ([]batch.Chunk, error)
	Reconciled(ctx context.Context, id batch.ID) ([batch.Partitions]*batch.ReconcileResult, error)
	CommitSettled(ctx context.Context, id batch.ID, index int, s batch.SettleResult) (batch.SettleResult, error)
}

// Settle merges what is known of one chunk.
type Settle struct {
	Batches settler
	Uploads uploads
	Work    *objects.Bucket
	Attempt Attempts
	Log     *slog.Logger
}

// Run is the state SettleChunk.
func (s *Settle) Run(ctx context.Context, in ChunkInput) (struct{}, error) {
	return step(ctx, s.Log, in.ID, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.run(ctx, in) })
}

func (s *Settle) run(ctx context.Context, in ChunkInput) error {
	b, err := open(ctx, s.Batches, in.ID)
	if err != nil {
		return err
	}
	chunks, err := validated(ctx, s.Batches, b)
	if err != nil || chunks[in.Index].Settled != nil {
		return err
	}
	if tooMany(b, chunks) { // the batch is refused as a whole, and has no report
		_, err := s.Batches.CommitSettled(ctx, in.ID, in.Index, batch.SettleResult{Skipped: true})
		return err
	}
	input, err := s.input(ctx, b, chunks, in.Index)
	if err != nil {
		return err
	}
	if input.Findings != nil {
		defer input.Findings.(io.Closer).Close()
	}
	settled, err := s.settle(ctx, in, input)
	if err != nil {
		return err
	}
	_, err = s.Batches.CommitSettled(ctx, in.ID, in.Index, settled)
	return err
}

func (s *Settle) input(ctx context.Context, b batch.Batch, chunks []batch.Chunk, index int) (validation.SettleInput, error) {
	v := chunks[index].Validated
	in := validation.SettleInput{
		Lines: lines(b, index, s.Uploads), FirstLine: 1, LineCount: v.Lines, Transactions: v.Transactions,
		Marks: make([]chunk.Source, batch.Partitions), Fetch: fetches,
	}
	for _, before := range chunks[:index] {
		in.FirstLine += before.Validated.Lines
	}
	results, err := s.Batches.Reconciled(ctx, b.ID)
	if err != nil {
		return in, err
	}
	for p, r := range results {
		switch {
		case r == nil:
			return in, fmt.Errorf("batch %s: partition %d is not reconciled", b.ID, p)
		case r.RejectionsKey != "":
			in.Marks[p] = s.Work.Source(r.RejectionsKey, "")
		}
	}
	if v.FindingsKey != "" {
		in.Findings, err = s.Work.Open(ctx, v.FindingsKey, "", 0, -1)
	}
	return in, err
}

func (s *Settle) settle(ctx context.Context, in ChunkInput, input validation.SettleInput) (batch.SettleResult, error) {
	piece, attempt := fmt.Sprintf("chunk-%05d", in.Index), s.Attempt()
	part := s.Work.Create(ctx, workKey(in.ID, piece, attempt, "report"))
	defer part.Abort()
	accepted := s.Work.Create(ctx, workKey(in.ID, piece, attempt, "accepted"))
	defer accepted.Abort()
	summary := s.Work.Create(ctx, workKey(in.ID, piece, attempt, "summary"))
	defer summary.Abort()

	r, err := validation.Settle(ctx, input, part, accepted)
	if err != nil {
		return batch.SettleResult{}, err
	}
	out := batch.SettleResult{FirstLine: input.FirstLine, Accepted: r.Summary.Counts.Accepted,
		Invalid: r.Summary.Counts.Invalid, ReportBytes: part.Size()}
	if out.ReportKey, err = part.Keep(); err != nil {
		return out, err
	}
	if out.Invalid == 0 {
		return out, nil // everything is accepted: neither a bitmap nor a summary says more than the counts
	}
	if err := json.NewEncoder(summary).Encode(r.Summary); err != nil {
		return out, err
	}
	if out.SummaryKey, err = summary.Keep(); err != nil {
		return out, err
	}
	if out.Accepted > 0 {
		out.AcceptedKey, err = accepted.Keep()
	}
	return out, err
}
