package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"sluice/shared/batch"
	"sluice/shared/chunk"
	"sluice/shared/metric"
	"sluice/shared/objects"
	"sluice/shared/report"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/match"
	"sluice/shared/validation"
)

// Screen is the step of the state ScreenPartitions: it compares each distinct name of a range of partitions with the
// pinned versions of the watchlists and commits, for each partition, the key of the hits.
type Screen struct {
	Batches batch.JobStore
	Lists   watchlists
	Work    *objects.Bucket
	// NewAttempt names an attempt.
	NewAttempt func() string
	Log        *slog.Logger
}

// watchlists are the lists with which names are screened: a *catalog.Loader.
type watchlists interface {
	Current(ctx context.Context, tenant string, lists []string) ([]catalog.Loaded, error)
	Open(ctx context.Context, ref catalog.VersionRef) (catalog.Loaded, error)
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
	loaded, err := s.Lists.Current(ctx, j.Tenant, j.Screening.Lists)
	if err != nil {
		return nil, errors.Join(errWatchlists, err)
	}
	versions := make([]batch.ListVersion, len(loaded))
	for i, l := range loaded {
		if l.Problem != "" {
			s.Log.WarnContext(ctx, "a batch is screened with an older version of a watchlist", "batch", j.ID, "list",
				l.List, "version", l.Version.Version, "problem", l.Problem)
		}
		if err := s.Pins.Pin(ctx, l.VersionRef); err != nil {
			return nil, errors.Join(errWatchlists, err)
		}
		versions[i] = batch.ListVersion{Owner: l.Owner, List: l.List, Version: l.Version.Version,
			SourceDate: l.SourceDate}
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
	screener, err := s.newScreener(ctx, j)
	if err != nil {
		return err
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

// newScreener opens the pinned lists.
func (s *Screen) newScreener(ctx context.Context, j *job) (validation.Screener, error) {
	var lists []catalog.Loaded
	for _, v := range j.Screening.Versions {
		loaded, err := s.Lists.Open(ctx, catalog.VersionRef{Owner: v.Owner, List: v.List, Version: v.Version})
		if err != nil {
			return nil, errors.Join(errWatchlists, err)
		}
		lists = append(lists, loaded)
	}
	screener := catalog.NewScreener(lists...)
	return validation.ScreenerFunc(func(name string) ([]report.Hit, error) {
		found, err := screener.Screen(match.Query{Name: name}, j.Screening.Threshold)
		var hits []report.Hit
		for i := range found {
			f := &found[i]
			hits = append(hits, report.Hit{List: f.List, Version: f.Source.Version.Version, EntryID: f.ID,
				EntryName: f.Name, Score: f.Score, Explanation: f.Explanation})
		}
		return hits, err
	}), nil
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

// screening returns what the screening of names has found, for settling a chunk whose alerts are written to alerts; nil
// if they are not screened.
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

// writeAlerts joins the alerts of the chunks, in their order, and returns what the screening came to; nil if names are
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

// addAlerts appends a chunk's alerts to those of the batch.
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
