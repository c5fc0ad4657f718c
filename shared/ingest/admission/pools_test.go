package admission_test

import (
	"fmt"
	"testing"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiontest"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// roundOf returns the ticket of a batch for a later round.
func roundOf(t admission.Ticket, round int) admission.Ticket {
	t.Round, t.Token = round, fmt.Sprintf("%s, round %d", t.Token, round)
	t.Attempt.Entered = t.Attempt.Entered.Add(time.Duration(round) * time.Minute)
	return t
}

// A batch that has completed a round gives its slot to another tenant that waits, and otherwise goes on at once.
func TestRounds(t *testing.T) {
	o := newOffice(t, 1, 1)
	a, next := admissiontest.NewTicket("a", 1), admissiontest.NewTicket("a", 2)
	b := admissiontest.NewTicket("b", 1)
	o.enter(a, next, roundOf(a, 1))
	o.expectTold(a, roundOf(a, 1)) // before the next batch of the same tenant
	o.enter(b, roundOf(a, 2))
	o.expectTold(a, roundOf(a, 1), b)
	o.leave(b)
	o.expectTold(a, roundOf(a, 1), b, roundOf(a, 2))
	gate := errtest.Must(o.queue.Gate(t.Context(), admission.LargeValidation))(t)
	difftest.Equal(t, "the round of the holder", 2, gate.Holders[a.Batch].Round)
}

// The ticket of an earlier round, which a repeated step stores late, takes no slot from the round that is under way.
func TestLateRound(t *testing.T) {
	o := newOffice(t, 1, 1)
	a, b := admissiontest.NewTicket("a", 1), admissiontest.NewTicket("b", 1)
	o.enter(a, roundOf(a, 1), b)
	for _, late := range []admission.Ticket{a, roundOf(a, 1)} {
		o.enter(late)
		o.expectTold(a, roundOf(a, 1))
	}
}

// A batch is small up to the length that is set, and waits in a pool of its own.
func TestSmallBatches(t *testing.T) {
	const smallBytes = 64 << 20
	for size, want := range map[int64]admission.Pool{
		0: admission.SmallIngestion, smallBytes - 1: admission.SmallIngestion, smallBytes: admission.SmallIngestion,
		smallBytes + 1: admission.LargeIngestion,
	} {
		b := batch.Batch{Object: batch.Object{Size: size}}
		difftest.Equal(t, "pool", want, admission.PoolOf(admission.Ingestion, b, smallBytes))
		difftest.Equal(t, "stage", admission.Ingestion, want.Stage())
	}
	o := newOffice(t, 1, 1)
	o.Limits[admission.SmallValidation] = admission.Limits{Slots: 1, PerTenant: 1}
	large, waiting, small := admissiontest.NewTicket("a", 1), admissiontest.NewTicket("b", 1),
		admissiontest.NewTicket("b", 2)
	small.Pool = admission.SmallValidation
	o.enter(large, waiting, small)
	o.expectTold(large, small)
}

// The slots of an adapted pool become more while batches wait and no write is refused, up to the most, and fewer while
// writes are refused, down to the first number; each change takes its time.
func TestAdaptedSlots(t *testing.T) {
	o := newOffice(t, 3, 100)
	o.Limits[admission.LargeIngestion] = admission.Limits{Slots: 2, PerTenant: 100, Most: 4}
	now := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	o.Now = func() time.Time { return now }
	var tickets []admission.Ticket
	enter := func(when string, slots, used int) {
		t.Helper()
		ticket := admissiontest.NewTicket("a", len(tickets))
		ticket.Pool = admission.LargeIngestion
		tickets = append(tickets, ticket)
		o.enter(ticket)
		l := errtest.Must(o.Load(t.Context(), admission.LargeIngestion, 0))(t)
		difftest.Equal(t, when, admission.Load{Slots: slots, Used: used, Waiting: l.Waiting, Since: l.Since}, l)
	}
	enter("a slot is free", 0, 1)
	enter("the last one is free", 0, 2)
	enter("one waits", 3, 3)
	enter("soon after a change", 3, 3)
	now = now.Add(29 * time.Second)
	enter("still soon", 3, 3)
	now = now.Add(time.Second)
	enter("after a while", 4, 4)
	now = now.Add(time.Hour)
	enter("there are no more", 4, 4)
	errtest.Fatal(t, o.ReportRefused(t.Context()))
	for _, slots := range []int{3, 2, 2} {
		now = now.Add(19 * time.Second)
		enter("writes are refused", slots, 4)
		now = now.Add(11 * time.Second)
		errtest.Fatal(t, o.ReportRefused(t.Context()))
	}
	for _, ticket := range tickets[:3] {
		errtest.Fatal(t, o.Leave(t.Context(), admission.Ingestion, batchOf(ticket)))
	}
	enter("three have left", 2, 2)
	now = now.Add(20 * time.Second)
	enter("no write was refused of late", 3, 3)
}

// While more batches have slots than there are, because the number was reduced, no further one gets a slot.
func TestReducedSlots(t *testing.T) {
	o := newOffice(t, 1, 1)
	o.Limits[admission.LargeIngestion] = admission.Limits{Slots: 1, PerTenant: 100, Most: 4}
	now := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	o.Now = func() time.Time { return now }
	for i, want := range []int{1, 2, 3, 4, 4} {
		ticket := admissiontest.NewTicket("a", i)
		ticket.Pool = admission.LargeIngestion
		o.enter(ticket)
		now = now.Add(time.Minute)
		difftest.Equal(t, "slots used", want, o.used(admission.LargeIngestion))
	}
	errtest.Fatal(t, o.ReportRefused(t.Context()))
	errtest.Fatal(t, o.Assign(t.Context(), admission.LargeIngestion)) // there are three now
	for range 3 {
		now = now.Add(time.Minute)
		errtest.Fatal(t, o.Assign(t.Context(), admission.LargeIngestion))
		difftest.Equal(t, "slots used after a reduction", 4, o.used(admission.LargeIngestion))
	}
}

// used returns how many slots of a pool batches have.
func (o *office) used(pool admission.Pool) int {
	o.t.Helper()
	return errtest.Must(o.Load(o.t.Context(), pool, 0))(o.t).Used
}

// An adapted pool has at least its first number of slots, also after that was raised, and at most the most.
func TestSlotsAfter(t *testing.T) {
	l := admission.Limits{Slots: 5, Most: 7}
	for adapted, want := range map[int]int{0: 5, 4: 5, 5: 5, 6: 6, 7: 7, 8: 7} {
		difftest.Equal(t, fmt.Sprintf("adapted to %d", adapted), want, l.SlotsAfter(adapted))
	}
	difftest.Equal(t, "a fixed number", 5, admission.Limits{Slots: 5}.SlotsAfter(7))
}
