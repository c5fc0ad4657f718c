package figures

import (
	"math"
	"slices"
	"time"
)

// maxDurations is how many durations are kept for quantiles: the latest.
const maxDurations = 10_000

// durations are durations in milliseconds.
type durations struct {
	latest   []float64
	next     int
	count    int64
	sum, max float64
}

func (d *durations) add(ms float64) {
	if len(d.latest) < maxDurations {
		d.latest = append(d.latest, ms)
	} else {
		d.latest[d.next] = ms
		d.next = (d.next + 1) % maxDurations
	}
	d.count++
	d.sum += ms
	d.max = max(d.max, ms)
}

// summary returns the quantiles of the latest durations: the smallest value that is not less than the share of them.
func (d *durations) summary() Times {
	t := Times{Count: d.count, SumMS: round(d.sum), MaxMS: round(d.max)}
	if len(d.latest) == 0 {
		return t
	}
	sorted := slices.Sorted(slices.Values(d.latest))
	quantile := func(q float64) float64 {
		return round(sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)])
	}
	t.P50MS, t.P99MS = quantile(0.5), quantile(0.99)
	return t
}

// round rounds to a thousandth.
func round(v float64) float64 { return math.Round(v*1000) / 1000 }

// intervals is the time in which at least one of several runs was in progress. Runs are added in the order of their
// ends, or nearly.
type intervals struct {
	// apart are intervals that do not overlap, in order. total is the length of those before them.
	apart []interval
	total time.Duration
}

type interval struct{ start, end time.Time }

// maxApart is how many intervals are kept. A run that began before them counts from their beginning.
const maxApart = 1000

func (s *intervals) add(start, end time.Time) {
	for n := len(s.apart); n > 0 && !s.apart[n-1].end.Before(start); n = len(s.apart) {
		last := s.apart[n-1]
		if last.start.Before(start) {
			start = last.start
		}
		if last.end.After(end) {
			end = last.end
		}
		s.apart = s.apart[:n-1]
	}
	s.apart = append(s.apart, interval{start, end})
	if len(s.apart) > maxApart {
		s.total += s.apart[0].end.Sub(s.apart[0].start)
		s.apart = slices.Delete(s.apart, 0, 1)
	}
}

// length returns the sum of the intervals.
func (s *intervals) length() time.Duration {
	sum := s.total
	for _, i := range s.apart {
		sum += i.end.Sub(i.start)
	}
	return sum
}
