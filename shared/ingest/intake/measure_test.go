package intake_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiontest"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/metric/metrictest"
)

// loadedSlots are slots with the given loads, or the error of asking for them.
type loadedSlots struct {
	*admission.Slots
	loads map[admission.Pool]admission.Load
	err   error
}

func (s *loadedSlots) Load(_ context.Context, stage admission.Pool, _ int) (admission.Load, error) {
	return s.loads[stage], s.err
}

// gauges sweeps, which must succeed, and returns the metrics of gauges, and all names of steps with their outcomes.
func (f *sweepFixture) gauges(t *testing.T, after time.Duration) (gauges, runs []string) {
	t.Helper()
	var out bytes.Buffer
	f.Intake.Metrics = metric.New(&out, "test", func() time.Time { return f.clock },
		func(context.Context) string { return "" })
	f.sweepAfter(t, after)
	for line := range bytes.Lines(out.Bytes()) {
		metrics, err := metrictest.Read(line, f.clock)
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		for _, m := range metrics {
			switch {
			case m.Name == "Runs":
				runs = append(runs, m.Dimensions["Step"]+" "+m.Dimensions["Outcome"])
			case m.Dimensions["Step"] == "" && m.Value != 0:
				gauges = append(gauges, strings.TrimSpace(fmt.Sprint(m.Name, " ", m.Value, " ",
					m.Dimensions["Status"], m.Dimensions["Stage"])))
			}
		}
	}
	slices.Sort(gauges)
	return gauges, runs
}

// The sweep measures how many batches are in each status and since when, and who waits for slots.
func TestTheSweepMeasuresWhatIsOpen(t *testing.T) {
	f := newSweepFixture(t)
	expect := func(when string, got []string, want ...string) {
		t.Helper()
		slices.Sort(want)
		difftest.Equal(t, fmt.Sprintf("gauges %s", when), want, got)
	}
	gauges, runs := f.gauges(t, time.Minute)
	created := fmt.Sprint(f.clock.Sub(f.currentBatch(t).UpdatedAt).Seconds())
	expect("before the upload", gauges, "OpenBatches 1 AWAITING_UPLOAD",
		"OldestBatchSeconds "+created+" AWAITING_UPLOAD")
	difftest.Equal(t, "runs", []string{"sweep ok"}, runs)
	f.executions.state = intake.ExecutionRunning
	f.advance(t, batch.PendingIngestion)
	slots := admissiontest.NewSlots()
	f.Intake.Sweep.Slots = &loadedSlots{slots, map[admission.Pool]admission.Load{
		"validation": {Used: 3}, "ingestion": {Waiting: 2, Since: f.clock.Add(-time.Hour), Used: 40},
	}, nil}
	gauges, _ = f.gauges(t, 2*time.Minute)
	expect("while the batch waits", gauges, "OpenBatches 1 PENDING_INGESTION",
		"OldestBatchSeconds 120 PENDING_INGESTION", "OldestBatchSeconds 120", "UsedSlots 3 validation",
		"WaitingBatches 2 ingestion", "OldestWaitSeconds 3720 ingestion", "UsedSlots 40 ingestion")
	f.Intake.Sweep.Slots = &loadedSlots{slots, nil, errors.New("no answer")}
	gauges, _ = f.gauges(t, time.Minute)
	expect("without an answer about slots", gauges, "OpenBatches 1 PENDING_INGESTION",
		"OldestBatchSeconds 180 PENDING_INGESTION", "OldestBatchSeconds 180")
	f.advance(t, batch.Processed)
	gauges, _ = f.gauges(t, time.Minute)
	expect("after the end", gauges)
}
