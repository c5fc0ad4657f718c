package figures

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/metric"
)

var update = flag.Bool("update", false, "write testdata/prometheus.txt")

var start = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// testLog is a log as a local cloud writes it.
type testLog struct {
	bytes.Buffer
	now time.Time
}

// print appends a line that a function printed a number of milliseconds after the last one.
func (l *testLog) print(afterMS int, function, text string) {
	l.now = l.now.Add(time.Duration(afterMS) * time.Millisecond)
	fmt.Fprintf(l, "%s sluice-%s 1b2c %s\n", l.now.Format(timeFormat), function, strings.TrimRight(text, "\n"))
}

// step appends the record of a run that lasted for some milliseconds and ended after some since the last line.
func (l *testLog) step(afterMS, lasted int, step metric.Step, id string, lines int64, outcome metric.Outcome) {
	var out bytes.Buffer
	end := l.now.Add(time.Duration(afterMS) * time.Millisecond)
	now := end.Add(-time.Duration(lasted) * time.Millisecond)
	log := metric.New(&out, "sluice", func() time.Time {
		defer func() { now = end }()
		return now
	}, func(context.Context) string { return "" })
	ctx, run := log.Begin(context.Background(), step)
	metric.Add(ctx, metric.Lines, lines)
	metric.Add(ctx, metric.Bytes, lines*100)
	metric.SetProperty(ctx, "batch", id)
	run.End(ctx, outcome)
	l.print(afterMS, string(step), out.String())
}

func (l *testLog) transition(afterMS int, id, from, to string) {
	l.print(afterMS, "close", fmt.Sprintf(`{"time":%q,"record":"transition","msg":"m","batch":%q,"from":%q,"to":%q,`+
		`"lines":7}`,
		l.now.Add(time.Duration(afterMS)*time.Millisecond).Format(time.RFC3339Nano), id, from, to))
}

func newTestLog() *testLog {
	l := &testLog{now: start}
	l.transition(0, "old", "IN_PROGRESS", "PROCESSED")
	l.print(1000, "batch", `{"record":"audit","route":"/x","outcome":"ok","status":200,"ms":30}`)
	l.print(0, "batch", `{"record":"audit","route":"/x","outcome":"denied","status":403,"ms":10}`)
	l.print(0, "admin", `{"record":"audit","route":"tenant get","outcome":"started"}`)
	l.transition(0, "a", "", "AWAITING_UPLOAD")
	l.transition(0, "a", "AWAITING_UPLOAD", "VALIDATION_STARTED")
	l.transition(2000, "b", "", "AWAITING_UPLOAD")
	l.step(1000, 1000, metric.Validate, "a", 70, metric.OK)
	l.step(500, 1000, metric.Validate, "a", 30, metric.OK)
	l.step(3000, 500, metric.Validate, "c", 0, metric.Failed)
	l.print(0, "validate", `{"type":"platform.report","status":"success","errorType":"","durationMs":12.5,`+
		`"memorySizeMB":1769,"maxMemoryUsedMB":40}`)
	l.print(0, "validate", `{"type":"platform.report","status":"error","errorType":"Transient","durationMs":7,`+
		`"memorySizeMB":1769,"maxMemoryUsedMB":38}`)
	l.print(0, "validate", `{"type":"platform.throttled","reason":"ConcurrentInvocationLimitExceeded"}`)
	l.print(0, "scan", `{"record":"gauge","msg":"measured","Stage":"ingestion","WaitingBatches":3,`+
		`"OldestWaitSeconds":60,"UsedSlots":40}`)
	l.print(0, "scan", `{"level":"INFO","msg":"upload scanned"}`)
	l.print(0, "scan", `panic: "record": not JSON`)
	l.print(0, "scan", `{"record":"step","Lines":`)
	return l
}

func read(t *testing.T, o Options, log string) *Figures {
	t.Helper()
	f := New(o)
	n, err := f.Read(strings.NewReader(log + "unfinished"))
	if err != nil || n != int64(len(log)) {
		t.Fatalf("read %d bytes, error %v, want %d", n, err, len(log))
	}
	return f
}

func TestSnapshot(t *testing.T) {
	l := newTestLog()
	got := read(t, Options{Prefix: "sluice"}, l.String()).Snapshot(l.now.Add(time.Second))
	for i := range got.Steps {
		got.Steps[i].MemoryBytes = 0 // that of this process
	}
	want := Snapshot{
		From: start, To: l.now,
		Open:   []Open{{"AWAITING_UPLOAD", 1, 5.5}, {"VALIDATION_STARTED", 1, 7.5}},
		Ended:  map[batch.Status]int64{"PROCESSED": 1},
		Stages: []Stage{{"ingestion", 3, 60, 40}},
		Steps: []Step{{
			Step: "validate", Runs: 3, Outcomes: map[metric.Outcome]int64{"ok": 2, "failed": 1}, Lines: 100,
			Bytes:       10_000,
			BusySeconds: 2, LinesPerSecond: 50, BytesPerSecond: 5000,
			Times: Times{Count: 3, SumMS: 2500, P50MS: 1000, P99MS: 1000, MaxMS: 1000},
		}},
		Functions: []Function{{
			Function: "validate", Calls: 2, Failed: 1, Throttled: 1,
			Times:       Times{Count: 2, SumMS: 19.5, P50MS: 7, P99MS: 12.5, MaxMS: 12.5},
			MemoryBytes: 40 << 20, MemoryLimitBytes: 1769 << 20,
		}},
		Requests: Requests{Count: 2, ByStatus: map[string]int64{"2xx": 1, "4xx": 1},
			Times: Times{Count: 2, SumMS: 40, P50MS: 10, P99MS: 30, MaxMS: 30}},
	}
	difftest.Equal(t, "snapshot", want, got)
}

