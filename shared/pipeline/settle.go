package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"sluice/shared/batch"
	"sluice/shared/chunk"
	"sluice/shared/metric"
	"sluice/shared/objects"
	"sluice/shared/validation"
)

// Settle is the step of the state SettleChunk, the third pass: it merges the findings of one chunk with the rejections
// of all partitions and commits the keys of the chunk's part of the report, of the summary of that part, and of its
// accept bitmap.
type Settle struct {
	Batches batch.JobStore
	Uploads uploads
	Work    *objects.Bucket
	// NewAttempt names an attempt.
	NewAttempt func() string
	Log        *slog.Logger
}

// Run settles a chunk. It does nothing if the chunk is settled.
func (s *Settle) Run(ctx context.Context, in ChunkInput) (struct{}, error) {
	return runAction(ctx, s.Log, in.ID, func(ctx context.Context) error { return s.run(ctx, in) })
}

func (s *Settle) run(ctx context.Context, in ChunkInput) error {
	j, err := openJob(ctx, s.Batches, in.ID)
	if err != nil {
		return err
	}
	c, err := j.validatedChunk(ctx, in.Index)
	if err != nil || c.Settled != nil {
		return err
	}
	counts, err := j.lineCounts(ctx)
	if err != nil {
		return err
	}
	result := batch.SettleResult{Skipped: true}
	if !j.HasTooMany(counts.Transactions) {
		if result, err = s.settle(ctx, j, c, counts); err != nil {
			return err
		}
	}
	_, err = s.Batches.CommitSettled(ctx, in.ID, in.Index, result)
	return err
}

// settle merges what was found about the lines of a chunk into work files and returns their keys.
func (s *Settle) settle(ctx context.Context, j *job, c batch.Chunk, counts batch.LineCounts) (batch.SettleResult, error) {
	firstLine := counts.FirstLine(c.Index)
	input := validation.SettleInput{
		ChunkInput: j.chunkInput(c.Index, s.Uploads), FirstLine: firstLine, LineCount: c.Validated.Lines,
		Transactions: c.Validated.Transactions, Concurrency: concurrentReads,
		MaxReportBytes: j.MaxReportBytes, ReportStart: counts.ReportStart(c.Index),
	}
	var err error
	if input.Rejections, err = s.rejections(ctx, j); err != nil {
		return batch.SettleResult{}, err
	}
	if c.Validated.FindingsKey != "" {
		findings, err := s.Work.Open(ctx, c.Validated.FindingsKey, "", 0, -1)
		if err != nil {
			return batch.SettleResult{}, err
		}
		defer findings.Close()
		input.Findings = findings
	}
	attempt := nameAttempt(ctx, s.NewAttempt)
	part := s.Work.Create(ctx, j.chunkWorkKey(c.Index, attempt, "report"))
	defer part.Abort()
	accepted := s.Work.Create(ctx, j.chunkWorkKey(c.Index, attempt, "accepted"))
	defer accepted.Abort()
	summary := s.Work.Create(ctx, j.chunkWorkKey(c.Index, attempt, "summary"))
	defer summary.Abort()

	alerts := s.Work.Create(ctx, j.chunkWorkKey(c.Index, attempt, "alerts"))
	defer alerts.Abort()
	if input.Screening, err = s.screening(ctx, j, alerts); err != nil {
		return batch.SettleResult{}, err
	}

	r, err := validation.SettleChunk(ctx, input, part, accepted)
	if err != nil {
		return batch.SettleResult{}, err
	}
	metric.Add(ctx, metric.Lines, c.Validated.Lines)
	metric.Add(ctx, metric.Findings, r.Summary.Counts.Invalid)
	result := batch.SettleResult{
		FirstLine: firstLine, Accepted: r.Summary.Counts.Accepted,
		Invalid: r.Summary.Counts.Invalid, ReportBytes: part.Size(), ShortBytes: r.ShortBytes,
		Hits: r.Hits, AlertBytes: r.AlertBytes, AlertsLeftOut: r.AlertsLeftOut,
	}
	if result.AlertsKey, err = alerts.CommitIfWritten(); err != nil {
		return batch.SettleResult{}, err
	}
	if result.ReportKey, err = part.CommitIfWritten(); err != nil {
		return batch.SettleResult{}, err
	}
	if result.Invalid > 0 { // otherwise the summary says no more than the counts
		if result.SummaryKey, err = commitJSON(summary, r.Summary); err != nil {
			return batch.SettleResult{}, err
		}
	}
	if result.Acceptance() == batch.AcceptSome {
		result.AcceptedKey, err = accepted.CommitIfWritten()
	}
	return result, err
}

// rejections returns the rejections of all partitions, each of which must be reconciled; nil for a partition that has
// none.
func (s *Settle) rejections(ctx context.Context, j *job) ([]chunk.Source, error) {
	results, err := s.Batches.Reconciled(ctx, j.ID)
	if err != nil {
		return nil, err
	}
	sources := make([]chunk.Source, len(results))
	for p, r := range results {
		if r == nil {
			return nil, fmt.Errorf("batch %s: partition %d is not reconciled", j.ID, p)
		}
		sources[p] = sectionedFile(s.Work, r.RejectionsKey, r.RejectionsSections)
	}
	return sources, nil
}

// commitJSON writes a value as JSON and returns the key of the object.
func commitJSON(w *objects.Writer, v any) (string, error) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		return "", err
	}
	return w.CommitIfWritten()
}
