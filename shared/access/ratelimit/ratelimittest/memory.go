// Package ratelimittest has a store of buckets in memory, and what every store must do.
package ratelimittest

import (
	"context"
	"maps"
	"sync"
	"time"

	"sluice/shared/access/ratelimit"
)

// Memory is a ratelimit.Store in memory.
type Memory struct {
	// Fail, if set before the first use, is asked at the start of each call; its error is returned and nothing is
	// changed.
	Fail func() error

	mu     sync.Mutex
	states map[string]ratelimit.State
	writes int
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{states: map[string]ratelimit.State{}} }

// Writes returns how often Apply was called.
func (m *Memory) Writes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes
}

// Apply implements ratelimit.Store.
func (m *Memory) Apply(_ context.Context, key string, c ratelimit.Change) (ratelimit.State, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	if m.Fail != nil {
		if err := m.Fail(); err != nil {
			return nil, false, err
		}
	}
	next := maps.Clone(m.states[key])
	if next == nil {
		next = ratelimit.State{}
	}
	for _, step := range c.Steps {
		at, exists := next[step.Period]
		isFull := !exists || !at.After(c.Now) || at.After(step.Implausible)
		switch {
		case step.WasFull && isFull:
			next[step.Period] = c.Now.Add(step.Add)
		case !step.WasFull && exists && at.After(c.Now) && !at.After(step.Latest):
			next[step.Period] = at.Add(step.Add)
		default:
			return maps.Clone(m.states[key]), false, nil
		}
	}
	m.states[key] = next
	return maps.Clone(next), true, nil
}

// Set sets the state of a key.
func (m *Memory) Set(key string, period time.Duration, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.states[key] = ratelimit.State{period: at}
}
