package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/validation"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/objects"
)

// Screen is the step of the state ScreenPartitions: it compares each distinct name of a range of partitions with the
// pinned versions of the watchlists and commits, for each partition, the key of the hits.
type Screen struct {
	Batches batch.JobStore
	Lists   listOpener
	Work    *objects.Bucket
	// NewAttempt names an attempt.
	NewAttempt func() string
	Log        *slog.Logger
}

// PinnedList is a version of a list with which the names of a batch are screened.
type PinnedList struct {
	batch.ListVersion
	// Problem says why this is not the current version; "" if it is.
	Problem string
}

// listPinner chooses versions of lists for batches.
type listPinner interface {
	// Pin returns the current versions of lists, or the last ones that can be loaded, and sees to it that they are
	// never removed. Repeating it is success.
	Pin(ctx context.Context, tenant string, lists []string) ([]PinnedList, error)
}

// listOpener opens versions of lists.
type listOpener interface {
	// Open returns a screener of pinned versions, whose hits are the entries that reach the threshold, best first.
	Open(ctx context.Context, versions []batch.ListVersion, threshold float64) (validation.Screener, error)
}

// errWatchlists means that a list cannot be loaded.
var errWatchlists = errors.New("watchlists cannot be loaded")

// currentLists returns the versions of the lists with which the names of a batch are screened: those that are
// current or, if one cannot be loaded, the last good one. From now on they are not removed. It returns nil if names are
// not screened or the versions are pinned.
func (s *Plan) currentLists(ctx context.Context, j *job) ([]batch.ListVersion, error) {
	if j.Screening == nil || j.Screening.Versions != nil {
		return nil, nil
	}
	pinned, err := s.Lists.Pin(ctx, j.Tenant, j.Screening.Lists)
	if err != nil {
		return nil, errors.Join(errWatchlists, err)
	}
	versions := make([]batch.ListVersion, len(pinned))
	for i, l := range pinned {
		if l.Problem != "" {
			s.Log.WarnContext(ctx, "a batch is screened with an older version of a watchlist", "batch", j.ID, "list",
				l.List, "version", l.Version, "problem", l.Problem)
		}
		versions[i] = l.ListVersion
	}
	return versions, nil
}

// Run screens a range of partitions. It leaves out the partitions that are screened.
func (s *Screen) Run(ctx context.Context, in PartitionInput) (struct{}, error) {
	return runAction(ctx, s.Log, in.ID, func(ctx context.Context) error { return s.run(ctx, in) })
}

func (s *Screen) run(ctx context.Context, in PartitionInput) error {
	j, err := openJob(ctx, s.Batches, in.ID)
	if err != nil {
		return err
	}
	if j.Screening == nil {
		return fmt.Errorf("batch %s: its names are not to be screened", j.ID)
	}
	screened, err := s.Batches.Screened(ctx, in.ID)
	if err != nil {
		return err
	}
	chunks, err := j.validatedChunks(ctx)
	if err != nil {
		return err
	}
	if j.HasTooMany(batch.CountLines(chunks).Transactions) {
		return nil // its lines are not judged to the end
	}
	screener, err := s.Lists.Open(ctx, j.Screening.Versions, j.Screening.Threshold)
	if err != nil {
		return errors.Join(errWatchlists, err)
	}
	for p := in.Partitions.First; p < in.Partitions.End; p++ {
		if screened[p] != nil {
			continue
		}
		if err := s.screen(ctx, j, chunks, screener, p); err != nil {
			return err
		}
	}
	return nil
}

// screen screens one partition and commits its result.
func (s *Screen) screen(ctx context.Context, j *job, chunks []batch.Chunk, screener validation.Screener,
	partition int) error {
	hits := s.Work.Create(ctx, j.partitionWorkKey(partition, s.NewAttempt(), "hits"))
	defer hits.Abort()
	r, err := validation.ScreenPartition(ctx, validation.ScreenInput{
		Partition:  partition,
		Chunks:     len(chunks),
		ChunkBytes: j.Plan.ChunkBytes,
		Names: func(i int) chunk.Source {
			return sectionedFile(s.Work, chunks[i].Validated.NamesKey, chunks[i].Validated.NamesSections)
		},
		Screener:    screener,
		DigestKey:   j.DigestKey,
		Concurrency: concurrentReads,
	}, hits)
	if err != nil {
		return err
	}
	metric.Add(ctx, metric.Names, r.Names)
	result := batch.ScreenResult{Names: r.Names, HitsSections: string(r.HitsSections)}
	if result.HitsKey, err = hits.CommitIfWritten(); err != nil {
		return err
	}
	_, err = s.Batches.CommitScreened(ctx, j.ID, partition, result)
	return err
}

// screening returns the hits of the screening of names, for settling a chunk whose alerts are written to alerts; nil if
// they are not screened.
func (s *Settle) screening(ctx context.Context, j *job, alerts *objects.Writer) (*validation.ScreeningInput, error) {
	if j.Screening == nil {
		return nil, nil
	}
	results, err := s.Batches.Screened(ctx, j.ID)
	if err != nil {
		return nil, err
	}
	in := &validation.ScreeningInput{
		Hits: make([]chunk.Source, len(results)), Reject: j.Screening.Reject, Alerts: alerts,
		MaxBytes: j.MaxReportBytes,
	}
	for p, r := range results {
		if r == nil {
			return nil, fmt.Errorf("batch %s: the names of partition %d are not screened", j.ID, p)
		}
		in.Hits[p] = sectionedFile(s.Work, r.HitsKey, r.HitsSections)
	}
	return in, nil
}

// writeAlerts joins the alerts of the chunks, in their order, and returns the result of the screening; nil if names are
// not screened.
func (s *Verdict) writeAlerts(ctx context.Context, j *job, chunks []batch.Chunk, attempt string) (
	*batch.ScreeningVerdict, error) {
	if j.Screening == nil {
		return nil, nil
	}
	results, err := s.Batches.Screened(ctx, j.ID)
	if err != nil {
		return nil, err
	}
	out := &batch.ScreeningVerdict{}
	for p, r := range results {
		if r == nil {
			return nil, fmt.Errorf("batch %s: the names of partition %d are not screened", j.ID, p)
		}
		out.Names += r.Names
	}
	alerts := s.Work.Create(ctx, j.reportKey(attempt, "alerts.jsonl"))
	defer alerts.Abort()
	joiner := report.NewAlertJoiner(alerts, j.MaxReportBytes)
	for _, c := range chunks {
		out.Hits += c.Settled.Hits
		if err := s.addAlerts(ctx, joiner, *c.Settled); err != nil {
			return nil, err
		}
	}
	out.AlertsShortened = !joiner.Complete()
	out.AlertsKey, err = alerts.CommitIfWritten()
	return out, err
}

// addAlerts appends a chunk's alerts to the alerts of the batch.
func (s *Verdict) addAlerts(ctx context.Context, joiner *report.AlertJoiner, r batch.SettleResult) error {
	if r.AlertsKey == "" {
		return nil
	}
	body, err := s.Work.Open(ctx, r.AlertsKey, "", 0, -1)
	if err != nil {
		return err
	}
	defer body.Close()
	if err := joiner.AddPart(body, r.AlertBytes, !r.AlertsLeftOut); err != nil {
		return fmt.Errorf("%s: %w", r.AlertsKey, err)
	}
	return nil
}
