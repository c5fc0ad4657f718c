package main

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// result is what came of a simulation.
type result struct {
	assumptions
	batches []*batch
	// throttled is the number of invocations that the account had no room for, and resumed that of ingesting functions
	// that were invoked again at the end of their budget.
	throttled, resumed int
	// longestQueue is the largest number of batches that waited at one stage.
	longestQueue int
	// busySeconds is the time of all executions, and writingSeconds that of those which stored lines.
	busySeconds, writingSeconds float64
	// uses are what was used in each second.
	uses       map[int]*use
	finalUnits float64
}

// use is what was used within a second.
type use struct{ executions, units, gets, transitions, starts float64 }

func newResult(a assumptions) result { return result{assumptions: a, uses: map[int]*use{}} }

// note changes what was used in the second of a time.
func (r *result) note(at float64, change func(*use)) {
	u := r.uses[int(at)]
	if u == nil {
		u = &use{}
		r.uses[int(at)] = u
	}
	change(u)
}

// spread changes what was used in each second of a period, of which each has a share.
func (r *result) spread(at, seconds float64, change func(u *use, share float64)) {
	for end := at + seconds; at < end; {
		next := min(math.Floor(at)+1, end)
		r.note(at, func(u *use) { change(u, (next-at)/seconds) })
		at = next
	}
}

// failures returns the number of batches that failed.
func (r *result) failures() (n int) {
	for _, b := range r.batches {
		if b.failed {
			n++
		}
	}
	return n
}

// last returns when the last batch ended, in seconds after the beginning.
func (r *result) last() (last float64) {
	for _, b := range r.batches {
		last = max(last, b.ended)
	}
	return last
}

// print prints the result, and each batch if asked to.
func (r *result) print(w io.Writer, each bool) {
	if each {
		fmt.Fprintf(w, "%5s %6s %9s %9s %9s %9s %9s %s\n", "batch", "tenant", "arrived", "validated", "ingested",
			"ended", "minutes", "outcome")
		for _, b := range r.batches {
			outcome := "PROCESSED"
			if b.failed {
				outcome = "ERROR"
			}
			fmt.Fprintf(w, "%5d %6d %9.0f %9.0f %9.0f %9.0f %9.1f %s\n", b.id, b.tenant, b.arrived, b.verdict,
				b.ingested, b.ended, (b.ended-b.arrived)/60, outcome)
		}
		fmt.Fprintln(w)
	}
	lines, bytes := 0.0, 0.0
	var took, queued []float64
	for _, b := range r.batches {
		if b.failed {
			continue
		}
		lines, bytes = lines+b.lines, bytes+b.bytes
		took = append(took, (b.ended-b.arrived)/60)
		queued = append(queued, (b.admitted-b.arrived-b.bytes/r.ScanSpeed+b.ingested-b.verdict)/60)
	}
	fmt.Fprintf(w, "%d batches of %d tenants, %.1f GB, %.0f million lines; %d failed\n", len(r.batches), r.Tenants,
		bytes/1e9, lines/1e6, r.failures())
	fmt.Fprintf(w, "the last ended after %.0f minutes; from upload to end %s minutes, of which waiting for slots %s\n",
		r.last()/60, percentiles(took), percentiles(queued))
	fmt.Fprintf(w, "longest queue %d; invocations throttled %d, resumed %d; %.1f hours of executions, %.1f of them "+
		"writing\n",
		r.longestQueue, r.throttled, r.resumed, r.busySeconds/3600, r.writingSeconds/3600)
	r.printUse(w)
}

// percentiles returns the median, the 90th and 99th percentile and the maximum of values.
func percentiles(values []float64) string {
	if len(values) == 0 {
		return "none"
	}
	slices.Sort(values)
	at := func(share float64) float64 { return values[int(share*float64(len(values)-1))] }
	return fmt.Sprintf("%.1f (p90 %.1f, p99 %.1f, max %.1f)", at(0.5), at(0.9), at(0.99), at(1))
}

// quota is a limit of AWS beside what was used of it in the busiest second.
type quota struct {
	name       string
	used, have float64
}

// quotas returns the limits, the one that is used most first.
func (r *result) quotas() []quota {
	var peak use
	for _, u := range r.uses {
		peak = use{max(peak.executions, u.executions), max(peak.units, u.units), max(peak.gets, u.gets),
			max(peak.transitions, u.transitions), max(peak.starts, u.starts)}
	}
	all := []quota{
		{"concurrent executions", peak.executions + float64(r.Base), float64(r.Executions)},
		{"write units a second", peak.units, r.finalUnits},
		{"GETs of work files a second", peak.gets, float64(5500 * r.Prefixes)},
		{"state transitions a second", peak.transitions, float64(r.Transitions)},
		{"StartExecution a second", peak.starts, 300},
	}
	slices.SortStableFunc(all, func(x, y quota) int {
		return -int(math.Copysign(1, x.used/x.have-y.used/y.have))
	})
	return all
}

func (r *result) printUse(w io.Writer) {
	fmt.Fprintf(w, "  %-32s %10s %10s %6s\n", "in the busiest second", "used", "quota", "share")
	for _, q := range r.quotas() {
		fmt.Fprintf(w, "  %-32s %10.0f %10.0f %5.0f%%\n", q.name, q.used, q.have, 100*q.used/q.have)
	}
}
