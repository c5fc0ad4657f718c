// Package admissiontest tests implementations of admission.Queue against the contract of that interface, and has one in
// memory for the tests of others.
package admissiontest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
)

// Memory is an admission.Queue in memory.
type Memory struct {
	mu      sync.Mutex
	tickets map[admission.Pool]map[admission.Place]admission.Ticket
	gates   map[admission.Pool]admission.Gate
}

var _ admission.Queue = (*Memory)(nil)

// NewMemory returns an empty queue.
func NewMemory() *Memory {
	return &Memory{
		tickets: map[admission.Pool]map[admission.Place]admission.Ticket{},
		gates:   map[admission.Pool]admission.Gate{},
	}
}

// Put implements admission.Queue.
func (m *Memory) Put(_ context.Context, t admission.Ticket) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, exists := m.tickets[t.Pool][t.Place]; exists && old.Attempt.String() > t.Attempt.String() {
		return admission.ErrSuperseded
	}
	if m.tickets[t.Pool] == nil {
		m.tickets[t.Pool] = map[admission.Place]admission.Ticket{}
	}
	m.tickets[t.Pool][t.Place] = t
	return nil
}

// Remove implements admission.Queue.
func (m *Memory) Remove(_ context.Context, t admission.Ticket) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, exists := m.tickets[t.Pool][t.Place]; exists && old.Attempt.String() == t.Attempt.String() {
		delete(m.tickets[t.Pool], t.Place)
	}
	return nil
}

// Withdraw implements admission.Queue.
func (m *Memory) Withdraw(_ context.Context, pool admission.Pool, p admission.Place) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.tickets[pool], p)
	return nil
}

// comparePlaces compares places in the order in which they wait.
func comparePlaces(a, b admission.Place) int {
	if c := strings.Compare(a.Tenant, b.Tenant); c != 0 {
		return c
	}
	if c := a.ReceivedAt.Compare(b.ReceivedAt); c != 0 {
		return c
	}
	return strings.Compare(string(a.Batch), string(b.Batch))
}

// waiting returns the places of all tickets in order.
func (m *Memory) waiting(pool admission.Pool) []admission.Place {
	return slices.SortedFunc(maps.Keys(m.tickets[pool]), comparePlaces)
}

// first returns the first ticket at a place that satisfies a condition.
func (m *Memory) first(pool admission.Pool, matches func(admission.Place) bool) (admission.Ticket, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var first admission.Ticket
	found := false
	for p, t := range m.tickets[pool] {
		if matches(p) && (!found || comparePlaces(p, first.Place) < 0) {
			first, found = t, true
		}
	}
	return first, found, nil
}

// FirstAfterTenant implements admission.Queue.
func (m *Memory) FirstAfterTenant(_ context.Context, pool admission.Pool, tenant string) (admission.Ticket, bool,
	error) {
	return m.first(pool, func(p admission.Place) bool { return p.Tenant > tenant })
}

// FirstAfter implements admission.Queue.
func (m *Memory) FirstAfter(_ context.Context, pool admission.Pool, p admission.Place) (admission.Ticket, bool, error) {
	return m.first(pool, func(other admission.Place) bool { return comparePlaces(other, p) > 0 })
}

// Tickets implements admission.Queue.
func (m *Memory) Tickets(_ context.Context, pool admission.Pool, places []admission.Place) ([]admission.Ticket, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []admission.Ticket
	for _, p := range places {
		if t, exists := m.tickets[pool][p]; exists {
			found = append(found, t)
		}
	}
	return found, nil
}

// Waiting implements admission.Queue.
func (m *Memory) Waiting(_ context.Context, pool admission.Pool, atMost int) ([]admission.Place, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	places := m.waiting(pool)
	if atMost > 0 {
		places = places[:min(atMost, len(places))]
	}
	return places, nil
}

// Gate implements admission.Queue.
func (m *Memory) Gate(_ context.Context, pool admission.Pool) (admission.Gate, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gate(pool), nil
}

// gate returns a copy of the gate of a pool.
func (m *Memory) gate(pool admission.Pool) admission.Gate {
	g := m.gates[pool]
	g.Pool, g.Holders = pool, maps.Clone(g.Holders)
	if g.Holders == nil {
		g.Holders = map[batch.ID]admission.Holder{}
	}
	return g
}

// Admit implements admission.Queue.
func (m *Memory) Admit(_ context.Context, g admission.Gate, t admission.Ticket, at time.Time) (admission.Gate, error) {
	return m.replace(g, g.WithHolder(admission.Holder{Place: t.Place, Round: t.Round, Since: at, LookAt: at}))
}

// EndRound implements admission.Queue.
func (m *Memory) EndRound(_ context.Context, g admission.Gate, id batch.ID) (admission.Gate, error) {
	return m.replace(g, g.WithoutHolder(id))
}

// Adapt implements admission.Queue.
func (m *Memory) Adapt(_ context.Context, g admission.Gate, slots int, at time.Time) (admission.Gate, error) {
	return m.replace(g, g.WithSlots(slots, at))
}

// replace stores the next version of a gate. Changes that leave the version stay.
func (m *Memory) replace(g, next admission.Gate) (admission.Gate, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stored := m.gate(g.Pool)
	if stored.Version != g.Version {
		return admission.Gate{}, admission.ErrContended
	}
	next.RefusedAt = stored.RefusedAt
	for id, h := range stored.Holders {
		if kept, isHolder := next.Holders[id]; isHolder && h.Since.Equal(kept.Since) {
			next.Holders[id] = h
		}
	}
	m.gates[g.Pool] = next
	return m.gate(g.Pool), nil
}

// SetRefused implements admission.Queue.
func (m *Memory) SetRefused(_ context.Context, pool admission.Pool, at time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if g, isStored := m.gates[pool]; isStored {
		g.RefusedAt = at
		m.gates[pool] = g
	}
	return nil
}

// Release implements admission.Queue.
func (m *Memory) Release(_ context.Context, pool admission.Pool, id batch.ID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := m.gate(pool)
	next.Version++
	delete(next.Holders, id)
	m.gates[pool] = next
	return nil
}

// Postpone implements admission.Queue.
func (m *Memory) Postpone(_ context.Context, pool admission.Pool, id batch.ID, at time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := m.gate(pool)
	if h, isHolder := next.Holders[id]; isHolder {
		h.LookAt = at
		next.Holders[id] = h
		m.gates[pool] = next
	}
	return nil
}
