package admission_test

import (
	"context"
	"testing"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiontest"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// hookedQueue calls a function before each write that decides.
type hookedQueue struct {
	*admissiontest.Memory
	before func()
}

func (q hookedQueue) Admit(ctx context.Context, g admission.Gate, at time.Time,
	tickets ...admission.Ticket) (admission.Gate, error) {
	q.before()
	return q.Memory.Admit(ctx, g, at, tickets...)
}

func (q hookedQueue) EndRound(ctx context.Context, g admission.Gate, id batch.ID) (admission.Gate, error) {
	q.before()
	return q.Memory.EndRound(ctx, g, id)
}

// A batch that leaves its slot loses twice to another one, which has read the gate before and ends its round and gives
// out its slot. No slot remains free.
func TestNoSlotRemainsFree(t *testing.T) {
	o := newOffice(t, 2, 1)
	enters, leaves := admissiontest.NewTicket("a", 1), admissiontest.NewTicket("b", 1)
	o.enter(enters, leaves, admissiontest.NewTicket("c", 1))

	// The writes of the one that enters happen when the other one is about to write.
	reached, write, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	entering, leaving := *o.Slots, *o.Slots
	writes := 0
	entering.Queue = hookedQueue{o.queue, func() {
		if writes++; writes <= 2 {
			reached <- struct{}{}
			<-write
		}
	}}
	go func() {
		defer close(done)
		if err := entering.Enter(t.Context(), roundOf(enters, 1)); err != nil {
			t.Error(err)
		}
	}()
	<-reached
	losses := 0
	leaving.Queue = hookedQueue{o.queue, func() {
		losses++
		write <- struct{}{}
		if losses == 1 {
			<-reached
		} else {
			<-done
		}
	}}
	errtest.Fatal(t, leaving.Leave(t.Context(), admission.Validation, batchOf(leaves)))
	difftest.Equal(t, "losses", 2, losses)
	difftest.Equal(t, "slots used", 2, o.used(admission.LargeValidation))
}
