package webhook

import "time"

// Policy says when a delivery is tried again, when it is given up, and when its webhook is disabled.
type Policy struct {
	// FirstPause is the pause after the first attempt. Each further one is twice as long, up to MaxPause.
	FirstPause, MaxPause time.Duration
	// Patience is the time from the beginning of a run after which it is given up.
	Patience time.Duration
	// DisableAfter is how long no delivery may have succeeded until giving one up disables the webhook.
	DisableAfter time.Duration
}

// NextAttempt returns when to try again after a number of failed attempts of a run, the last of which ended now. ok is
// false if the run is given up. The last attempt is made when the patience ends. random, in [0, 1), spreads the
// attempts of many deliveries: a pause is between 3/4 and 5/4 of its length.
func (p Policy) NextAttempt(runAt, now time.Time, failed int, random float64) (at time.Time, ok bool) {
	end := runAt.Add(p.Patience)
	if !now.Before(end) {
		return time.Time{}, false
	}
	pause := p.FirstPause
	for i := 1; i < failed && pause < p.MaxPause; i++ {
		pause *= 2
	}
	pause = min(pause, p.MaxPause)
	pause = pause*3/4 + time.Duration(random*float64(pause)/2)
	if at = now.Add(pause); at.After(end) {
		at = end
	}
	return at, true
}

// DisablesAt returns the time from which giving up a delivery disables a webhook with such health; zero if it works.
func (p Policy) DisablesAt(h Health) time.Time {
	if h.FailingSince.IsZero() {
		return time.Time{}
	}
	return h.FailingSince.Add(p.DisableAfter)
}
