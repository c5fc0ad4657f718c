package admission_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiontest"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// office has slots with a queue in memory, without faults.
type office struct {
	*admission.Slots
	t     *testing.T
	queue *admissiontest.Memory
	tasks *admissiontest.Tasks
}

func newOffice(t *testing.T, slots, perTenant int) *office {
	o := &office{t: t, queue: admissiontest.NewMemory(), tasks: &admissiontest.Tasks{}}
	o.Slots = &admission.Slots{
		Queue: o.queue, Tasks: o.tasks, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Sequential: true, SmallBytes: -1, Limits: map[admission.Pool]admission.Limits{
			admission.LargeValidation: {Slots: slots, PerTenant: perTenant},
		},
	}
	return o
}

func (o *office) enter(tickets ...admission.Ticket) {
	o.t.Helper()
	for _, ticket := range tickets {
		errtest.Fatal(o.t, o.Enter(o.t.Context(), ticket))
	}
}

// batchOf returns the batch of a ticket, whose file is empty.
func batchOf(t admission.Ticket) batch.Batch {
	return batch.Batch{ID: t.Batch, Tenant: t.Tenant, ReceivedAt: t.ReceivedAt, Status: batch.Uploaded}
}

func (o *office) leave(ticket admission.Ticket) {
	o.t.Helper()
	errtest.Fatal(o.t, o.Leave(o.t.Context(), admission.Validation, batchOf(ticket)))
}

// expectTold checks the order in which batches were told.
func (o *office) expectTold(want ...admission.Ticket) {
	o.t.Helper()
	var tokens []string
	for _, ticket := range want {
		tokens = append(tokens, ticket.Token)
	}
	difftest.Equal(o.t, "told", tokens, o.tasks.Completed())
}

// The batches of a tenant are admitted in the order of their receipt, the tenants in turn, in any order of arrival.
func TestTurns(t *testing.T) {
	o := newOffice(t, 1, 1)
	holder := admissiontest.NewTicket("z", 1)
	var tickets []admission.Ticket
	for _, tenant := range []string{"a", "b", "c"} {
		for n := range 3 {
			tickets = append(tickets, admissiontest.NewTicket(tenant, n))
		}
	}
	o.enter(holder)
	for _, i := range []int{5, 2, 8, 0, 4, 7, 1, 3, 6} {
		o.enter(tickets[i])
	}
	want := []admission.Ticket{holder}
	for n := range 3 {
		for tenant := range 3 {
			want = append(want, tickets[3*tenant+n])
		}
	}
	for i := range want {
		o.expectTold(want[:i+1]...)
		o.leave(want[i])
	}
}

// Slots that are given out at once are given in the order in which they would be given one by one.
func TestTurnsAtOnce(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 34))
		limits := admission.Limits{Slots: 1 + random.IntN(40), PerTenant: 1 + random.IntN(12)}
		atOnce, oneByOne := newOffice(t, limits.Slots, limits.PerTenant), newOffice(t, 0, limits.PerTenant)
		enter := func(most int) {
			for tenant := range 1 + random.IntN(8) {
				for range random.IntN(most) {
					ticket := admissiontest.NewTicket(fmt.Sprint("tenant-", tenant), random.IntN(1000))
					errtest.Fatal(t, atOnce.queue.Put(t.Context(), ticket))
					errtest.Fatal(t, oneByOne.queue.Put(t.Context(), ticket))
				}
			}
		}
		assign := func() {
			for slots := 1; slots <= limits.Slots; slots++ {
				oneByOne.Limits[admission.LargeValidation] = admission.Limits{Slots: slots, PerTenant: limits.PerTenant}
				errtest.Fatal(t, oneByOne.Assign(t.Context(), admission.LargeValidation))
			}
			errtest.Fatal(t, atOnce.Assign(t.Context(), admission.LargeValidation))
			difftest.Equal(t, fmt.Sprint("seed ", seed), oneByOne.tasks.Completed(), atOnce.tasks.Completed())
		}
		enter(4)
		assign()
		enter(150)
		assign()
	}
}

