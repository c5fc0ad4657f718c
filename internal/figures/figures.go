// Package figures adds up what the functions of a local cloud have logged: the same records from which CloudWatch takes
// metrics, the reports of Lambda on each invocation, and the records of the audit trail. The command `sluice metrics`
// prints them, and a local cloud serves them to Prometheus.
package figures

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/metric"
)

// Figures adds up lines of a log. It is safe for concurrent use.
type Figures struct {
	options Options

	mu          sync.Mutex
	first, last time.Time
	steps       map[metric.Step]*stepFigures
	functions   map[string]*functionFigures
	requests    requestFigures
	batches     map[string]batchState
	ended       map[batch.Status]int64
	stages      map[string]Stage
}

// Options limit what counts.
type Options struct {
	// Since is the time from which on lines count; the statuses of batches follow from all lines.
	Since time.Time
	// Batch is the ID of the only batch that counts; "" for all. Nothing but its steps and its status is known then.
	Batch string
	// Prefix begins the names of functions, which are given without it.
	Prefix string
}

// New returns figures of which nothing is added up.
func New(o Options) *Figures {
	return &Figures{
		options: o, steps: map[metric.Step]*stepFigures{}, functions: map[string]*functionFigures{},
		requests: requestFigures{byStatus: map[string]int64{}}, batches: map[string]batchState{},
		ended: map[batch.Status]int64{}, stages: map[string]Stage{},
	}
}

type stepFigures struct {
	outcomes map[metric.Outcome]int64
	amounts  map[metric.Name]float64
	times    durations
	busy     intervals
	memory   int64
}

type functionFigures struct {
	calls, failed, throttled int64
	times                    durations
	memory, limit            int64
}

type requestFigures struct {
	byStatus map[string]int64
	times    durations
}

// batchState is the status of a batch that is not over.
type batchState struct {
	status batch.Status
	since  time.Time
}

// record is what counts of a line, of whichever kind.
type record struct {
	// Kind is that of records of steps, of gauges and of the audit trail, and Type that of Lambda's own.
	Kind string `json:"record"`
	Type string `json:"type"`

	Time  time.Time    `json:"time"`
	Batch string       `json:"batch"`
	To    batch.Status `json:"to"`
	// HTTPStatus is "status" in a record of a request, which is a number there; a report has a text.
	HTTPStatus json.RawMessage `json:"status"`
	RequestMS  float64         `json:"ms"`

	DurationMS  float64 `json:"durationMs"`
	MemoryMB    int64   `json:"memorySizeMB"`
	MaxMemoryMB int64   `json:"maxMemoryUsedMB"`

	Step    metric.Step
	Outcome metric.Outcome
	Stage   string
	Lines, Bytes, Findings, Names, Milliseconds,
	PeakMemory, WaitingBatches, OldestWaitSeconds, UsedSlots float64
}

// Add adds one line that a function printed at a time. Lines that say nothing of interest are ignored.
func (f *Figures) Add(at time.Time, function string, text []byte) {
	if !bytes.HasPrefix(text, []byte("{")) || !isOfInterest(text) {
		return
	}
	var r record
	if json.Unmarshal(text, &r) != nil || f.options.Batch != "" && r.Batch != f.options.Batch {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Kind == "transition" && r.Batch != "" {
		f.addTransition(r)
	}
	if at.Before(f.options.Since) {
		return
	}
	if f.first.IsZero() {
		f.first = at
	}
	f.last = at
	name := strings.TrimPrefix(function, f.options.Prefix+"-")
	switch {
	case r.Kind == "step":
		f.addStep(at, r)
	case r.Kind == "gauge" && r.Stage != "":
		f.stages[r.Stage] = Stage{r.Stage, int64(r.WaitingBatches), r.OldestWaitSeconds, int64(r.UsedSlots)}
	case r.Kind == "audit" && len(r.HTTPStatus) > 0:
		f.requests.byStatus[string(r.HTTPStatus[:1])+"xx"]++
		f.requests.times.add(r.RequestMS)
	case r.Type == "platform.report":
		f.addReport(name, r)
	case r.Type == "platform.throttled":
		f.function(name).throttled++
	}
}

// isOfInterest reports whether a line may be one that counts, without reading all of it.
func isOfInterest(text []byte) bool {
	return bytes.Contains(text, []byte(`"record":`)) || bytes.Contains(text, []byte(`"platform.`))
}

func (f *Figures) addStep(at time.Time, r record) {
	s := f.steps[r.Step]
	if s == nil {
		s = &stepFigures{outcomes: map[metric.Outcome]int64{}, amounts: map[metric.Name]float64{}}
		f.steps[r.Step] = s
	}
	if !r.Time.IsZero() {
		at = r.Time
	}
	s.outcomes[r.Outcome]++
	for name, n := range map[metric.Name]float64{
		metric.Lines: r.Lines, metric.Bytes: r.Bytes, metric.Findings: r.Findings, metric.Names: r.Names,
	} {
		s.amounts[name] += n
	}
	s.times.add(r.Milliseconds)
	s.busy.add(at.Add(-time.Duration(r.Milliseconds*float64(time.Millisecond))), at)
	s.memory = max(s.memory, int64(r.PeakMemory))
}

func (f *Figures) function(name string) *functionFigures {
	if f.functions[name] == nil {
		f.functions[name] = &functionFigures{}
	}
	return f.functions[name]
}

func (f *Figures) addReport(name string, r record) {
	s := f.function(name)
	s.calls++
	if string(r.HTTPStatus) != `"success"` {
		s.failed++
	}
	s.times.add(r.DurationMS)
	s.memory, s.limit = max(s.memory, r.MaxMemoryMB<<20), r.MemoryMB<<20
}

func (f *Figures) addTransition(r record) {
	if !r.To.IsTerminal() {
		f.batches[r.Batch] = batchState{r.To, r.Time}
		return
	}
	delete(f.batches, r.Batch)
	if !r.Time.Before(f.options.Since) {
		f.ended[r.To]++
	}
}
