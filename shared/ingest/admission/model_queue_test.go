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

func (q steppedQueue) Withdraw(ctx context.Context, pool admission.Pool, p admission.Place) error {
	_, err := call(ctx, q.m, func() (nothing, error) { return none(q.Queue.Withdraw(q.m.t.Context(), pool, p)) })
	return err
}

func (q steppedQueue) After(ctx context.Context, pool admission.Pool, p admission.Place,
	atMost int) ([]admission.Ticket, error) {
	return call(ctx, q.m, func() ([]admission.Ticket, error) {
		return q.Queue.After(q.m.t.Context(), pool, p, atMost)
	})
}

func (q steppedQueue) Tickets(ctx context.Context, pool admission.Pool, p []admission.Place) ([]admission.Ticket,
	error) {
	return call(ctx, q.m, func() ([]admission.Ticket, error) { return q.Queue.Tickets(q.m.t.Context(), pool, p) })
}

func (q steppedQueue) Gate(ctx context.Context, pool admission.Pool) (admission.Gate, error) {
	return call(ctx, q.m, func() (admission.Gate, error) { return q.Queue.Gate(q.m.t.Context(), pool) })
}

// change runs a call that may change the gate.
func (q steppedQueue) change(ctx context.Context, run func(context.Context) (admission.Gate, error)) (admission.Gate,
	error) {
	return call(ctx, q.m, func() (admission.Gate, error) {
		q.m.isStale = true
		return run(q.m.t.Context())
	})
}

func (q steppedQueue) Admit(ctx context.Context, g admission.Gate, at time.Time,
	tickets ...admission.Ticket) (admission.Gate, error) {
	return q.change(ctx, func(ctx context.Context) (admission.Gate, error) {
		return q.Queue.Admit(ctx, g, at, tickets...)
	})
}

func (q steppedQueue) EndRound(ctx context.Context, g admission.Gate, id batch.ID) (admission.Gate, error) {
	return q.change(ctx, func(ctx context.Context) (admission.Gate, error) { return q.Queue.EndRound(ctx, g, id) })
}

func (q steppedQueue) Release(ctx context.Context, pool admission.Pool, id batch.ID) error {
	_, err := call(ctx, q.m, func() (nothing, error) {
		q.m.isStale = true
		return none(q.Queue.Release(q.m.t.Context(), pool, id))
	})
	return err
}

func (q steppedQueue) Postpone(ctx context.Context, pool admission.Pool, id batch.ID, at time.Time) error {
	_, err := call(ctx, q.m, func() (nothing, error) {
		q.m.isStale = true
		return none(q.Queue.Postpone(q.m.t.Context(), pool, id, at))
	})
	return err
}
