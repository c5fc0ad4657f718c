package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiontest"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/machine"
)

// oneBatch is a store of one batch that only Close uses.
type oneBatch struct {
	batch.JobStore
	batch.Batch
}

func (s *oneBatch) Get(_ context.Context, id batch.ID) (batch.Batch, error) {
	if id != s.ID {
		return batch.Batch{}, batch.ErrNotFound
	}
	return s.Batch, nil
}

func (s *oneBatch) Apply(_ context.Context, id batch.ID, t batch.Transition) (batch.Batch, error) {
	switch {
	case id != s.ID:
		return batch.Batch{}, batch.ErrNotFound
	case !s.Status.CanTransitionTo(t.To):
		return batch.Batch{}, &batch.ConflictError{Wanted: t.To, Current: s.Batch}
	}
	s.Status, s.ErrorMessage = t.To, t.ErrorMessage
	return s.Batch, nil
}

// TestCloseHandlesExecutionEvents tests what Close does about the end of an execution, for every status of a batch.
func TestCloseHandlesExecutionEvents(t *testing.T) {
	const id = "0199a6a4-6f00-7cc3-98c4-dc0c0c07398f"
	event := func(name, status string) string {
		return `{"detail-type":"Step Functions Execution Status Change","source":"aws.states","account":"1",` +
			`"detail":{"name":"` + name + `","status":"` + status + `","error":null,"cause":"c"}}`
	}
	for _, tt := range []struct {
		name   string
		status batch.Status
		input  string
		want   batch.Status
		wrong  bool
	}{
		{"stopped", batch.InProgress, event(id, "ABORTED"), batch.Failed, false},
		{"timed out", batch.ValidationStarted, event(id, "TIMED_OUT"), batch.Failed, false},
		{"failed before planning", batch.Uploaded, event(id, "FAILED"), batch.Failed, false},
		{"stopped after the end", batch.Processed, event(id, "ABORTED"), batch.Processed, false},
		{"failed as the batch says already", batch.Failed, event(id, "FAILED"), batch.Failed, false},
		{"rejected", batch.ValidationFailed, event(id, "FAILED"), batch.ValidationFailed, false},
		{"unknown batch", batch.InProgress, event("0199a6a4-6f00-7cc3-98c4-dc0c0c073990", "FAILED"), batch.InProgress,
			false},
		{"succeeded", batch.InProgress, event(id, "SUCCEEDED"), batch.InProgress, true},
		{"not a batch", batch.InProgress, event("by-hand", "FAILED"), batch.InProgress, true},
		{"another source", batch.InProgress, strings.Replace(event(id, "FAILED"), "aws.states", "x", 1),
			batch.InProgress, true},
		{"another kind of event", batch.InProgress, `{"detail-type":"Scheduled Event"}`, batch.InProgress, true},
		{"a failed step", batch.InProgress, `{"batch_id":"` + id + `","failure":{"Error":"E","Cause":"c"}}`,
			batch.Failed, false},
		{"only slots of one that has not ended", batch.InProgress, `{"batch_id":"` + id + `","ended":true}`,
			batch.InProgress, true},
		{"only slots of an unknown one", batch.InProgress,
			`{"batch_id":"0199a6a4-6f00-7cc3-98c4-dc0c0c073990","ended":true}`, batch.InProgress, true},
		{"no batch", batch.InProgress, `{}`, batch.InProgress, true},
		{"no JSON", batch.InProgress, `x`, batch.InProgress, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := &oneBatch{Batch: batch.Batch{ID: id, Status: tt.status}}
			c := &Close{Batches: store, Slots: admissiontest.NewSlots(), Now: time.Now,
				Log: slog.New(slog.DiscardHandler)}
			for range 2 { // events are delivered at least once
				if _, err := c.Handle(t.Context(), json.RawMessage(tt.input)); (err != nil) != tt.wrong {
					t.Errorf("got error %v, want an error: %t", err, tt.wrong)
				}
			}
			if store.Status != tt.want {
				t.Errorf("the batch is %s, want %s", store.Status, tt.want)
			}
			if tt.status != tt.want && !strings.Contains(store.ErrorMessage, "technical reason") {
				t.Errorf("the message is %q, want the technical one", store.ErrorMessage)
			}
		})
	}
}

// TestCloseLeavesSlots tests that Close takes the slot of a cancelled batch, or its ticket, whose execution it tells.
func TestCloseLeavesSlots(t *testing.T) {
	slots, tasks := admissiontest.NewSlots(), &admissiontest.Tasks{}
	slots.Tasks, slots.SmallBytes = tasks, -1
	slots.Limits = map[admission.Pool]admission.Limits{admission.LargeValidation: {Slots: 1, PerTenant: 1}}
	c := &Close{Slots: slots, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	holder, waiting, last := admissiontest.NewTicket("a", 1), admissiontest.NewTicket("a", 2),
		admissiontest.NewTicket("a", 3)
	for _, ticket := range []admission.Ticket{holder, waiting, last} {
		errtest.Fatal(t, slots.Enter(t.Context(), ticket))
	}
	for _, ticket := range []admission.Ticket{waiting, holder} {
		c.Batches = &oneBatch{Batch: batch.Batch{
			ID: ticket.Batch, Tenant: ticket.Tenant, ReceivedAt: ticket.ReceivedAt,
			Status: batch.Failed, ErrorMessage: batch.Cancelled,
		}}
		input, err := json.Marshal(admission.LeaveInput{ID: ticket.Batch, Ended: true})
		errtest.Fatal(t, err)
		for range 2 { // requests are delivered at least once
			if _, err := c.Handle(t.Context(), input); err != nil {
				t.Errorf("%s: %v", ticket.Batch, err)
			}
		}
	}
	if want := []string{holder.Token, waiting.Token, last.Token}; !slices.Equal(tasks.Completed(), want) {
		t.Errorf("told are %v, want %v", tasks.Completed(), want)
	}
}

// TestCloseFailsLoudly tests that an error of the store reaches the caller, which then tries again.
func TestCloseFailsLoudly(t *testing.T) {
	c := &Close{Batches: brokenStore{}, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	_, err := c.Run(t.Context(), CloseInput{ID: "x", Failure: &machine.Failure{Error: "E"}})
	if transient := new(Transient); !errors.As(err, &transient) {
		t.Errorf("got error %v, want Transient", err)
	}
}

type brokenStore struct{ batch.JobStore }

func (brokenStore) Apply(context.Context, batch.ID, batch.Transition) (batch.Batch, error) {
	return batch.Batch{}, errors.New("no store")
}
