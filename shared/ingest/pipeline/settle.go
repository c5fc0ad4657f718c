package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/validation"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/objects"
)

// Settle is the step of the state SettleChunk, the third pass: it merges the findings of one chunk with the rejections
// of all partitions and commits the keys of the chunk's part of the report, of the same as CSV, of its summary, of the
// rejected lines, and of the accept bitmap.
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
		if result, err = s.writeFiles(ctx, j, c, counts); err != nil {
			return err
		}
	}
	_, err = s.Batches.CommitSettled(ctx, in.ID, in.Index, result)
	return err
}

// writeFiles merges the findings and rejections of the lines of a chunk into work files and returns their keys.
func (s *Settle) writeFiles(ctx context.Context, j *job, c batch.Chunk, counts batch.LineCounts) (batch.SettleResult,
	error) {
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
	f := s.createFiles(ctx, j, c.Index)
	defer f.abort()
	if input.Screening, err = s.screening(ctx, j, f.alerts); err != nil {
		return batch.SettleResult{}, err
	}
	input.CSV, input.Rejected = f.csv, f.rejected
	r, err := validation.SettleChunk(ctx, input, f.report, f.accepted)
	if err != nil {
		return batch.SettleResult{}, err
	}
	metric.Add(ctx, metric.Lines, c.Validated.Lines)
	metric.Add(ctx, metric.Findings, r.Summary.Counts.Invalid)
	return f.commit(batch.SettleResult{
		FirstLine: firstLine, Accepted: r.Summary.Counts.Accepted, Invalid: r.Summary.Counts.Invalid,
		ReportBytes: r.Report.Full + r.Report.Short, ShortBytes: r.Report.Short,
		CSVBytes: r.CSV.Full + r.CSV.Short, CSVShortBytes: r.CSV.Short, RejectedBytes: r.RejectedBytes,
		Hits: r.Hits, AlertBytes: r.AlertBytes, AlertsLeftOut: r.AlertsLeftOut,
	}, r.Summary)
}

// settledFiles are the work files of one attempt at settling a chunk. Only those to which something is written come to
// exist.
type settledFiles struct{ report, summary, csv, rejected, accepted, alerts *objects.Writer }

func (s *Settle) createFiles(ctx context.Context, j *job, index int) settledFiles {
	attempt := nameAttempt(ctx, s.NewAttempt)
	create := func(kind string) *objects.Writer {
		return s.Work.Create(ctx, j.chunkWorkKey(index, attempt, kind))
	}
	return settledFiles{
		report: create("report"), summary: create("summary"), csv: create("csv"), rejected: create("rejected"),
		accepted: create("accepted"), alerts: create("alerts"),
	}
}

func (f settledFiles) abort() {
	for _, w := range []*objects.Writer{f.report, f.summary, f.csv, f.rejected, f.accepted, f.alerts} {
		_ = w.Abort()
	}
}

// commit commits the files and returns the result with their keys.
func (f settledFiles) commit(r batch.SettleResult, summary report.Summary) (batch.SettleResult, error) {
	type file struct {
		key *string
		w   *objects.Writer
	}
	files := []file{{&r.AlertsKey, f.alerts}, {&r.ReportKey, f.report}, {&r.CSVKey, f.csv},
		{&r.RejectedKey, f.rejected}}
	if r.Invalid > 0 { // otherwise the summary says no more than the counts
		if err := json.NewEncoder(f.summary).Encode(summary); err != nil {
			return batch.SettleResult{}, err
		}
		files = append(files, file{&r.SummaryKey, f.summary})
	}
	if r.Acceptance() == batch.AcceptSome {
		files = append(files, file{&r.AcceptedKey, f.accepted})
	}
	var g errgroup.Group
	for _, file := range files {
		g.Go(func() (err error) {
			*file.key, err = file.w.CommitIfWritten()
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return batch.SettleResult{}, err
	}
	return r, nil
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