// A tenant with few slots is preferred to one with many, and one that has all it may have is passed over.
func TestFewestSlotsFirst(t *testing.T) {
	o := newOffice(t, 4, 3)
	var a []admission.Ticket
	for n := range 6 {
		a = append(a, admissiontest.NewTicket("a", n))
	}
	o.enter(a...)
	o.expectTold(a[:3]...) // a fourth slot is free
	b := []admission.Ticket{admissiontest.NewTicket("b", 0), admissiontest.NewTicket("b", 1)}
	o.enter(b...)
	o.expectTold(a[0], a[1], a[2], b[0])
	o.leave(a[0]) // a has two slots, b one
	o.expectTold(a[0], a[1], a[2], b[0], b[1])
	o.leave(a[1])
	o.expectTold(a[0], a[1], a[2], b[0], b[1], a[3])
}

// A batch that leaves while it waits is not admitted, and neither is one that left while a decision was under way.
func TestLeaveWhileWaiting(t *testing.T) {
	o := newOffice(t, 1, 1)
	first, second, third := admissiontest.NewTicket("a", 1), admissiontest.NewTicket("a", 2),
		admissiontest.NewTicket("a", 3)
	o.enter(first, second, third)
	gate := errtest.Must(o.queue.Gate(t.Context(), admission.LargeValidation))(t)
	o.leave(second)
	if places, err := o.queue.Waiting(t.Context(), admission.LargeValidation, 0); err != nil ||
		!slices.Equal(places, []admission.Place{third.Place}) {
		t.Errorf("after a batch has left, %v wait, error %v; want the third one only", places, err)
	}
	errtest.Fails(t, "a decision that was under way admitted a batch that has left",
		errtest.Of(o.queue.Admit(t.Context(), gate, time.Now(), second)))
	o.leave(first)
	o.expectTold(first, third)
}

// needs answers the questions of a sweep: one batch needs no slot any more, and one has ended.
type needs struct{ finished, ended batch.ID }

func (n needs) NeedsSlot(_ context.Context, _ admission.Stage, id batch.ID) (bool, error) {
	return id != n.finished, nil
}

func (n needs) Ended(_ context.Context, ids []batch.ID) ([]batch.ID, error) {
	return slices.DeleteFunc(slices.Clone(ids), func(id batch.ID) bool { return id != n.ended }), nil
}

// A sweep assigns free slots although no batch comes or goes, takes back slots that no batch needs after a time, and
// leaves the others.
func TestSweep(t *testing.T) {
	o := newOffice(t, 2, 2)
	first, second, third := admissiontest.NewTicket("a", 1), admissiontest.NewTicket("a", 2),
		admissiontest.NewTicket("a", 3)
	for _, ticket := range []admission.Ticket{first, second, third} {
		if err := o.queue.Put(t.Context(), ticket); err != nil { // its author was killed before it could go on
			t.Fatal(err)
		}
	}
	sweep := func(before time.Time) {
		t.Helper()
		errtest.Fatal(t, o.Sweep(t.Context(), admission.LargeValidation, before, needs{finished: first.Batch}))
	}
	sweep(time.Now().Add(-time.Hour))
	o.expectTold(first, second)
	sweep(time.Now().Add(-time.Hour)) // it is not yet looked at
	o.expectTold(first, second)
	sweep(time.Now().Add(time.Hour))
	o.expectTold(first, second, third)
}

// A sweep takes at once the slots and the tickets of batches that have ended, and tells the executions that wait.
func TestSweepOfEndedBatches(t *testing.T) {
	o := newOffice(t, 1, 1)
	holder, waiting, next := admissiontest.NewTicket("a", 1), admissiontest.NewTicket("a", 2),
		admissiontest.NewTicket("a", 3)
	o.enter(holder, waiting, next)
	for _, ended := range []admission.Ticket{waiting, holder} {
		before := time.Now().Add(-time.Hour) // no holder is to be looked at
		errtest.Fatal(t, o.Sweep(t.Context(), admission.LargeValidation, before, needs{ended: ended.Batch}))
	}
	o.expectTold(holder, waiting, next)
	gate, err := o.queue.Gate(t.Context(), admission.LargeValidation)
	if err != nil || len(gate.Holders) != 1 || gate.Holders[next.Batch].Place != next.Place {
		t.Errorf("the holders are %+v, error %v; want the third batch", gate.Holders, err)
	}
}

