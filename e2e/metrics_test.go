package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/cost"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/metric/metrictest"

	"github.com/aws/aws-sdk-go-v2/service/sfn"
)

// metricRecord is what these tests read of a record of a run of a step.
type metricRecord struct {
	Record, Step, Outcome, Batch, Tenant, Attempt string
	Lines, Bytes, Findings, PeakMemory            int64
	Milliseconds                                  float64
	Chunk                                         *int
}

// metricRecords returns the records of the runs of a batch's steps.
func metricRecords(t *testing.T, e *Environment, batchID string) []metricRecord {
	t.Helper()
	var found []metricRecord
	for _, line := range grepBatch(t, e, "functions.log", batchID) {
		_, text, _ := strings.Cut(line, "{")
		if !strings.Contains(line, `"_aws":`) {
			continue
		}
		var r metricRecord
		err := json.Unmarshal([]byte("{"+text), &r)
		require(t, err == nil, "%v: %s", err, line)
		found = append(found, r)
	}
	return found
}

// checkMetrics returns an error if a line of the functions' log that has metrics breaks a rule of the embedded metric
// format, or if a dimension has a value that clients determine.
func (e *Environment) checkMetrics() error {
	text, err := os.ReadFile(filepath.Join(e.Data, "logs", "functions.log"))
	if err != nil {
		return err
	}
	values := map[string]bool{}
	for line := range bytes.Lines(text) {
		if _, record, _ := bytes.Cut(line, []byte("{")); metrictest.IsRecord(record) {
			metrics, err := metrictest.Read(append([]byte("{"), record...), time.Now())
			if err != nil {
				return fmt.Errorf("a line breaks the embedded metric format: %w: %s", err, line)
			}
			for _, m := range metrics {
				var by []metric.Dimension
				for name, value := range m.Dimensions {
					by, values[value] = append(by, metric.Dimension(name)), true
				}
				slices.Sort(by)
				if !slices.ContainsFunc(metric.DimensionsOf(metric.Name(m.Name)), func(set []metric.Dimension) bool {
					return slices.Equal(set, by)
				}) {
					return fmt.Errorf("the metric %s by %v is not one of package metric: %s", m.Name, by, line)
				}
			}
		}
	}
	if len(values) > 40 {
		return fmt.Errorf("dimensions of metrics have %d values, want a few", len(values))
	}
	return nil
}

// The records of a batch's steps have exactly the lines, bytes and findings of its file.
func TestMetricsOfABatchAreExact(t *testing.T) {
	api := begin(t, functionLog)
	accepted := jsonLines(validLine(), validLine(), validLine())
	file := slices.Concat(jsonLines(validLine().with("ip_address", "nowhere")), accepted)
	batchID := api.startBatch(false, file)
	api.expectEnd("PROCESSED", batchID)
	size := int64(len(file))
	steps := []string{"scan", "plan", "validate", "digest", "reconcile", "settle", "verdict", "admit", "ingest",
		"close", "process"}
	var records []metricRecord
	eventually(t, "a record of each step of the batch", func() bool {
		records = metricRecords(t, environment, batchID)
		return !slices.ContainsFunc(steps, func(step string) bool {
			return !slices.ContainsFunc(records, func(r metricRecord) bool {
				return r.Step == step &&
					r.Outcome == "ok"
			})
		})
	})
	sums := map[string][3]int64{}
	for _, r := range records {
		assert(t, r.Tenant == environment.TenantID && r.Milliseconds > 0 && r.PeakMemory >= 1<<20,
			"got the record %+v, want one with the tenant, a duration and memory", r)
		assert(t, r.Step != "validate" && r.Step != "settle" || r.Chunk != nil && r.Attempt != "",
			"got the record %+v, want one with a chunk and an attempt", r)
		sum := sums[r.Step]
		sums[r.Step] = [3]int64{sum[0] + r.Lines, sum[1] + r.Bytes, sum[2] + r.Findings}
	}
	stored := int64(len(accepted)) - 3 // without the line feeds
	for step, want := range map[string][3]int64{
		"scan": {0, size, 0}, "validate": {4, size, 1}, "reconcile": {}, "settle": {4, 0, 1}, "verdict": {4, 0, 1},
		"digest": {4 + 3, 2 * size, 0}, // of the file, and of its accepted lines
		"ingest": {3, stored, 0}, "plan": {}, "admit": {}, "close": {}, "process": {},
	} {
		difftest.Equal(t, step+": lines, bytes and findings", want, sums[step])
	}
}

