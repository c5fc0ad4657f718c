package metric

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"sync"
	"time"
)

// Run is one run of a step, which ends with one record. It is safe for concurrent use.
type Run struct {
	log   *Log
	step  Step
	start time.Time

	mu         sync.Mutex
	properties map[string]any
	amounts    map[Name]float64
}

type runKey struct{}

// Begin returns a context that carries a run of a step, to which the called functions add amounts and properties, and
// the run. Log may be nil.
func (l *Log) Begin(ctx context.Context, step Step) (context.Context, *Run) {
	r := &Run{log: l, step: step, properties: map[string]any{}, amounts: map[Name]float64{}}
	if l != nil {
		r.start = l.now()
	}
	return context.WithValue(ctx, runKey{}, r), r
}

// Add adds to one of the amounts of the context's run: Lines, Bytes, Findings or Names. Without a run it does nothing.
func Add(ctx context.Context, name Name, n int64) {
	if r, _ := ctx.Value(runKey{}).(*Run); r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.amounts[name] += float64(n)
	}
}

// SetProperty sets a property of the context's run, a string or a number. It must not be content of a line. Without a
// run it does nothing.
func SetProperty(ctx context.Context, property string, value any) {
	if r, _ := ctx.Value(runKey{}).(*Run); r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.properties[property] = value
	}
}

// End writes the record of the run. Amounts that are 0 are no metrics: nothing is billed for amounts that a step does
// not count.
func (r *Run) End(ctx context.Context, outcome Outcome) {
	if r.log == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	amounts := map[Name]float64{Milliseconds: float64(r.log.now().Sub(r.start).Microseconds()) / 1000}
	for name, n := range r.amounts {
		if n != 0 {
			amounts[name] = n
		}
	}
	if memory := peakMemory(); memory > 0 {
		amounts[PeakMemory] = float64(memory)
	}
	r.log.Write(ctx, Record{
		Kind: "step", Message: "step ended", Properties: r.properties,
		Groups: []Group{
			{map[Dimension]string{ByStep: string(r.step)}, amounts},
			{map[Dimension]string{ByStep: string(r.step), ByOutcome: string(outcome)}, map[Name]float64{Runs: 1}},
		},
	})
}

// peakMemory returns the largest resident memory of the process so far, in bytes; 0 where the system does not tell. The
// maximum that getrusage reports is of no use: it includes the memory of the process that started this one.
func peakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	fields := bytes.Fields(rest[:min(len(rest), 32)])
	if len(fields) == 0 {
		return 0
	}
	kilobytes, _ := strconv.ParseInt(string(fields[0]), 10, 64)
	return kilobytes << 10
}
