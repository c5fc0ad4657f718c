package ratelimit

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Store keeps the states of buckets. It is safe for concurrent use, by functions with different clocks, too.
type Store interface {
	// Apply makes a change of the buckets of a key, as one conditional write, and returns the state that it has then.
	// If the buckets are not as the change assumes, it changes nothing and returns false, with their state as it is. An
	// error means that the outcome is unknown; Apply does not repeat anything.
	Apply(ctx context.Context, key string, c Change) (state State, applied bool, err error)
}

// Limiter decides about requests by the buckets in a store. It is safe for concurrent use.
//
// A request is one conditional write in the usual case: a function remembers what it saw last, so it knows whether the
// buckets are full, which is all that a write assumes. A second write is needed when others have used the buckets in
// the meantime in a way that it could not expect. A refusal costs no write while what the function has seen is reason
// enough for it.
//
// How exact it is: in any period of time, nobody makes more requests than the burst and what the bucket gains in that
// period, in the largest difference between the clocks of two functions, and, of limits for each second, in
// portionLifetime. So 500 a second, with clocks that differ by 100 ms, are at most 1,150 in the worst second after a
// rest, and 500 on average.
type Limiter struct {
	store Store
	now   func() time.Time

	mu   sync.Mutex
	keys map[string]*memory
	// brokenUntil is the time before which the store is not asked again, because it has failed.
	brokenUntil time.Time
}

// NewLimiter returns a limiter on a store.
func NewLimiter(store Store, now func() time.Time) *Limiter {
	return &Limiter{store: store, now: now, keys: map[string]*memory{}}
}

const (
	// patience is how long the store may take. It is then given up: an outage of the limits must not be one of the
	// service.
	patience = time.Second
	// recovery is how long the store is left alone after it has failed, so that not every request waits for it.
	recovery = 5 * time.Second
	// refusalTime is how long a function goes on to refuse after the store has said that a bucket is empty. It is
	// shorter than any Retry-After, and bounds the cost of a flood of requests: ten writes a second for each function.
	refusalTime = 100 * time.Millisecond
	// maxWrites is how often one request is written at most. Each failure means that others have used the bucket; after
	// that many of them, it is nearly empty.
	maxWrites = 4
	// maxKeys bounds the memory of a limiter. A forgotten key costs one more write.
	maxKeys = 10_000
	// portionTime and maxPortion bound what a function takes ahead: what the bucket gains in that time. A limit for
	// each minute is never taken ahead of, unless it is very high. A limit of 500 a second would otherwise be as many
	// writes of one item, half of what DynamoDB takes.
	portionTime = 20 * time.Millisecond
	maxPortion  = 100
	// portionLifetime is how long requests that were taken ahead may be used.
	portionLifetime = 200 * time.Millisecond
)

// Decision says whether a request may be made.
type Decision struct {
	Allowed bool
	// Limited means that there is a limit, so that the other fields are set.
	Limited bool
	// Remaining is how many requests may be made now, after this one, and Reset how long it takes until there are more.
	Remaining int64
	Reset     time.Duration
	// RetryAfter is how long it takes until a refused request may be made.
	RetryAfter time.Duration
}

// ErrNotChecked means that the limit could not be checked. The request is allowed.
var ErrNotChecked = errors.New("ratelimit: the limit is not checked, because the store has just failed")

// Allow decides about one request of a subject, which is a tenant or an address, and counts it against the limit if it
// is allowed. With an error, which is to be logged, the request is allowed: the store did not answer.
func (l *Limiter) Allow(ctx context.Context, subject string, limit Limit) (Decision, error) {
	if len(limit.Windows) == 0 {
		return Decision{Allowed: true}, nil
	}
	l.mu.Lock()
	if l.now().Before(l.brokenUntil) {
		l.mu.Unlock()
		return Decision{Allowed: true}, ErrNotChecked
	}
	m := l.memoryOf(subject + "/" + string(limit.Name))
	l.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	d, err := m.allow(patient, l.store, l.now(), limit)
	if err != nil && ctx.Err() != nil {
		return Decision{Allowed: true}, err // the request has ended, which says nothing about the store
	}
	if err != nil {
		l.mu.Lock()
		l.brokenUntil = l.now().Add(recovery)
		l.mu.Unlock()
		return Decision{Allowed: true}, err
	}
	return d, nil
}

func (l *Limiter) memoryOf(key string) *memory {
	m := l.keys[key]
	if m == nil {
		if len(l.keys) >= maxKeys {
			clear(l.keys)
		}
		m = &memory{key: key, portion: 1}
		l.keys[key] = m
	}
	return m
}

// memory is the last known state of the buckets of one key.
type memory struct {
	key string

	mu sync.Mutex
	// state is the last state that the store returned. The true times are the same or later.
	state State
	// refusesUntil is the end of refusalTime.
	refusesUntil time.Time
	// held is how many requests of the last portion are left, which may be used before heldUntil.
	held      int64
	heldUntil time.Time
	// portion is how many requests are taken at once, and used how many of the last ones were needed.
	portion, used int64
}

// allow decides about one request: by those that are held, or by a write.
func (m *memory) allow(ctx context.Context, store Store, now time.Time, limit Limit) (Decision, error) {
	if m.held > 0 && now.Before(m.heldUntil) {
		m.held--
		m.used++
		return m.decide(limit, now, true), nil
	}
	if now.Before(m.refusesUntil) {
		return m.decide(limit, now, false), nil
	}
	m.adaptPortion(limit, now)
	for range maxWrites {
		requests := min(m.portion, limit.Remaining(m.state, now))
		if requests < 1 {
			return m.decide(limit, now, false), nil
		}
		state, applied, err := store.Apply(ctx, m.key, limit.change(m.state, now, requests))
		if err != nil {
			return Decision{}, err
		}
		m.state = state
		if applied {
			m.held, m.used, m.heldUntil = requests-1, 1, now.Add(portionLifetime)
			return m.decide(limit, now, true), nil
		}
		if limit.Remaining(m.state, now) < 1 {
			break
		}
	}
	m.refusesUntil = now.Add(refusalTime)
	return m.decide(limit, now, false), nil
}

// adaptPortion sets the portion to the used part of the last one, and to more if it was used up. A function that gets
// few requests takes them one by one, so that nothing is taken in vain.
func (m *memory) adaptPortion(limit Limit, now time.Time) {
	m.portion = max(m.used, 1)
	if m.held == 0 && now.Before(m.heldUntil) {
		m.portion *= 2
	}
	m.held = 0
	for _, w := range limit.Windows {
		m.portion = min(m.portion, maxPortion, max(int64(portionTime/w.interval()), 1))
	}
}

func (m *memory) decide(limit Limit, now time.Time, allowed bool) Decision {
	d := Decision{Allowed: allowed, Limited: true, Remaining: limit.Remaining(m.state, now) + m.held,
		Reset: limit.Growth(m.state, now)}
	if !allowed {
		d.Remaining = 0
		d.RetryAfter = max(limit.Wait(m.state, now, 1), m.refusesUntil.Sub(now), 1)
		d.Reset = max(d.Reset, d.RetryAfter)
	}
	return d
}
