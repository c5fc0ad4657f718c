package figures

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Handler serves the figures in the text format of Prometheus
// (prometheus.io/docs/instrumenting/exposition_formats).
func (f *Figures) Handler(now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		f.Snapshot(now()).WritePrometheus(w)
	})
}

// family is metrics of one name.
type family struct {
	name, kind, help string
	samples          []sample
}

// sample is one value; its labels are names and values in turn.
type sample struct {
	suffix string
	labels []string
	value  float64
}

func (m *family) add(value float64, labels ...string) {
	m.samples = append(m.samples, sample{"", labels, value})
}

// addTimes adds a summary of durations, in seconds.
func (m *family) addTimes(t Times, labels ...string) {
	m.samples = append(m.samples,
		sample{"", append(slices.Clone(labels), "quantile", "0.5"), t.P50MS / 1000},
		sample{"", append(slices.Clone(labels), "quantile", "0.99"), t.P99MS / 1000},
		sample{"_sum", labels, t.SumMS / 1000}, sample{"_count", labels, float64(t.Count)})
}

// WritePrometheus writes the figures in the text format of Prometheus.
func (s Snapshot) WritePrometheus(w io.Writer) {
	for _, m := range slices.Concat(s.batchFamilies(), s.stepFamilies(), s.functionFamilies(), s.requestFamilies()) {
		if len(m.samples) == 0 {
			continue
		}
		fmt.Fprintf(w, "# HELP sluice_%s %s\n# TYPE sluice_%s %s\n", m.name, m.help, m.name, m.kind)
		for _, v := range m.samples {
			fmt.Fprintf(w, "sluice_%s%s%s %s\n", m.name, v.suffix, formatLabels(v.labels),
				strconv.FormatFloat(v.value, 'g', -1, 64))
		}
	}
}

func formatLabels(labels []string) string {
	var parts []string
	for pair := range slices.Chunk(labels, 2) {
		parts = append(parts, pair[0]+"="+strconv.Quote(pair[1]))
	}
	if len(parts) == 0 {
		return ""
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (s Snapshot) batchFamilies() []*family {
	open := &family{name: "open_batches", kind: "gauge", help: "Batches that have not ended."}
	oldest := &family{name: "oldest_batch_seconds", kind: "gauge",
		help: "Time since the first batch of a status got into it."}
	ended := &family{name: "ended_batches_total", kind: "counter", help: "Batches that have ended."}
	waiting := &family{name: "waiting_batches", kind: "gauge", help: "Batches that wait for a slot."}
	wait := &family{name: "oldest_wait_seconds", kind: "gauge",
		help: "Time since the receipt of the first batch that waits for a slot."}
	used := &family{name: "used_slots", kind: "gauge", help: "Slots that batches have."}
	for _, o := range s.Open {
		open.add(float64(o.Batches), "status", string(o.Status))
		oldest.add(o.OldestSeconds, "status", string(o.Status))
	}
	for _, status := range sortedKeys(s.Ended) {
		ended.add(float64(s.Ended[status]), "status", string(status))
	}
	for _, stage := range s.Stages {
		waiting.add(float64(stage.Waiting), "stage", stage.Stage)
		wait.add(stage.OldestSeconds, "stage", stage.Stage)
		used.add(float64(stage.Used), "stage", stage.Stage)
	}
	return []*family{open, oldest, ended, waiting, wait, used}
}

func (s Snapshot) stepFamilies() []*family {
	runs := &family{name: "step_runs_total", kind: "counter", help: "Runs of steps."}
	lines := &family{name: "step_lines_total", kind: "counter", help: "Lines that steps have processed."}
	size := &family{name: "step_bytes_total", kind: "counter", help: "Bytes of files that steps have processed."}
	findings := &family{name: "step_findings_total", kind: "counter", help: "Invalid lines that steps have found."}
	names := &family{name: "step_names_total", kind: "counter", help: "Names that were compared with watchlists."}
	seconds := &family{name: "step_seconds", kind: "summary", help: "Durations of runs of steps."}
	memory := &family{name: "step_memory_bytes", kind: "gauge", help: "Largest resident memory of a process of a step."}
	for _, step := range s.Steps {
		label := []string{"step", string(step.Step)}
		for _, outcome := range sortedKeys(step.Outcomes) {
			runs.add(float64(step.Outcomes[outcome]), append(slices.Clone(label), "outcome", string(outcome))...)
		}
		lines.add(float64(step.Lines), label...)
		size.add(float64(step.Bytes), label...)
		findings.add(float64(step.Findings), label...)
		names.add(float64(step.Names), label...)
		seconds.addTimes(step.Times, label...)
		memory.add(float64(step.MemoryBytes), label...)
	}
	return []*family{runs, lines, size, findings, names, seconds, memory}
}

func (s Snapshot) functionFamilies() []*family {
	calls := &family{name: "function_calls_total", kind: "counter", help: "Invocations that have ended."}
	failed := &family{name: "function_failures_total", kind: "counter", help: "Invocations that have failed."}
	throttled := &family{name: "function_throttles_total", kind: "counter", help: "Invocations that were refused."}
	seconds := &family{name: "function_seconds", kind: "summary", help: "Durations of invocations."}
	memory := &family{name: "function_memory_bytes", kind: "gauge",
		help: "Largest resident memory of a process of a function."}
	for _, f := range s.Functions {
		label := []string{"function", f.Function}
		calls.add(float64(f.Calls), label...)
		failed.add(float64(f.Failed), label...)
		throttled.add(float64(f.Throttled), label...)
		seconds.addTimes(f.Times, label...)
		memory.add(float64(f.MemoryBytes), label...)
	}
	return []*family{calls, failed, throttled, seconds, memory}
}

func (s Snapshot) requestFamilies() []*family {
	requests := &family{name: "requests_total", kind: "counter",
		help: "Requests of the API that have reached a function."}
	for _, status := range sortedKeys(s.Requests.ByStatus) {
		requests.add(float64(s.Requests.ByStatus[status]), "status", status)
	}
	seconds := &family{name: "request_seconds", kind: "summary", help: "Durations of requests of the API."}
	if s.Requests.Count > 0 {
		seconds.addTimes(s.Requests.Times)
	}
	return []*family{requests, seconds}
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