// Steps are in the order in which they follow each other, and lists without elements are empty in JSON, not null.
func TestSnapshotOrderAndJSON(t *testing.T) {
	text, err := json.Marshal(New(Options{}).Snapshot(start))
	if err != nil || strings.Contains(string(text), ":null") {
		t.Errorf("without a log: %s, %v; want no null", text, err)
	}
	l := &testLog{now: start}
	want := []metric.Step{metric.Scan, metric.Validate, metric.Close, metric.Export, metric.Sweep}
	for _, step := range []metric.Step{metric.Sweep, metric.Export, metric.Close, metric.Validate, metric.Scan} {
		l.step(1, 1, step, "a", 1, metric.OK)
	}
	var got []metric.Step
	for _, step := range read(t, Options{}, l.String()).Snapshot(l.now).Steps {
		got = append(got, step.Step)
	}
	difftest.Equal(t, "steps", want, got)
}

// A part of the log counts: what is younger than a time, or of one batch.
func TestOptions(t *testing.T) {
	l := newTestLog()
	since := read(t, Options{Since: l.now.Add(-time.Second)}, l.String()).Snapshot(l.now)
	if len(since.Steps) != 1 || since.Steps[0].Runs != 1 || len(since.Ended) != 0 || len(since.Open) != 2 ||
		since.Requests.Count != 0 || since.From != l.now {
		t.Errorf("since a second ago: got %+v, want one run, no batch that has ended, and two open ones", since)
	}
	one := read(t, Options{Batch: "a"}, l.String()).Snapshot(l.now)
	if len(one.Steps) != 1 || one.Steps[0].Lines != 100 || one.Steps[0].Runs != 2 || len(one.Open) != 1 ||
		len(one.Functions) != 0 {
		t.Errorf("one batch: got %+v, want two runs with 100 lines, one open batch and no function", one)
	}
}

// Quantiles are those of the latest durations, and the maximum that of all.
func TestDurations(t *testing.T) {
	var d durations
	difftest.Equal(t, "of no durations", Times{}, d.summary())
	d.add(1e6)
	for i := range maxDurations {
		d.add(float64(i + 1))
	}
	want := Times{Count: maxDurations + 1, SumMS: 1e6 + maxDurations*(maxDurations+1)/2, P50MS: 5000, P99MS: 9900,
		MaxMS: 1e6}
	difftest.Equal(t, "summary", want, d.summary())
}

// The time of overlapping runs counts once, in whatever order they end.
func TestIntervals(t *testing.T) {
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	for name, tt := range map[string]struct {
		runs [][2]int
		want time.Duration
	}{
		"none":         {nil, 0},
		"apart":        {[][2]int{{0, 1}, {3, 5}}, 3 * time.Second},
		"overlapping":  {[][2]int{{0, 3}, {1, 4}}, 4 * time.Second},
		"within":       {[][2]int{{2, 3}, {0, 5}}, 5 * time.Second},
		"over several": {[][2]int{{0, 1}, {2, 3}, {4, 5}, {0, 6}, {8, 9}}, 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			var s intervals
			for _, run := range tt.runs {
				s.add(at(run[0]), at(run[1]))
			}
			difftest.Equal(t, "length", tt.want, s.length())
		})
	}
	var many intervals
	for i := range 3 * maxApart {
		many.add(at(2*i), at(2*i+1))
	}
	if got := many.length(); got != 3*maxApart*time.Second || len(many.apart) != maxApart {
		t.Errorf("of many runs: got %v in %d intervals, want %v in %d", got, len(many.apart), 3*maxApart*time.Second,
			maxApart)
	}
}

// The text for Prometheus names each figure once, with its labels.
func TestPrometheus(t *testing.T) {
	l := newTestLog()
	s := read(t, Options{Prefix: "sluice"}, l.String()).Snapshot(l.now)
	for i := range s.Steps {
		s.Steps[i].MemoryBytes = 4096
	}
	var got bytes.Buffer
	s.WritePrometheus(&got)
	if *update {
		errtest.Fatal(t, os.WriteFile("testdata/prometheus.txt", got.Bytes(), 0o644))
	}
	want := errtest.Must(os.ReadFile("testdata/prometheus.txt"))(t)
	difftest.Equal(t, "text", string(want), got.String())
}