// The command prints the figures of a batch, as a table for people and as JSON; its lines are those of the file.
func TestMetricsCommand(t *testing.T) {
	api := begin(t, functionLog)
	file := jsonLines(validLines(25)...)
	batchID := api.startBatch(true, file)
	api.expectEnd("PROCESSED", batchID)
	type stepFigures struct {
		Step         string
		Lines, Bytes int64
		PerSecond    float64 `json:"lines_per_second"`
	}
	var got struct {
		Ended map[string]int `json:"ended_batches"`
		Steps []stepFigures
	}
	metrics := func(args ...string) string {
		t.Helper()
		stdout, stderr, code, err := environment.runSluice(append([]string{"metrics", "--data", environment.Data,
			"--batch", batchID}, args...)...)
		require(t, err == nil && code == 0 && stderr == "", "the command ended with %v, exit code %d and %q, want 0",
			err, code, stderr)
		return stdout
	}
	figures := map[string]stepFigures{}
	eventually(t, "the step close in the figures", func() bool {
		must(t, json.Unmarshal([]byte(metrics("--json")), &got))
		for _, s := range got.Steps {
			figures[s.Step] = s
		}
		return figures["close"].Step != ""
	})
	for step, bytes := range map[string]int64{"validate": int64(len(file)), "ingest": int64(len(file)) - 25} {
		s := figures[step]
		assert(t, s.Lines == 25 && s.Bytes == bytes && s.PerSecond > 0,
			"got the figures %+v, want 25 lines and %d bytes",
			s, bytes)
	}
	assert(t, got.Ended["PROCESSED"] == 1, "got the batches %v, want one that is PROCESSED", got.Ended)
	expectTexts(t, metrics(), "1 PROCESSED", "\nstep ", "\nvalidate ", " 25 ")
	if _, stderr, code, err := environment.runSluice("metrics", "--data", t.TempDir()); err != nil || code != 2 ||
		!strings.Contains(stderr, "no local cloud has run on") {
		t.Errorf("on an empty folder: exit code %d, %v: %s, want 2 and the cause", code, err, stderr)
	}
}

// A batch makes the state transitions, and its state machine the calls of functions, that 'sluice cost' says. If this
// fails because there are more than before, that costs money: change the model and docs/cost.md only if it is worth it.
func TestTransitionsAreThoseOfTheCostModel(t *testing.T) {
	api := begin(t, functionLog) // a local cloud, whose chunks have 8 KiB
	for lines, chunks := range map[int]int64{50: 0, 2: 1} {
		t.Run(fmt.Sprint(lines, " lines"), func(t *testing.T) { api.expectTransitions(t, lines, chunks) })
	}
}

// expectTransitions uploads a file of some lines. It has that many chunks, or any number of several if chunks is 0.
func (s *session) expectTransitions(t *testing.T, lines int, chunks int64) {
	t.Helper()
	const chunkBytes = 8192
	file := jsonLines(validLines(lines)...)
	batchID := s.startBatch(true, file)
	s.expectEnd("PROCESSED", batchID)
	environment.waitForExecution(t, "SUCCEEDED", "batch", batchID)
	machines, arn := environment.execution(t, "batch", batchID)
	transitions, tasks := 0, 0
	pages := sfn.NewGetExecutionHistoryPaginator(machines, &sfn.GetExecutionHistoryInput{ExecutionArn: &arn})
	for pages.HasMorePages() {
		page := ok(pages.NextPage(t.Context()))(t)
		for _, e := range page.Events {
			switch kind := fmt.Sprint(e.Type); {
			case kind == "TaskStateEntered":
				transitions, tasks = transitions+1, tasks+1
			case strings.HasSuffix(kind, "StateEntered"):
				transitions++
			}
		}
	}
	want := cost.UsageOf(cost.Load{Lines: int64(lines), Bytes: int64(len(file)), Batches: 1, ChunkBytes: chunkBytes})
	assert(t, float64(transitions) == want.Transitions && float64(tasks) == want.MachineRuns &&
		(want.Chunks == chunks || chunks == 0 && want.Chunks > 1),
		"%d transitions and %d tasks for %d chunks, and the model says %g and %g", transitions, tasks, want.Chunks,
		want.Transitions, want.MachineRuns)
}
