package admission_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiontest"
	"sluice/shared/ingest/batch"
)

// model runs deciders that take turns at each call to the queue and to the tasks, in an order that follows from a seed.
// It kills some of them before or after a call, and loses answers.
type model struct {
	t      *testing.T
	random *rand.Rand
	queue  admission.Queue
	limits admission.Limits
	now    time.Time
	// deathRate is the share of calls at which the caller dies, or its answer is lost.
	deathRate float64

	batches []*modelBatch
	actors  []*actor
	// order are the batches in the order in which they were admitted.
	order []batch.ID
	// gate is the gate as it was read after the latest call that may have changed it; such a call sets isStale.
	gate    admission.Gate
	isStale bool
}

// modelBatch is a batch with the execution that waits for its slot.
type modelBatch struct {
	place   admission.Place
	attempt admission.Attempt
	// round is the round that the batch waits for or is in, and rounds how many it has.
	round, rounds int
	// token belongs to the attempt that waits; "" if none does.
	token                          string
	entered, admitted, left, ended bool
	// cancelled means that the batch has ended while its execution may wait.
	cancelled bool
}

// row returns the batch as the slots know it.
func (b *modelBatch) row() batch.Batch {
	return batch.Batch{ID: b.place.Batch, Tenant: b.place.Tenant, ReceivedAt: b.place.ReceivedAt}
}

// actor is one process that enters, leaves, assigns or sweeps. It is a coroutine: advance runs it to its next call, and
// reports whether it has one.
type actor struct {
	advance func() (step struct{}, ok bool)
}

// errDead is the error of each call of a killed actor.
var errDead = errors.New("the process was killed")

// yieldKey is the key under which the context of an actor has the function that ends its turn.
type yieldKey struct{}

// step hands control to the scheduler, and returns an error if the actor dies here.
func (m *model) step(ctx context.Context) error {
	if ctx.Err() != nil {
		return errDead
	}
	if yield := ctx.Value(yieldKey{}).(func(struct{}) bool); !yield(struct{}{}) || ctx.Err() != nil {
		return errDead
	}
	return nil
}

// call runs one call of an actor to the outside, before or after which the actor may die.
func call[T any](ctx context.Context, m *model, run func() (T, error)) (T, error) {
	var zero T
	if err := m.step(ctx); err != nil {
		return zero, err
	}
	kill := func() {
		ctx.Value(cancelKey{}).(context.CancelFunc)()
	}
	if m.random.Float64() < m.deathRate/2 {
		kill()
		return zero, errDead
	}
	out, err := run()
	switch p := m.random.Float64(); {
	case p < m.deathRate/2:
		kill()
		return zero, errDead
	case p < m.deathRate:
		return zero, errors.New("the answer was lost")
	}
	return out, err
}

type cancelKey struct{}

// start begins an actor.
func (m *model) start(run func(context.Context)) {
	ctx, cancel := context.WithCancel(m.t.Context())
	advance, stop := iter.Pull(func(yield func(struct{}) bool) {
		run(context.WithValue(context.WithValue(ctx, yieldKey{}, yield), cancelKey{}, cancel))
		cancel()
	})
	m.t.Cleanup(stop)
	m.actors = append(m.actors, &actor{advance})
}

// advance lets one actor of several run to its next call, and checks the limits.
func (m *model) advance() bool {
	if len(m.actors) == 0 {
		return false
	}
	a := m.actors[m.random.IntN(len(m.actors))]
	if _, ok := a.advance(); !ok {
		m.actors = slices.DeleteFunc(m.actors, func(other *actor) bool { return other == a })
	}
	m.checkLimits()
	return true
}

// checkLimits checks that no more batches work than have slots, and that each of them is in the gate.
func (m *model) checkLimits() {
	m.t.Helper()
	if m.isStale {
		var err error
		if m.gate, err = m.queue.Gate(m.t.Context(), admission.LargeValidation); err != nil {
			m.t.Fatal(err)
		}
		m.isStale = false
	}
	gate := m.gate
	perTenant, working := map[string]int{}, 0
	for _, h := range gate.Holders {
		perTenant[h.Tenant]++
	}
	for _, b := range m.batches {
		if !b.admitted || b.left {
			continue
		}
		working++
		if _, isHolder := gate.Holders[b.place.Batch]; !isHolder {
			m.t.Fatalf("batch %s works without a slot", b.place.Batch)
		}
	}
	if len(gate.Holders) > m.limits.Slots || working > m.limits.Slots {
		m.t.Fatalf("%d slots, %d batches work, want at most %d", len(gate.Holders), working, m.limits.Slots)
	}
	for tenant, n := range perTenant {
		if n > m.limits.PerTenant {
			m.t.Fatalf("tenant %s has %d slots, want at most %d", tenant, n, m.limits.PerTenant)
		}
	}
}

// Complete implements admission.Tasks for all batches.
func (m *model) Complete(ctx context.Context, token string) (bool, error) {
	return call(ctx, m, func() (bool, error) {
		for _, b := range m.batches {
			if b.token != token {
				continue
			}
			b.token = ""
			if b.ended {
				return false, nil
			}
			if b.cancelled { // its next step finds that the batch has ended, and ends the execution
				m.leave(b)
				return true, nil
			}
			b.admitted = true
			m.order = append(m.order, b.place.Batch)
			return true, nil
		}
		return false, nil
	})
}

// slots returns the slots as one actor sees them.
func (m *model) slots() *admission.Slots {
	return &admission.Slots{
		Queue: steppedQueue{m.queue, m}, Tasks: m,
		Limits: map[admission.Pool]admission.Limits{admission.LargeValidation: m.limits}, SmallBytes: -1,
		Now:   func() time.Time { return m.now },
		Pause: func(ctx context.Context, _ time.Duration) { _ = m.step(ctx) },
		Log:   slog.New(slog.DiscardHandler), Sequential: true,
	}
}

