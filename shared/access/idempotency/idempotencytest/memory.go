// Package idempotencytest has a store of idempotency keys in memory, and what every store must do.
package idempotencytest

import (
	"context"
	"sync"
	"time"

	"sluice/shared/access/idempotency"
)

// Memory is an idempotency.Store in memory.
type Memory struct {
	// Fault, if set before the first use, is called with the name of each method: its first error is returned in place
	// of the effect, its second one after it.
	Fault func(method string) (before, after error)

	mu      sync.Mutex
	records map[idempotency.Key]idempotency.Record
}

var _ idempotency.Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{records: map[idempotency.Key]idempotency.Record{}} }

// Record returns the stored record of a key, the zero Record if there is none.
func (m *Memory) Record(k idempotency.Key) idempotency.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[k]
}

// do runs a method on the record of a key.
func (m *Memory) do(method string, effect func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var before, after error
	if m.Fault != nil {
		before, after = m.Fault(method)
	}
	if before != nil {
		return before
	}
	effect()
	return after
}

// Create implements idempotency.Store.
func (m *Memory) Create(_ context.Context, k idempotency.Key, r idempotency.Record, now time.Time) (
	current idempotency.Record, created bool, err error) {
	err = m.do("Create", func() {
		current = m.records[k]
		if created = current.Run == "" || !current.Expires.After(now); created {
			m.records[k], current = r, r
		}
	})
	return current, created, err
}

// TakeOver implements idempotency.Store.
func (m *Memory) TakeOver(_ context.Context, k idempotency.Key, seen, run string, until time.Time) (
	current idempotency.Record, taken bool, err error) {
	err = m.do("TakeOver", func() {
		current = m.records[k]
		if taken = current.Run == seen && current.Answer == nil; taken {
			current.Run, current.Until = run, until
			m.records[k] = current
		}
	})
	return current, taken, err
}

// Finish implements idempotency.Store.
func (m *Memory) Finish(_ context.Context, k idempotency.Key, run string, a idempotency.Answer) error {
	var lost error
	err := m.do("Finish", func() {
		r := m.records[k]
		if r.Run != run {
			lost = idempotency.ErrLost
			return
		}
		r.Answer, r.Until = &a, time.Time{}
		m.records[k] = r
	})
	if err == nil {
		err = lost
	}
	return err
}

// Release implements idempotency.Store.
func (m *Memory) Release(_ context.Context, k idempotency.Key, run string) error {
	return m.do("Release", func() {
		if r := m.records[k]; r.Run == run && r.Answer == nil {
			r.Until = time.Time{}
			m.records[k] = r
		}
	})
}

// Forget implements idempotency.Store.
func (m *Memory) Forget(_ context.Context, k idempotency.Key, run string) error {
	return m.do("Forget", func() {
		if r := m.records[k]; r.Run == run && r.Answer == nil {
			delete(m.records, k)
		}
	})
}
