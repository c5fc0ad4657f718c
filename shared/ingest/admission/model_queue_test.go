package admission_test

import (
	"context"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
)

// steppedQueue is the queue as an actor sees it.
type steppedQueue struct {
	admission.Queue
	m *model
}

type nothing = struct{}

func none(err error) (nothing, error) { return nothing{}, err }

func (q steppedQueue) Put(ctx context.Context, t admission.Ticket) error {
	_, err := call(ctx, q.m, func() (nothing, error) { return none(q.Queue.Put(q.m.t.Context(), t)) })
	return err
}

func (q steppedQueue) Remove(ctx context.Context, t admission.Ticket) error {
	_, err := call(ctx, q.m, func() (nothing, error) { return none(q.Queue.Remove(q.m.t.Context(), t)) })
	return err
}

func (q steppedQueue) Withdraw(ctx context.Context, s admission.Stage, p admission.Place) error {
	_, err := call(ctx, q.m, func() (nothing, error) { return none(q.Queue.Withdraw(q.m.t.Context(), s, p)) })
	return err
}

type found struct {
	ticket admission.Ticket
	ok     bool
}

func (q steppedQueue) FirstAfterTenant(ctx context.Context, s admission.Stage, tenant string) (admission.Ticket, bool,
	error) {
	f, err := call(ctx, q.m, func() (found, error) {
		t, ok, err := q.Queue.FirstAfterTenant(q.m.t.Context(), s, tenant)
		return found{t, ok}, err
	})
	return f.ticket, f.ok, err
}

func (q steppedQueue) FirstAfter(ctx context.Context, s admission.Stage, p admission.Place) (admission.Ticket, bool,
	error) {
	f, err := call(ctx, q.m, func() (found, error) {
		t, ok, err := q.Queue.FirstAfter(q.m.t.Context(), s, p)
		return found{t, ok}, err
	})
	return f.ticket, f.ok, err
}

func (q steppedQueue) Tickets(ctx context.Context, s admission.Stage, p []admission.Place) ([]admission.Ticket, error) {
	return call(ctx, q.m, func() ([]admission.Ticket, error) { return q.Queue.Tickets(q.m.t.Context(), s, p) })
}

func (q steppedQueue) Gate(ctx context.Context, s admission.Stage) (admission.Gate, error) {
	return call(ctx, q.m, func() (admission.Gate, error) { return q.Queue.Gate(q.m.t.Context(), s) })
}

func (q steppedQueue) Admit(ctx context.Context, g admission.Gate, p admission.Place, at time.Time) (admission.Gate,
	error) {
	return call(ctx, q.m, func() (admission.Gate, error) {
		q.m.isStale = true
		return q.Queue.Admit(q.m.t.Context(), g, p, at)
	})
}

func (q steppedQueue) Release(ctx context.Context, s admission.Stage, id batch.ID) error {
	_, err := call(ctx, q.m, func() (nothing, error) {
		q.m.isStale = true
		return none(q.Queue.Release(q.m.t.Context(), s, id))
	})
	return err
}

func (q steppedQueue) Postpone(ctx context.Context, s admission.Stage, id batch.ID, at time.Time) error {
	_, err := call(ctx, q.m, func() (nothing, error) {
		q.m.isStale = true
		return none(q.Queue.Postpone(q.m.t.Context(), s, id, at))
	})
	return err
}
