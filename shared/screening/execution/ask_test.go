package execution_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/execution"
)

// adapters record the questions that were asked; before runs while one is on its way.
type adapters struct {
	mu     sync.Mutex
	asked  []string
	err    error
	before func()
}

func (a *adapters) Screen(_ context.Context, b screening.Batch, p screening.ProviderRun,
	entities []screening.Entity) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.before != nil {
		a.before()
	}
	var ids []string
	for _, e := range entities {
		ids = append(ids, e.ID)
	}
	a.asked = append(a.asked, p.ID+" about "+strings.Join(ids, "+"))
	return a.err
}

func newAsk(f *fixture) (*execution.Ask, *adapters) {
	a := &adapters{}
	return &execution.Ask{Store: f.store, Adapters: a, Tasks: f.tasks, Patience: 15 * time.Minute, Log: quiet,
		Now: func() time.Time { return now }}, a
}

// question returns the input of the step that asks a provider in a run.
func question(b screening.Batch, provider string, run int, token string) execution.AskInput {
	return execution.AskInput{Input: execution.Input{Tenant: tenant, BatchID: b.ID, Run: run}, ProviderID: provider,
		Token: token}
}

func (f *fixture) expectTokens(want string) {
	f.t.Helper()
	difftest.Equal(f.t, "completed the tasks", want, strings.Join(f.tasks.tokens, " "))
}

func TestAProviderIsAskedOnceInARun(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	step, a := newAsk(f)
	b := f.create("p")
	// The second token belongs to a later attempt, whose predecessor was interrupted after it had asked.
	for _, token := range []string{"first", "second"} {
		errtest.Fatal(t, step.Handle(t.Context(), question(b, "p", 1, token)))
	}
	if len(a.asked) != 1 || a.asked[0] != "p about e+f" {
		t.Errorf("asked %q, want p once about all entities", a.asked)
	}
	f.expectTokens("")
	f.record(execution.Recorded, b.ID, "p", execution.Answer{ID: "1", Matches: matches("e", 1)})
	f.expectTokens("second")
	// The task of an attempt after the answer has nothing to wait for.
	errtest.Fatal(t, step.Handle(t.Context(), question(b, "p", 1, "third")))
	f.expectTokens("second third")
	f.expect(b.ID, "1 matches, 1 unresolved; p: Search Complete")
}

// An answer may arrive before the adapter has returned from the question.
func TestAnAnswerMayBeFasterThanTheQuestion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	step, a := newAsk(f)
	b := f.create("p")
	a.before = func() { f.record(execution.Recorded, b.ID, "p", execution.Answer{ID: "1"}) }
	errtest.Fatal(t, step.Handle(t.Context(), question(b, "p", 1, "t")))
	f.expectTokens("t")
	f.expect(b.ID, "0 matches, 0 unresolved; p: Search Complete")
}

func TestRefusedQuestions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	refusal := func(code string, mayPass bool) error {
		return &execution.Refusal{ProviderError: screening.ProviderError{Source: "Adapter", Code: code, Message: "no"},
			MayPass: mayPass}
	}
	for _, test := range []struct {
		name  string
		err   error
		kind  any
		state string
	}{
		{"rejected", refusal("E001", false), nil, "Return Failed E001"},
		{"busy", refusal("E000", true), new(*execution.Unreachable), "Search In Progress"},
		{"a fault of the service", errors.New("secret"), new(*execution.Transient), "Search In Progress"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := *f
			f.t, f.tasks = t, &tasks{}
			step, a := newAsk(&f)
			a.err = test.err
			b := f.create("p")
			err := step.Handle(t.Context(), question(b, "p", 1, "t"))
			if test.kind == nil && err != nil || test.kind != nil && !errors.As(err, test.kind) ||
				err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want an error like %T", err, test.kind)
			}
			f.expect(b.ID, "0 matches, 0 unresolved; p: "+test.state)
			if test.kind == nil {
				f.expectTokens("t")
				return
			}
			// The next attempt asks again.
			a.err = nil
			if err := step.Handle(t.Context(), question(b, "p", 1, "u")); err != nil || len(a.asked) != 2 {
				t.Errorf("asked %q, %v, want a second question", a.asked, err)
			}
		})
	}
}

// A task that starts anew, because its execution did, does not wait longer than the first one would have.
func TestPatienceIsCountedFromTheQuestion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	step, _ := newAsk(f)
	b := f.create("p")
	for i, late := range []time.Duration{0, 15*time.Minute - 1, 15 * time.Minute} {
		step.Now = func() time.Time { return now.Add(late) }
		errtest.Fatal(t, step.Handle(t.Context(), question(b, "p", 1, "t")))
		f.expect(b.ID, "0 matches, 0 unresolved; p: "+[]string{"Search In Progress", "Search In Progress",
			"Return Failed E000"}[i])
	}
	f.expectTokens("t")
}

// A run that is over, or followed by another one, asks nobody, and its task does not wait.
func TestQuestionsThatAreOver(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	step, a := newAsk(f)
	b := f.create("p")
	f.record(execution.Recorded, b.ID, "p", execution.Answer{ID: "1", Error: screening.ErrNoLists})
	again, err := f.get(b.ID).Rerun("", now)
	if err == nil {
		err = f.store.Save(t.Context(), again)
	}
	errtest.Fatal(t, err)
	for _, in := range []execution.AskInput{question(b, "p", 2, "second"), question(b, "p", 1, "first"),
		question(b, "q", 2, "other")} {
		errtest.Fatal(t, step.Handle(t.Context(), in))
	}
	f.expectTokens("first other")
	difftest.Len(t, "asked, in the second run", 1, a.asked)
	f.record(execution.Recorded, b.ID, "p", execution.Answer{ID: "1"})
	f.expectTokens("first other second")
	f.expect(b.ID, "0 matches, 0 unresolved; p: Search Complete")
}
