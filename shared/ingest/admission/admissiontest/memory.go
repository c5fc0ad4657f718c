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
	// Before runs before each call unless it is nil.
	Before func()

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

// begin begins a call, and returns what ends it.
func (m *Memory) begin() (end func()) {
	if m.Before != nil {
		m.Before()
	}
	m.mu.Lock()
	return m.mu.Unlock
}

// Put implements admission.Queue.
func (m *Memory) Put(_ context.Context, t admission.Ticket) error {
	defer m.begin()()
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
	defer m.begin()()
	if old, exists := m.tickets[t.Pool][t.Place]; exists && old.Attempt.String() == t.Attempt.String() {
		delete(m.tickets[t.Pool], t.Place)
	}
	return nil
}

// Withdraw implements admission.Queue.
func (m *Memory) Withdraw(_ context.Context, pool admission.Pool, p admission.Place) error {
	defer m.begin()()
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

// After implements admission.Queue.
func (m *Memory) After(_ context.Context, pool admission.Pool, p admission.Place, atMost int) ([]admission.Ticket,
	error) {
	defer m.begin()()
	var tickets []admission.Ticket
	for _, other := range m.waiting(pool) {
		isAfter := comparePlaces(other, p) > 0 && (p.Batch != "" || other.Tenant > p.Tenant)
		if isAfter && len(tickets) < atMost {
			tickets = append(tickets, m.tickets[pool][other])
		}
	}
	return tickets, nil
}

// Tickets implements admission.Queue.
func (m *Memory) Tickets(_ context.Context, pool admission.Pool, places []admission.Place) ([]admission.Ticket, error) {
	defer m.begin()()
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
	defer m.begin()()
	places := m.waiting(pool)
	if atMost > 0 {
		places = places[:min(atMost, len(places))]
	}
	return places, nil
}

// Gate implements admission.Queue.
func (m *Memory) Gate(_ context.Context, pool admission.Pool) (admission.Gate, error) {
	defer m.begin()()
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
func (m *Memory) Admit(_ context.Context, g admission.Gate, at time.Time,
	tickets ...admission.Ticket) (admission.Gate, error) {
	var holders []admission.Holder
	for _, t := range tickets {
		holders = append(holders, admission.HolderOf(t, at))
	}
	return m.change(g, func(g admission.Gate) admission.Gate { return g.WithHolders(holders...) })
}

// EndRound implements admission.Queue.
func (m *Memory) EndRound(_ context.Context, g admission.Gate, id batch.ID) (admission.Gate, error) {
	return m.change(g, func(g admission.Gate) admission.Gate {
		if _, isHolder := g.Holders[id]; !isHolder {
			return g
		}
		return g.WithoutHolder(id)
	})
}

// Adapt implements admission.Queue.
func (m *Memory) Adapt(_ context.Context, g admission.Gate, slots int, at time.Time) (admission.Gate, error) {
	return m.change(g, func(g admission.Gate) admission.Gate { return g.WithSlots(slots, at) })
}

// change stores the next version of a gate, if the stored one has the version of the given one and there is a next one.
// It returns what becomes of the given one.
func (m *Memory) change(g admission.Gate, next func(admission.Gate) admission.Gate) (admission.Gate, error) {
	defer m.begin()()
	stored := m.gate(g.Pool)
	changed := next(stored)
	if stored.Version != g.Version || changed.Version == stored.Version {
		return admission.Gate{}, admission.ErrContended
	}
	m.gates[g.Pool] = changed
	return next(g), nil
}

// SetRefused implements admission.Queue.
func (m *Memory) SetRefused(_ context.Context, pool admission.Pool, at time.Time) error {
	defer m.begin()()
	if g, isStored := m.gates[pool]; isStored {
		g.RefusedAt = at
		m.gates[pool] = g
	}
	return nil
}

// Release implements admission.Queue.
func (m *Memory) Release(_ context.Context, pool admission.Pool, id batch.ID) error {
	defer m.begin()()
	next := m.gate(pool)
	if _, isHolder := next.Holders[id]; !isHolder {
		next.Version++
	}
	delete(next.Holders, id)
	m.gates[pool] = next
	return nil
}

// Postpone implements admission.Queue.
func (m *Memory) Postpone(_ context.Context, pool admission.Pool, id batch.ID, at time.Time) error {
	defer m.begin()()
	next := m.gate(pool)
	if h, isHolder := next.Holders[id]; isHolder {
		h.LookAt = at
		next.Holders[id] = h
		m.gates[pool] = next
	}
	return nil
}
