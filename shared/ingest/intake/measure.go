package intake

import (
	"context"
	"errors"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/metric"
)

// measure writes gauges of open batches: by status, and of those that wait for slots. It reads a bounded number of
// rows. Read errors are logged: the sweep has more important things to do, and an alarm watches for gauges that are
// missing.
func (in *Intake) measure(ctx context.Context) {
	if in.Sweep == nil || in.Metrics == nil {
		return
	}
	if err := errors.Join(in.measureBatches(ctx), in.measureStages(ctx)); err != nil {
		in.Log.ErrorContext(ctx, "cannot measure the open batches", "error", err)
	}
}

// measureBatches writes one gauge for each status that is not terminal, also for one without batches, and one for all
// batches that are uploaded.
func (in *Intake) measureBatches(ctx context.Context) error {
	backlogs, err := in.Sweep.Batches.Backlogs(ctx)
	if err != nil {
		return err
	}
	oldest := 0.
	for _, status := range batch.Statuses() {
		if status.IsTerminal() {
			continue
		}
		b := backlogs[status]
		age := in.secondsSince(b.Since)
		if status != batch.AwaitingUpload {
			oldest = max(oldest, age)
		}
		in.writeGauge(ctx, map[metric.Dimension]string{metric.ByStatus: string(status)}, map[metric.Name]float64{
			metric.OpenBatches: float64(b.Batches), metric.OldestBatchSeconds: age,
		})
	}
	in.writeGauge(ctx, nil, map[metric.Name]float64{metric.OldestBatchSeconds: oldest})
	return nil
}

// measureStages writes one gauge for each pool of slots.
func (in *Intake) measureStages(ctx context.Context) error {
	var errs []error
	for _, pool := range admission.Pools() {
		l, err := in.Sweep.Slots.Load(ctx, pool, 0)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		in.writeGauge(ctx, map[metric.Dimension]string{metric.ByStage: string(pool)}, map[metric.Name]float64{
			metric.WaitingBatches: float64(l.Waiting), metric.OldestWaitSeconds: in.secondsSince(l.Since),
			metric.UsedSlots: float64(l.Used),
		})
	}
	return errors.Join(errs...)
}

func (in *Intake) writeGauge(ctx context.Context, by map[metric.Dimension]string, values map[metric.Name]float64) {
	in.Metrics.Write(ctx, metric.Record{Kind: "gauge", Message: "measured", Groups: []metric.Group{{
		Dimensions: by, Values: values,
	}}})
}

// secondsSince returns the time that has passed since t, 0 for the zero time.
func (in *Intake) secondsSince(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(in.Now().Sub(t).Round(time.Millisecond).Seconds(), 0)
}
