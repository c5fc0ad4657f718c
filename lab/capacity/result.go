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
	batches []*batchRun
	// invocations is the number of runs of functions, throttled that of invocations that the account had no room for,
	// and resumed that of ingesting functions that ended before their chunk was stored.
	invocations, throttled, resumed int
	// longestQueue is the largest number of batches that waited for slots.
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

// summary is what became of batches. Times are in minutes: from the upload to the end, waiting for slots, and from the
// last upload to the end of the last batch.
type summary struct {
	batches, failed                                       int
	meanTime, worstTime, meanWait, worstWait, afterUpload float64
}

// summarise returns what became of the batches of a load, or of all without a name, in several results.
func summarise(results []result, name string) (s summary) {
	for _, r := range results {
		uploaded, last := 0.0, 0.0
		for _, b := range r.batches {
			if name != "" && b.load.name != name {
				continue
			}
			s.batches++
			if b.failed {
				s.failed++
			}
			time, wait := (b.ended-b.arrived)/60, b.waited/60
			s.meanTime, s.worstTime = s.meanTime+time, max(s.worstTime, time)
			s.meanWait, s.worstWait = s.meanWait+wait, max(s.worstWait, wait)
			uploaded, last = max(uploaded, b.arrived/60), max(last, b.ended/60)
		}
		s.afterUpload = max(s.afterUpload, last-uploaded)
	}
	s.meanTime, s.meanWait = s.meanTime/float64(s.batches), s.meanWait/float64(s.batches)
	return s
}

// hours returns the mean time of all executions of several results.
func hours(results []result) (sum float64) {
	for _, r := range results {
		sum += r.busySeconds / 3600 / float64(len(results))
	}
	return sum
}

// print prints the result.
func (r *result) print(w io.Writer) {
	for _, l := range r.loads {
		s := summarise([]result{*r}, l.name)
		fmt.Fprintf(w, "%s: %d batches of %d tenants, %d failed; %.1f minutes from upload to end, %.1f at most; "+
			"waiting for slots %.1f, %.1f at most; the last ended %.1f after the last upload\n", l.name, s.batches,
			l.tenants, s.failed, s.meanTime, s.worstTime, s.meanWait, s.worstWait, s.afterUpload)
	}
	fmt.Fprintf(w, "longest queue %d; invocations throttled %d, resumed %d; %.1f hours of executions, %.1f of them "+
		"writing\n", r.longestQueue, r.throttled, r.resumed, r.busySeconds/3600, r.writingSeconds/3600)
	fmt.Fprintf(w, "  %-32s %10s %10s %6s\n", "in the busiest second", "used", "quota", "share")
	for _, q := range r.quotas() {
		fmt.Fprintf(w, "  %-32s %10.0f %10.0f %5.0f%%\n", q.name, q.used, q.have, 100*q.used/q.have)
	}
}

// quota is a limit of AWS beside what was used of it in the busiest second.
type quota struct {
	name       string
	used, have float64
}

// peak returns the most that was used in a second, of each quota in whichever.
func (r *result) peak() (peak use) {
	for _, u := range r.uses {
		peak = use{max(peak.executions, u.executions), max(peak.units, u.units), max(peak.gets, u.gets),
			max(peak.transitions, u.transitions), max(peak.starts, u.starts)}
	}
	return peak
}

// quotas returns the limits, the one that is used most first.
func (r *result) quotas() []quota {
	peak := r.peak()
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
