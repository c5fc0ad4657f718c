package gateway

import (
	"sync"
	"time"
)

// throttle bounds the requests to each route by a token bucket. "Throttle requests to your REST APIs for better
// throughput" in AWS's documents: limits of a stage apply to each method on its own. It is safe for concurrent use. nil
// bounds nothing.
type throttle struct {
	rate, burst float64
	now         func() time.Time

	mu sync.Mutex
	// buckets holds the tokens of each route that was called, by its method and path.
	buckets map[string]*bucket
}

// bucket is the token bucket of a route.
type bucket struct {
	// tokens are those left at the time at.
	tokens float64
	at     time.Time
}

// newThrottle returns the throttle of an API without a limit, nil, or with one.
func newThrottle(c Config) *throttle {
	if !c.Throttles {
		return nil
	}
	return &throttle{
		rate: c.API.ThrottlingRate, burst: c.API.ThrottlingBurst, now: c.Now, buckets: map[string]*bucket{},
	}
}

// admits takes a token of a route. It returns false if there is none.
func (t *throttle) admits(route string) bool {
	if t == nil {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	b := t.buckets[route]
	if b == nil {
		b = &bucket{t.burst, now}
		t.buckets[route] = b
	}
	b.tokens = min(b.tokens+now.Sub(b.at).Seconds()*t.rate, t.burst)
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