// enter begins the next attempt of a batch's waiting state. One whose function fails is repeated, as the state machine
// does.
func (m *model) enter(b *modelBatch) {
	if b.entered {
		b.attempt.Retry++
	}
	b.entered = true
	b.token = fmt.Sprintf("%s %s", b.place.Batch, b.attempt)
	ticket := admission.Ticket{Pool: admission.LargeValidation, Place: b.place, Attempt: b.attempt, Round: b.round,
		Token: b.token}
	m.start(func(ctx context.Context) {
		if err := m.slots().Enter(ctx, ticket); err != nil && b.token == ticket.Token && !b.ended {
			m.enter(b)
		}
	})
}

// endRound ends a round of a batch that works. After the last one the batch leaves, after another one it enters again,
// as a state that is entered later.
func (m *model) endRound(b *modelBatch) {
	if b.round++; b.round >= b.rounds {
		m.leave(b)
		return
	}
	b.admitted, b.attempt.Retry = false, 0
	b.attempt.Entered = b.attempt.Entered.Add(time.Minute)
	m.enter(b)
}

// leave ends the stay of a batch, which its steps repeat until it has succeeded, or give up.
func (m *model) leave(b *modelBatch) {
	b.left, b.ended = true, true
	m.start(func(ctx context.Context) { _ = m.slots().Leave(ctx, admission.Validation, b.row()) })
}

// cancel ends a batch whose execution waits. The actor that takes its place back is called once, and may die.
func (m *model) cancel(b *modelBatch) {
	b.cancelled = true
	m.start(func(ctx context.Context) {
		_ = m.slots().LeaveAll(ctx, b.row())
	})
}

// sweep looks at every holder.
func (m *model) sweep() {
	m.start(func(ctx context.Context) {
		_ = m.slots().Sweep(ctx, admission.LargeValidation, m.now.Add(-20*time.Minute), modelNeeds{m})
	})
}

// modelNeeds answers the questions of a sweep about the batches of a model.
type modelNeeds struct{ m *model }

func (n modelNeeds) find(id batch.ID) *modelBatch {
	i := slices.IndexFunc(n.m.batches, func(b *modelBatch) bool { return b.place.Batch == id })
	return n.m.batches[i]
}

func (n modelNeeds) NeedsSlot(_ context.Context, _ admission.Stage, id batch.ID) (bool, error) {
	return !n.find(id).ended, nil
}

func (n modelNeeds) Ended(_ context.Context, ids []batch.ID) ([]batch.ID, error) {
	return slices.DeleteFunc(slices.Clone(ids), func(id batch.ID) bool { return !n.find(id).cancelled }), nil
}

// run lets batches come and go until all have had their turn.
func (m *model) run(tenants, perTenant int) {
	m.t.Helper()
	for tenant := range tenants {
		for n := range 1 + m.random.IntN(perTenant) {
			ticket := admissiontest.NewTicket(fmt.Sprint("tenant-", tenant), n)
			m.batches = append(m.batches, &modelBatch{place: ticket.Place, attempt: ticket.Attempt,
				rounds: 1 + m.random.IntN(3)})
		}
	}
	m.random.Shuffle(len(m.batches), func(i, j int) { m.batches[i], m.batches[j] = m.batches[j], m.batches[i] })
	for range 200 * len(m.batches) {
		b := m.batches[m.random.IntN(len(m.batches))]
		switch p := m.random.IntN(40); {
		case p < 3 && !b.entered:
			m.enter(b)
		case p < 4 && b.token != "" && !b.cancelled: // the token is lost, or the state has run out of time
			m.enter(b)
		case p < 6 && b.admitted && !b.left:
			m.endRound(b)
		case p < 7 && b.entered && !b.admitted && !b.ended && m.random.IntN(10) == 0: // stopped while it waits
			m.leave(b)
		case p < 8 && b.token != "" && !b.cancelled && m.random.IntN(4) == 0:
			m.cancel(b)
		case p < 9 && len(m.actors) < 8:
			m.sweep()
			m.now = m.now.Add(5 * time.Minute)
		}
		m.advance()
	}
	m.settle()
}

// settle lets everything that waits end without further faults, and checks that every batch has had its turn and that
// no slot is lost.
func (m *model) settle() {
	m.t.Helper()
	m.deathRate = 0
	for round := 0; ; round++ {
		for m.advance() {
		}
		if !slices.ContainsFunc(m.batches, func(b *modelBatch) bool { return !b.left }) {
			break
		}
		if round > 60*len(m.batches) {
			m.t.Fatalf("not every batch has had its turn after %d sweeps", round)
		}
		for _, b := range m.batches {
			switch {
			case !b.entered:
				m.enter(b)
			case b.admitted && !b.left:
				m.endRound(b)
			}
		}
		m.now = m.now.Add(5 * time.Minute)
		m.sweep()
	}
	for range 6 {
		m.now = m.now.Add(21 * time.Minute)
		m.sweep()
		for m.advance() {
		}
	}
	gate, err := m.queue.Gate(m.t.Context(), admission.LargeValidation)
	if err != nil || len(gate.Holders) != 0 {
		m.t.Fatalf("at the end %d slots are held, error %v: %+v", len(gate.Holders), err, gate.Holders)
	}
	if places, err := m.queue.Waiting(m.t.Context(), admission.LargeValidation, 0); err != nil || len(places) != 0 {
		m.t.Fatalf("at the end %d tickets are left, error %v", len(places), err)
	}
}
