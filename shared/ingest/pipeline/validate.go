package pipeline

import (
	"context"
	"log/slog"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/validation"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/objects"
)

// Validate is the step of the state ValidateChunk, the first pass: it reads the lines of one chunk, judges each by
// itself, and commits the keys of its work files: the findings, the index of digests and entity references with the
// identifiers by which lines are found behind it and, if they are screened, the names of unknown entities.
type Validate struct {
	Batches batch.JobStore
	Uploads uploads
	Work    *objects.Bucket
	// Keys makes the key of a tenant's digests, if there is none.
	Keys interface {
		Make(ctx context.Context, tenant string) (lineindex.Key, error)
	}
	// NewAttempt names an attempt.
	NewAttempt func() string
	Log        *slog.Logger
}

// Run validates a chunk. It does nothing if the chunk is validated.
func (s *Validate) Run(ctx context.Context, in ChunkInput) (struct{}, error) {
	return runAction(ctx, s.Log, in.ID, func(ctx context.Context) error { return s.run(ctx, in) })
}

func (s *Validate) run(ctx context.Context, in ChunkInput) error {
	j, err := openJob(ctx, s.Batches, in.ID)
	if err != nil {
		return err
	}
	if c, err := s.Batches.Chunk(ctx, in.ID, in.Index); err != nil || c.Validated != nil {
		return err
	}
	attempt := nameAttempt(ctx, s.NewAttempt)
	findings := s.Work.Create(ctx, j.chunkWorkKey(in.Index, attempt, "findings"))
	defer findings.Abort()
	index := s.Work.Create(ctx, j.chunkWorkKey(in.Index, attempt, "index"))
	defer index.Abort()

	names := s.Work.Create(ctx, j.chunkWorkKey(in.Index, attempt, "names"))
	defer names.Abort()

	tenantKey, err := s.Keys.Make(ctx, j.Tenant)
	if err != nil {
		return err
	}
	input := validation.ValidateInput{ChunkInput: j.chunkInput(in.Index, s.Uploads), DigestKey: j.DigestKey,
		IdentifiersKey: &tenantKey, Identifiers: index}
	if j.Screening != nil {
		input.Names = names
	}
	r, err := validation.ValidateChunk(ctx, input, findings, index)
	if err != nil {
		return err
	}
	metric.Add(ctx, metric.Lines, r.Lines)
	metric.Add(ctx, metric.Bytes, r.Bytes)
	metric.Add(ctx, metric.Findings, r.Invalid)
	result := batch.ValidateResult{Lines: r.Lines, Transactions: r.Transactions, Invalid: r.Invalid, Bytes: r.Bytes,
		MinReportBytes: r.MinReportBytes, IndexSections: string(r.IndexSections),
		NamesSections: string(r.NamesSections)}
	if result.FindingsKey, err = findings.CommitIfWritten(); err != nil {
		return err
	}
	key, err := index.CommitIfWritten()
	if err != nil {
		return err
	}
	if r.IndexBytes > 0 {
		result.IndexKey = key
	}
	if index.Size() > r.IndexBytes {
		result.IdentifiersKey, result.IdentifiersOffset = key, r.IndexBytes
	}
	if result.NamesKey, err = names.CommitIfWritten(); err != nil {
		return err
	}
	_, err = s.Batches.CommitValidated(ctx, in.ID, in.Index, result)
	return err
}
