// Package ratelimit limits how many requests a tenant, or a source address, may make: the arithmetic of the limits, the
// limits that there are with the settings that change them for a tenant, and the Limiter that a function asks.
//
// A limit has one or more windows, such as 200 requests a minute and 2,500 an hour. Each window is a bucket that holds
// as many requests as it allows in its period, fills evenly, and is full at first. A request takes one from each
// bucket, and is refused if one of them is empty. So nobody makes more than the burst, Window.Requests, and what the
// bucket gains in the meantime.
//
// Buckets are stored by package ratelimitdb, and shared by all functions.
package ratelimit

import (
	"math"
	"time"
)

// Window allows a number of requests in a period.
type Window struct {
	Period   time.Duration
	Requests int64
}

// interval is the time in which a bucket gains one request.
func (w Window) interval() time.Duration { return max(w.Period/time.Duration(w.Requests), 1) }

// capacity is the time in which an empty bucket becomes full: the period, less the remainder of the division.
func (w Window) capacity() time.Duration { return w.interval() * time.Duration(w.Requests) }

// Limit is the windows of one limit for one tenant. Without windows, everything is allowed.
type Limit struct {
	Name    Name
	Windows []Window
}

// State has the time at which the bucket of each window, by its period, is full again. A time that has passed, and no
// time, mean that it is full now. That is all there is to a bucket: its content follows from the time until it is full.
// A change of Window.Requests keeps the proportion.
type State map[time.Duration]time.Time

// maxSkew is how far the clock of the function that wrote a state may be ahead of ours. A later time cannot be true: a
// clock was wrong once, and must not shut a tenant out for as long as it was wrong.
const maxSkew = time.Minute

// lag returns the time until a bucket is full; 0 if it is full, or if the stored time is impossible.
func (w Window) lag(s State, now time.Time) time.Duration {
	at := s[w.Period]
	if at.Before(now) || at.After(w.implausible(now)) {
		return 0
	}
	return at.Sub(now)
}

// implausible is the time after which a stored time counts as written by a wrong clock.
func (w Window) implausible(now time.Time) time.Time { return now.Add(w.Period + maxSkew) }

// remaining returns how many requests are in a bucket.
func (w Window) remaining(s State, now time.Time) int64 {
	return int64(max(w.capacity()-w.lag(s, now), 0) / w.interval())
}

// Remaining returns how many requests may be made now: those in the bucket with the fewest.
func (l Limit) Remaining(s State, now time.Time) int64 {
	least := int64(math.MaxInt64)
	for _, w := range l.Windows {
		least = min(least, w.remaining(s, now))
	}
	return least
}

// Wait returns how long it takes until a number of requests may be made; 0 if they may be made now. It is no more than
// the burst of the smallest window.
func (l Limit) Wait(s State, now time.Time, requests int64) time.Duration {
	wait := time.Duration(0)
	for _, w := range l.Windows {
		n := min(requests, w.Requests)
		wait = max(wait, w.lag(s, now)+time.Duration(n)*w.interval()-w.capacity())
	}
	return wait
}

// Growth returns how long it takes until Remaining grows; 0 if every bucket is full.
func (l Limit) Growth(s State, now time.Time) time.Duration {
	remaining := l.Remaining(s, now)
	growth := time.Duration(0)
	for _, w := range l.Windows {
		if lag := w.lag(s, now); lag > 0 && w.remaining(s, now) == remaining {
			growth = max(growth, lag+time.Duration(remaining+1)*w.interval()-w.capacity())
		}
	}
	return growth
}

// Change is a write that takes requests from the buckets of a limit. It is made only if each bucket is as its step
// assumes; nothing is assumed of what others take from a bucket that is not full, so their writes do not
// get into each other's way.
type Change struct {
	Steps []Step
	// Now is the time of the function that takes.
	Now time.Time
	// Expires is when all buckets are full at the latest, so that the state may be forgotten.
	Expires time.Time
}

// Step is the effect of a Change on one window.
type Step struct {
	Period time.Duration
	// WasFull means that the bucket was full: there is no time, one that is not after Change.Now, or one after
	// Implausible. The new time is Change.Now and Add.
	WasFull bool
	// Otherwise the time is after Change.Now and not after Latest, and becomes later by Add.
	Latest      time.Time
	Implausible time.Time
	Add         time.Duration
}

// change returns the write that takes requests from the buckets, if each of them is full, or not, as in s.
func (l Limit) change(s State, now time.Time, requests int64) Change {
	c := Change{Now: now, Expires: now}
	for _, w := range l.Windows {
		add := time.Duration(requests) * w.interval()
		c.Steps = append(c.Steps, Step{
			Period: w.Period, WasFull: w.lag(s, now) == 0, Add: add,
			Latest: now.Add(w.capacity() - add), Implausible: w.implausible(now),
		})
		if at := w.implausible(now).Add(w.Period); at.After(c.Expires) {
			c.Expires = at
		}
	}
	return c
}
