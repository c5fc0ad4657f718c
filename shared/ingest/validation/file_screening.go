package validation

import (
	"context"
	"errors"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
)

// screen screens the names of all partitions.
func (v *fileValidator) screen(ctx context.Context) error {
	if err := closeAll(v.indexes); err != nil {
		return err
	}
	screeners := newPool(v.workers, v.in.Screening.NewScreener)
	partitions := newPool(v.workers, func() *partitionScreener { return new(partitionScreener) })
	produce := func(ctx context.Context, p int) (ScreenResult, error) {
		screener, partition := screeners.get(), partitions.get()
		defer screeners.put(screener)
		defer partitions.put(partition)
		v.hits[p] = v.newSpool()
		return partition.screen(ctx, ScreenInput{
			Partition:  p,
			Chunks:     len(v.results),
			ChunkBytes: v.in.Plan.ChunkBytes,
			Names: func(i int) chunk.Source {
				if v.results[i].NamesBytes == 0 {
					return nil
				}
				return v.names[i]
			},
			Screener:  screener,
			DigestKey: v.in.DigestKey,
		}, v.hits[p])
	}
	err := forEachInOrder(ctx, Partitions, v.workers, produce, func(p int, result ScreenResult) error {
		v.screened += result.Names
		if result.HitsBytes == 0 {
			v.hits[p] = nil
		}
		return nil
	})
	return errors.Join(err, closeAll(v.names))
}

// screeningInput returns the hits of the names, for settling a chunk.
func (v *fileValidator) screeningInput(alerts *spool) *ScreeningInput {
	in := &ScreeningInput{
		Hits: make([]chunk.Source, Partitions), Reject: v.in.Screening.Reject, Alerts: alerts,
		MaxBytes: v.in.MaxReportBytes,
	}
	for p, s := range v.hits {
		if s != nil {
			in.Hits[p] = s
		}
	}
	return in
}

// alertJoiner returns a function that adds the alerts of the next chunk to those before, and counts them in a summary.
// The function does nothing if names are not screened.
func (v *fileValidator) alertJoiner(sum *report.Summary) func(SettleResult, *spool) error {
	if v.in.Screening == nil {
		return func(SettleResult, *spool) error { return nil }
	}
	joiner := report.NewAlertJoiner(v.in.Screening.Alerts, v.in.MaxReportBytes)
	sum.Screening = &report.Screening{Names: v.screened, Complete: true}
	return func(result SettleResult, alerts *spool) error {
		sum.Screening.Hits += result.Hits
		err := joiner.AddPart(alerts.reader(), result.AlertBytes, !result.AlertsLeftOut)
		sum.Screening.Complete = joiner.Complete()
		return errors.Join(err, alerts.close())
	}
}