// The execution of a batch that ends while it waits is told, once, and nobody waits in its place.
func TestLeaveAll(t *testing.T) {
	o := newOffice(t, 1, 1)
	first, second := admissiontest.NewTicket("a", 1), admissiontest.NewTicket("a", 2)
	o.enter(first, second)
	ended := batchOf(second)
	for range 2 {
		errtest.Fatal(t, o.LeaveAll(t.Context(), ended))
	}
	o.expectTold(first, second)
	difftest.Equal(t, "wait", 0, len(errtest.Must(o.queue.Waiting(t.Context(), admission.LargeValidation, 0))(t)))
}

// reenteredQueue is a queue in which a batch enters anew after the first time that somebody has read its ticket.
type reenteredQueue struct {
	admission.Queue
	again *admission.Ticket
}

func (q *reenteredQueue) Tickets(ctx context.Context, pool admission.Pool, p []admission.Place) ([]admission.Ticket,
	error) {
	tickets, err := q.Queue.Tickets(ctx, pool, p)
	if again := q.again; again != nil && err == nil {
		q.again = nil
		err = q.Queue.Put(ctx, *again)
	}
	return tickets, err
}

// An execution that enters anew while its batch is taken from the queue is told by the next sweep.
func TestLeaveAllDuringNextAttempt(t *testing.T) {
	o := newOffice(t, 1, 1)
	holder, waiting := admissiontest.NewTicket("a", 1), admissiontest.NewTicket("a", 2)
	o.enter(holder, waiting)
	again := waiting
	again.Attempt.Retry, again.Token = 1, "again"
	o.Queue = &reenteredQueue{o.queue, &again}
	ended := batchOf(waiting)
	errtest.Fatal(t, o.LeaveAll(t.Context(), ended))
	o.expectTold(holder, waiting)
	before := time.Now().Add(-time.Hour) // no holder is to be looked at
	errtest.Fatal(t, o.Sweep(t.Context(), admission.LargeValidation, before, needs{ended: waiting.Batch}))
	o.expectTold(holder, waiting, again)
}

// A batch that has its slot is told at once when it enters again, as after a restart of a local cloud.
func TestEnterAgain(t *testing.T) {
	o := newOffice(t, 1, 1)
	first := admissiontest.NewTicket("a", 1)
	o.enter(first)
	again := first
	again.Attempt.Entered, again.Token = first.Attempt.Entered.Add(time.Hour), "again"
	o.enter(again)
	o.expectTold(first, again)
}

// The batch with the first position is the next one that is admitted.
func TestFirstPositionIsNext(t *testing.T) {
	o := newOffice(t, 1, 1)
	holder := admissiontest.NewTicket("b", 99)
	o.enter(holder)
	byID := map[batch.ID]admission.Ticket{}
	for tenant, batches := range map[string]int{"a": 3, "b": 2, "c": 5, "d": 1} {
		for n := range batches {
			ticket := admissiontest.NewTicket(tenant, n)
			byID[ticket.Batch] = ticket
			o.enter(ticket)
		}
	}
	o.leave(holder)
	positions := admission.Positions{Queue: o.queue, Now: time.Now, Age: 0, SmallBytes: -1}
	for len(byID) > 0 {
		told := o.tasks.Completed()
		current := told[len(told)-1]
		gate, _ := o.queue.Gate(t.Context(), admission.LargeValidation)
		places, _ := o.queue.Waiting(t.Context(), admission.LargeValidation, 0)
		order := gate.Order(places)
		var holder admission.Ticket
		for _, ticket := range byID {
			if ticket.Token == current {
				holder = ticket
			}
		}
		delete(byID, holder.Batch)
		difftest.Equal(t, "batches are in the order", len(byID), len(order))
		for i, id := range order {
			b := batch.Batch{ID: id, Status: batch.Uploaded}
			if got, waits, err := positions.Position(t.Context(), b); err != nil || !waits || got != int64(i+1) {
				t.Errorf("position %d (%t), error %v, want %d", got, waits, err, i+1)
			}
		}
		o.leave(holder)
		told = o.tasks.Completed()
		if got := told[len(told)-1]; len(order) > 0 && got != byID[order[0]].Token {
			t.Errorf("%s was admitted, want that of the first position, %s", got, order[0])
		}
	}
}
