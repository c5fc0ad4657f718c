// Package idempotencytest has a store of idempotency keys in memory, and what every store must do.
package idempotencytest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/access/idempotency"
	"sluice/shared/kit/errtest"
)

// Conform tests a store against the contract of idempotency.Store. The store is used for keys of many tenants at once.
func Conform(t *testing.T, store idempotency.Store) {
	for name, test := range map[string]func(*testing.T, idempotency.Store, idempotency.Key){
		"life of a key":  testLife,
		"expiry":         testExpiry,
		"taking over":    testTakeOver,
		"release":        testRelease,
		"keys are apart": testKeysAreApart,
		"one creates":    testOneCreates,
		"one takes over": testOneTakesOver,
	} {
		t.Run(name, func(t *testing.T) {
			test(t, store, idempotency.Key{Tenant: "tenant of " + name, Path: "/path", Name: "key"})
		})
	}
}

var started = time.Date(2026, 11, 26, 8, 15, 0, 123456789, time.UTC)

// NewRecord returns the record of a run that goes on for ten seconds.
func NewRecord(run string) idempotency.Record {
	return idempotency.Record{
		Digest: idempotency.Digest{1, 2, 3}, Pinned: idempotency.Pinned{ID: "id of " + run, StartedAt: started},
		Run: run, Until: started.Add(10 * time.Second), Expires: started.Add(idempotency.Life).Truncate(time.Second),
	}
}

// must ends a test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	errtest.Fatal(t, err)
}

// create creates a record, and checks whether it is created and which one is there then.
func create(t *testing.T, s idempotency.Store, k idempotency.Key, r idempotency.Record, now time.Time,
	wantCreated bool, want idempotency.Record) {
	t.Helper()
	got, created, err := s.Create(t.Context(), k, r, now)
	must(t, err)
	if diff := cmp.Diff(want, got); created != wantCreated || diff != "" {
		t.Errorf("created %t, want %t; record (-want +got):\n%s", created, wantCreated, diff)
	}
}

func testLife(t *testing.T, s idempotency.Store, k idempotency.Key) {
	first, second := NewRecord("first"), NewRecord("second")
	create(t, s, k, first, started, true, first)
	create(t, s, k, second, started, false, first)

	must(t, s.Forget(t.Context(), k, "second"))
	create(t, s, k, second, started, false, first)
	must(t, s.Forget(t.Context(), k, "first"))
	must(t, s.Forget(t.Context(), k, "first"))
	create(t, s, k, second, started, true, second)

	answer := idempotency.Answer{Status: 201, Body: []byte(`{"a":1}`)}
	errtest.Is(t, "an answer of a run that has not the key", s.Finish(t.Context(), k, "first", answer),
		idempotency.ErrLost)
	for range 2 {
		must(t, s.Finish(t.Context(), k, "second", answer))
	}
	finished := second
	finished.Until, finished.Answer = time.Time{}, &answer
	must(t, s.Forget(t.Context(), k, "second"))
	must(t, s.Release(t.Context(), k, "second"))
	create(t, s, k, first, started, false, finished)
	if got, taken, err := s.TakeOver(t.Context(), k, "second", "third", started); taken || err != nil {
		t.Errorf("a key with an answer was taken over: %+v, error %v", got, err)
	}
}

func testExpiry(t *testing.T, s idempotency.Store, k idempotency.Key) {
	first, second := NewRecord("first"), NewRecord("second")
	create(t, s, k, first, started, true, first)
	must(t, s.Finish(t.Context(), k, "first", idempotency.Answer{Status: 200}))
	finished := first
	finished.Until, finished.Answer = time.Time{}, &idempotency.Answer{Status: 200}
	create(t, s, k, second, first.Expires.Add(-time.Second), false, finished)
	create(t, s, k, second, first.Expires, true, second)
}

func testTakeOver(t *testing.T, s idempotency.Store, k idempotency.Key) {
	if got, taken, err := s.TakeOver(t.Context(), k, "first", "second", started); taken || err != nil || got.Run != "" {
		t.Errorf("taking over a key without a record: %+v, %t, error %v; want the zero record, false", got, taken, err)
	}
	first := NewRecord("first")
	create(t, s, k, first, started, true, first)
	until := started.Add(time.Minute)
	if got, taken, err := s.TakeOver(t.Context(), k, "another", "second", until); taken || err != nil ||
		got.Run != "first" {
		t.Errorf("taking over from a run that has not the key: %+v, %t, error %v; want that of first, false", got,
			taken, err)
	}
	second := first
	second.Run, second.Until = "second", until
	got, taken, err := s.TakeOver(t.Context(), k, "first", "second", until)
	must(t, err)
	if diff := cmp.Diff(second, got); !taken || diff != "" {
		t.Errorf("taken %t, want true; record (-want +got):\n%s", taken, diff)
	}
	errtest.Is(t, "the answer of the run that lost the key",
		s.Finish(t.Context(), k, "first", idempotency.Answer{Status: 200}), idempotency.ErrLost)
	must(t, s.Release(t.Context(), k, "first"))
	must(t, s.Forget(t.Context(), k, "first"))
	create(t, s, k, first, started, false, second)
}

func testRelease(t *testing.T, s idempotency.Store, k idempotency.Key) {
	must(t, s.Release(t.Context(), k, "first")) // of a key without a record
	first := NewRecord("first")
	create(t, s, k, first, started, true, first)
	for range 2 {
		must(t, s.Release(t.Context(), k, "first"))
	}
	released := first
	released.Until = time.Time{}
	create(t, s, k, NewRecord("second"), started, false, released)
}

func testKeysAreApart(t *testing.T, s idempotency.Store, k idempotency.Key) {
	keys := []idempotency.Key{k, k, k, k}
	keys[1].Tenant += "x"
	keys[2].Path += "x"
	keys[3].Name += "x"
	for i, key := range keys {
		r := NewRecord(fmt.Sprint("run ", i))
		create(t, s, key, r, started, true, r)
	}
	for i, key := range keys {
		create(t, s, key, NewRecord("another"), started, false, NewRecord(fmt.Sprint("run ", i)))
	}
}

// race calls f from twenty goroutines, and returns how many of them it returned true to.
func race(t *testing.T, f func(i int) (bool, error)) int64 {
	t.Helper()
	var winners atomic.Int64
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			won, err := f(i)
			errtest.Is(t, "error", err, nil)
			if won {
				winners.Add(1)
			}
		})
	}
	group.Wait()
	return winners.Load()
}

func testOneCreates(t *testing.T, s idempotency.Store, k idempotency.Key) {
	if n := race(t, func(i int) (bool, error) {
		_, created, err := s.Create(t.Context(), k, NewRecord(fmt.Sprint("run ", i)), started)
		return created, err
	}); n != 1 {
		t.Errorf("%d of 20 have created the record, want 1", n)
	}
}

func testOneTakesOver(t *testing.T, s idempotency.Store, k idempotency.Key) {
	first := NewRecord("first")
	create(t, s, k, first, started, true, first)
	if n := race(t, func(i int) (bool, error) {
		_, taken, err := s.TakeOver(t.Context(), k, "first", fmt.Sprint("run ", i), started)
		return taken, err
	}); n != 1 {
		t.Errorf("%d of 20 have taken the record over, want 1", n)
	}
}

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
