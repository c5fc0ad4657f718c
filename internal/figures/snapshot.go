package figures

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/metric"
)

// Snapshot is the figures as of one moment.
type Snapshot struct {
	// From and To are the times of the first line that counts and of the last one; zero if there is none.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Open are the batches that have not ended, by status, and Ended those that have.
	Open      []Open                 `json:"open_batches"`
	Ended     map[batch.Status]int64 `json:"ended_batches"`
	Stages    []Stage                `json:"stages"`
	Steps     []Step                 `json:"steps"`
	Functions []Function             `json:"functions"`
	Requests  Requests               `json:"requests"`
}

// Open is the batches in one status that is not terminal.
type Open struct {
	Status  batch.Status `json:"status"`
	Batches int64        `json:"batches"`
	// OldestSeconds is how long the first of them has been in the status.
	OldestSeconds float64 `json:"oldest_seconds"`
}

// Stage is the batches that wait for a slot of a stage and those that have one, as the last sweep has measured them.
type Stage struct {
	Stage         string  `json:"stage"`
	Waiting       int64   `json:"waiting"`
	OldestSeconds float64 `json:"oldest_seconds"`
	Used          int64   `json:"used_slots"`
}

// Times says how long runs took. The quantiles are those of the latest 10,000.
type Times struct {
	Count int64   `json:"-"`
	SumMS float64 `json:"sum_ms"`
	P50MS float64 `json:"p50_ms"`
	P99MS float64 `json:"p99_ms"`
	MaxMS float64 `json:"max_ms"`
}

// Step is the runs of one step.
type Step struct {
	Step     metric.Step              `json:"step"`
	Runs     int64                    `json:"runs"`
	Outcomes map[metric.Outcome]int64 `json:"outcomes"`
	Lines    int64                    `json:"lines"`
	Bytes    int64                    `json:"bytes"`
	Findings int64                    `json:"findings"`
	Names    int64                    `json:"names"`
	// BusySeconds is the time in which at least one run was in progress; LinesPerSecond and BytesPerSecond are by it.
	BusySeconds    float64 `json:"busy_seconds"`
	LinesPerSecond float64 `json:"lines_per_second"`
	BytesPerSecond float64 `json:"bytes_per_second"`
	Times
	MemoryBytes int64 `json:"memory_bytes"`
}

// Function is the invocations of one function.
type Function struct {
	Function  string `json:"function"`
	Calls     int64  `json:"calls"`
	Failed    int64  `json:"failed"`
	Throttled int64  `json:"throttled"`
	Times
	// MemoryBytes is the largest resident memory of a process of the function, MemoryLimitBytes what it may have.
	MemoryBytes      int64 `json:"memory_bytes"`
	MemoryLimitBytes int64 `json:"memory_limit_bytes"`
}

// Requests is the requests of the API that have reached a function.
type Requests struct {
	Count int64 `json:"count"`
	// ByStatus counts them by the class of their status, such as 2xx.
	ByStatus map[string]int64 `json:"by_status"`
	Times
}

// stepOrder is the order in which steps follow each other.
var stepOrder = []metric.Step{metric.Scan, metric.Plan, metric.Process, metric.Validate, metric.Digest,
	metric.Reconcile, metric.Screen, metric.Settle, metric.Verdict, metric.Admit, metric.Ingest, metric.Close,
	metric.Export, metric.Index, metric.Sweep}

// Snapshot returns the figures as of now.
func (f *Figures) Snapshot(now time.Time) Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := Snapshot{
		From: f.first, To: f.last, Open: f.openBatches(now), Ended: maps.Clone(f.ended),
		Stages: slices.AppendSeq([]Stage{}, maps.Values(f.stages)), Steps: []Step{}, Functions: []Function{},
		Requests: Requests{ByStatus: maps.Clone(f.requests.byStatus), Times: f.requests.times.summary()},
	}
	s.Requests.Count = s.Requests.Times.Count
	slices.SortFunc(s.Stages, func(a, b Stage) int { return -cmp.Compare(a.Stage, b.Stage) }) // validation comes first
	for name, step := range f.steps {
		s.Steps = append(s.Steps, step.snapshot(name))
	}
	slices.SortFunc(s.Steps, func(a, b Step) int {
		return cmp.Compare(slices.Index(stepOrder, a.Step), slices.Index(stepOrder, b.Step))
	})
	for _, name := range slices.Sorted(maps.Keys(f.functions)) {
		function := f.functions[name]
		s.Functions = append(s.Functions, Function{name, function.calls, function.failed, function.throttled,
			function.times.summary(), function.memory, function.limit})
	}
	return s
}

func (s *stepFigures) snapshot(name metric.Step) Step {
	busy := s.busy.length().Seconds()
	out := Step{
		Step: name, Outcomes: maps.Clone(s.outcomes), Lines: int64(s.amounts[metric.Lines]),
		Bytes: int64(s.amounts[metric.Bytes]), Findings: int64(s.amounts[metric.Findings]),
		Names: int64(s.amounts[metric.Names]), BusySeconds: round(busy), Times: s.times.summary(),
		MemoryBytes: s.memory,
	}
	out.Runs = out.Times.Count
	if busy > 0 {
		out.LinesPerSecond, out.BytesPerSecond = round(float64(out.Lines)/busy), round(float64(out.Bytes)/busy)
	}
	return out
}

// openBatches returns the batches that have not ended by status, in the order in which statuses follow each other.
func (f *Figures) openBatches(now time.Time) []Open {
	out := []Open{}
	for _, status := range batch.Statuses() {
		o := Open{Status: status}
		for _, b := range f.batches {
			if b.status == status {
				o.Batches++
				o.OldestSeconds = max(o.OldestSeconds, round(now.Sub(b.since).Seconds()))
			}
		}
		if o.Batches > 0 {
			out = append(out, o)
		}
	}
	return out
}
