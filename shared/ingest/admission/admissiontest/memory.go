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
	tickets map[admission.Stage]map[admission.Place]admission.Ticket
	gates   map[admission.Stage]admission.Gate
}

var _ admission.Queue = (*Memory)(nil)

// NewMemory returns an empty queue.
func NewMemory() *Memory {
	return &Memory{
		tickets: map[admission.Stage]map[admission.Place]admission.Ticket{},
		gates:   map[admission.Stage]admission.Gate{},
	}
}

// Put implements admission.Queue.
func (m *Memory) Put(_ context.Context, t admission.Ticket) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, exists := m.tickets[t.Stage][t.Place]; exists && old.Attempt.String() > t.Attempt.String() {
		return admission.ErrSuperseded
	}
	if m.tickets[t.Stage] == nil {
		m.tickets[t.Stage] = map[admission.Place]admission.Ticket{}
	}
	m.tickets[t.Stage][t.Place] = t
	return nil
}

// Remove implements admission.Queue.
func (m *Memory) Remove(_ context.Context, t admission.Ticket) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, exists := m.tickets[t.Stage][t.Place]; exists && old.Attempt.String() == t.Attempt.String() {
		delete(m.tickets[t.Stage], t.Place)
	}
	return nil
}

// Withdraw implements admission.Queue.
func (m *Memory) Withdraw(_ context.Context, s admission.Stage, p admission.Place) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.tickets[s], p)
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
func (m *Memory) waiting(s admission.Stage) []admission.Place {
	return slices.SortedFunc(maps.Keys(m.tickets[s]), comparePlaces)
}

// first returns the first ticket at a place that satisfies a condition.
func (m *Memory) first(s admission.Stage, matches func(admission.Place) bool) (admission.Ticket, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var first admission.Ticket
	found := false
	for p, t := range m.tickets[s] {
		if matches(p) && (!found || comparePlaces(p, first.Place) < 0) {
			first, found = t, true
		}
	}
	return first, found, nil
}

// FirstAfterTenant implements admission.Queue.
func (m *Memory) FirstAfterTenant(_ context.Context, s admission.Stage, tenant string) (admission.Ticket, bool, error) {
	return m.first(s, func(p admission.Place) bool { return p.Tenant > tenant })
}

// FirstAfter implements admission.Queue.
func (m *Memory) FirstAfter(_ context.Context, s admission.Stage, p admission.Place) (admission.Ticket, bool, error) {
	return m.first(s, func(other admission.Place) bool { return comparePlaces(other, p) > 0 })
}

// Tickets implements admission.Queue.
func (m *Memory) Tickets(_ context.Context, s admission.Stage, places []admission.Place) ([]admission.Ticket, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []admission.Ticket
	for _, p := range places {
		if t, exists := m.tickets[s][p]; exists {
			found = append(found, t)
		}
	}
	return found, nil
}

// Waiting implements admission.Queue.
func (m *Memory) Waiting(_ context.Context, s admission.Stage, atMost int) ([]admission.Place, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	places := m.waiting(s)
	if atMost > 0 {
		places = places[:min(atMost, len(places))]
	}
	return places, nil
}

// Gate implements admission.Queue.
func (m *Memory) Gate(_ context.Context, s admission.Stage) (admission.Gate, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gate(s), nil
}

// gate returns a copy of the gate of a stage.
func (m *Memory) gate(s admission.Stage) admission.Gate {
	g := m.gates[s]
	g.Stage, g.Holders = s, maps.Clone(g.Holders)
	if g.Holders == nil {
		g.Holders = map[batch.ID]admission.Holder{}
	}
	return g
}

// Admit implements admission.Queue.
func (m *Memory) Admit(_ context.Context, g admission.Gate, p admission.Place, at time.Time) (admission.Gate, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := m.gate(g.Stage)
	if next.Version != g.Version {
		return admission.Gate{}, admission.ErrContended
	}
	next.Version, next.Turn = next.Version+1, p.Tenant
	next.Holders[p.Batch] = admission.Holder{Place: p, Since: at, LookAt: at}
	m.gates[g.Stage] = next
	return m.gate(g.Stage), nil
}

// Release implements admission.Queue.
func (m *Memory) Release(_ context.Context, s admission.Stage, id batch.ID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := m.gate(s)
	next.Version++
	delete(next.Holders, id)
	m.gates[s] = next
	return nil
}

// Postpone implements admission.Queue.
func (m *Memory) Postpone(_ context.Context, s admission.Stage, id batch.ID, at time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := m.gate(s)
	if h, isHolder := next.Holders[id]; isHolder {
		h.LookAt = at
		next.Holders[id] = h
		m.gates[s] = next
	}
	return nil
}
