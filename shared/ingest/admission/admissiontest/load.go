package admissiontest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
)

// CallTime is how long each call to DynamoDB and to Step Functions takes that a load measures.
const CallTime = 5 * time.Millisecond

// executions are the tasks of batches that wait for their slots.
type executions struct {
	mu      sync.Mutex
	waiting map[string]chan struct{}
}

// begin returns a channel that is closed when the task of a token is completed.
func (e *executions) begin(token string) <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting[token] = make(chan struct{})
	return e.waiting[token]
}

// Complete implements admission.Tasks.
func (e *executions) Complete(_ context.Context, token string) (bool, error) {
	time.Sleep(CallTime)
	e.mu.Lock()
	defer e.mu.Unlock()
	done, isWaiting := e.waiting[token]
	if isWaiting {
		delete(e.waiting, token)
		close(done)
	}
	return isWaiting, nil
}

// PassGate lets batches of ten tenants enter at a rate, each of which holds one of inAll slots for a time. It returns
// how long they waited for it: half of them at most, and 99 of 100 at most. Its queue should take CallTime for a call.
func PassGate(t testing.TB, q admission.Queue, batches, perSecond, inAll int, hold time.Duration) (half,
	most time.Duration) {
	t.Helper()
	tasks := &executions{waiting: map[string]chan struct{}{}}
	slots := &admission.Slots{
		Queue: q, Tasks: tasks, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Limits: map[admission.Pool]admission.Limits{admission.SmallValidation: {Slots: inAll, PerTenant: inAll / 2}},
	}
	waits := make([]time.Duration, batches)
	var group sync.WaitGroup
	run := func(n int, step func() error) {
		group.Go(func() {
			if err := step(); err != nil {
				t.Errorf("batch %d: %v", n, err)
			}
		})
	}
	for n := range batches {
		b := batch.Batch{ID: batch.ID(fmt.Sprintf("batch-%06d", n)), Tenant: fmt.Sprint("tenant-", n%10),
			ReceivedAt: time.Now()}
		done := tasks.begin(string(b.ID))
		run(n, func() error {
			return slots.Enter(t.Context(), admission.Ticket{Pool: admission.SmallValidation, Token: string(b.ID),
				Place: admission.PlaceOf(b), Attempt: admission.Attempt{Entered: b.ReceivedAt}})
		})
		run(n, func() error {
			<-done
			waits[n] = time.Since(b.ReceivedAt)
			time.Sleep(hold)
			return slots.Leave(t.Context(), admission.Validation, b)
		})
		time.Sleep(time.Second / time.Duration(perSecond))
	}
	group.Wait()
	slices.Sort(waits)
	return waits[batches/2], waits[batches*99/100]
}
