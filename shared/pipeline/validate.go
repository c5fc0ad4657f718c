package pipeline

import (
	"context"
	"fmt"
	"log/slog"

	"sluice/shared/batch"
	"sluice/shared/objects"
	"sluice/shared/transaction"
	"sluice/shared/transaction/scanner"
	"sluice/shared/validation"
)

type chunkCommitter interface {
	batches
	Chunk(ctx context.Context, id batch.ID, index int) (batch.Chunk, error)
	CommitValidated(ctx context.Context, id batch.ID, index int, v batch.ValidateResult) (batch.ValidateResult, error)
}

// Validate reads one chunk.
type Validate struct {
	Batches chunkCommitter
	Uploads uploads
	Work    *objects.Bucket
	Attempt Attempts
	Log     *slog.Logger
}

// Run is the state ValidateChunk.
func (s *Validate) Run(ctx context.Context, in ChunkInput) (struct{}, error) {
	return step(ctx, s.Log, in.ID, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.run(ctx, in) })
}

func (s *Validate) run(ctx context.Context, in ChunkInput) error {
	b, err := open(ctx, s.Batches, in.ID)
	if err != nil {
		return err
	}
	if c, err := s.Batches.Chunk(ctx, in.ID, in.Index); err != nil || c.Validated != nil {
		return err
	}
	piece, attempt := fmt.Sprintf("chunk-%05d", in.Index), s.Attempt()
	findings := s.Work.Create(ctx, workKey(in.ID, piece, attempt, "findings"))
	defer findings.Abort()
	index := s.Work.Create(ctx, workKey(in.ID, piece, attempt, "index"))
	defer index.Abort()

	r, err := validation.Chunk(ctx, validation.ChunkInput{Lines: lines(b, in.Index, s.Uploads), Key: b.DigestKey}, findings, index)
	if err != nil {
		return err
	}
	v := batch.ValidateResult{Lines: r.Lines, Transactions: r.Transactions, Invalid: r.Invalid, Bytes: r.Bytes}
	if v.FindingsKey, err = findings.Keep(); err != nil {
		return err
	}
	if v.IndexKey, err = index.Keep(); err != nil {
		return err
	}
	_, err = s.Batches.CommitValidated(ctx, in.ID, in.Index, v)
	return err
}

// lines says how the lines of a chunk are read and judged: by what is pinned on the row, so that every pass sees the same.
func lines(b batch.Batch, index int, u uploads) validation.Lines {
	return validation.Lines{
		Source:       pinned(b, u),
		Plan:         b.Plan,
		Chunk:        index,
		MaxLineBytes: int(b.MaxLineBytes),
		Scanner:      newScanner(b),
	}
}

func newScanner(b batch.Batch) *scanner.Scanner {
	return scanner.New(transaction.Rules{
		ReceivedAt:   b.ReceivedAt,
		MaxPast:      b.Settings.MaxPast,
		MaxFuture:    b.Settings.MaxFuture,
		MainEntity:   b.Settings.MainEntity,
		MaxLineBytes: int(b.MaxLineBytes),
	})
}
