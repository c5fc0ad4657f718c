package execution_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/machine"
	"sluice/shared/screening"
	"sluice/shared/screening/execution"
)

// runs are executions in memory, by batch and run.
type runs struct {
	states  map[execution.Input]execution.State
	started []int
	err     error
}

func (r *runs) StartRun(_ context.Context, in execution.Input) error {
	r.started = append(r.started, in.Run)
	return r.err
}

func (r *runs) Execution(_ context.Context, in execution.Input) (execution.State, error) {
	return r.states[in], nil
}

func newConduct(f *fixture) (*execution.Coordinator, *runs) {
	r := &runs{states: map[execution.Input]execution.State{}}
	return &execution.Coordinator{Store: f.store, Runs: r, Patience: 15 * time.Minute, Width: 4, SweepAge: time.Hour,
		Log: quiet,
		Now: func() time.Time { return now.Add(time.Hour) }}, r
}

// handle gives the function an input, as JSON, and returns its output as JSON.
func handle(t *testing.T, c *execution.Coordinator, input any) string {
	t.Helper()
	text := errtest.Must(json.Marshal(input))(t)
	plan, err := c.HandleInput(t.Context(), text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out := errtest.Must(json.Marshal(plan))(t)
	return string(out)
}

func TestThePlanHasTheProvidersThatSearch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c, _ := newConduct(f)
	b := f.create("q", "p")
	in := execution.ConductInput{Input: execution.Input{Tenant: tenant, BatchID: b.ID, Run: 1}}
	want := `{"providers":[{"id":"p","built_in":false},{"id":"q","built_in":false}],"width":4,"patience":900}`
	difftest.Equal(t, "handle", want, handle(t, c, in))
	f.record(execution.Recorded, b.ID, "p", execution.Answer{ID: "1"})
	if got := handle(t, c, in); strings.Contains(got, `"p"`) || !strings.Contains(got, `"q"`) {
		t.Errorf("got %s, want q alone", got)
	}
	in.Run = 2
	difftest.Contains(t, "another run", handle(t, c, in), `"providers":[]`)
	in.BatchID = "other"
	difftest.Contains(t, "an unknown batch", handle(t, c, in), `"providers":[]`)
}

func TestFailuresEndSearches(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c, _ := newConduct(f)
	failure := func(kind, cause string) *machine.Failure { return &machine.Failure{Error: kind, Cause: cause} }
	for _, test := range []struct {
		name, provider string
		failure        *machine.Failure
		want           string
	}{
		{"no answer", "p", failure("States.Timeout", ""), "Adapter E000 The provider did not answer in time."},
		{"unreachable", "p", failure("Unreachable",
			`{"errorMessage":"The adapter answered 500.","errorType":"Unreachable"}`),
			"Adapter E000 The adapter answered 500."},
		{"a fault of the service", "p", failure("Transient", `{"errorMessage":"secret"}`),
			"Invoker E000 The search was interrupted. Run it again."},
		{"unreadable cause", "p", failure("Unreachable", `?`),
			"Invoker E000 The search was interrupted. Run it again."},
		{"all of a run", "", failure("Execution.ABORTED", ""),
			"Invoker E000 The search was interrupted. Run it again."},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := *f
			f.t = t
			b := f.create("p", "q")
			f.record(execution.Recorded, b.ID, "q", execution.Answer{ID: "1", Matches: matches("e", 1)})
			for range 2 {
				handle(t, c, execution.ConductInput{Input: execution.Input{Tenant: tenant, BatchID: b.ID, Run: 1},
					ProviderID: test.provider, Failure: test.failure})
			}
			f.expect(b.ID, "1 matches, 1 unresolved; p: Return Failed E000; q: Search Complete")
			e := f.get(b.ID).Providers[0].Error
			difftest.Equal(t, "Sprint", test.want, fmt.Sprint(e.Source, " ", e.Code, " ", e.Message))
			f.record(execution.Late, b.ID, "p", execution.Answer{ID: "1"})
		})
	}
}

// An execution that was stopped ends the searches of its own run.
func TestStoppedExecutionsEndTheirSearches(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c, _ := newConduct(f)
	b := f.create("p", "q")
	b, _, _ = b.FinishProvider(screening.Answer{ID: "x", ProviderID: "q", Error: screening.ErrNoLists})
	errtest.Fatal(t, f.store.Save(t.Context(), b))
	b, err := b.Rerun("q", now)
	if err == nil {
		err = f.store.Save(t.Context(), b)
	}
	errtest.Fatal(t, err)
	stop := func(run int) {
		handle(t, c, map[string]any{"source": "aws.states", "detail-type": "Step Functions Execution Status Change",
			"detail": map[string]any{"status": "ABORTED",
				"input": fmt.Sprintf(`{"tenant":%q,"batch_id":%q,"run":%d}`, tenant, b.ID, run)}})
	}
	stop(1)
	f.expect(b.ID, "0 matches, 0 unresolved; p: Return Failed E000; q: Search In Progress")
	stop(2)
	f.expect(b.ID, "0 matches, 0 unresolved; p: Return Failed E000; q: Return Failed E000")
}

func TestUnknownEventsAreRefused(t *testing.T) {
	t.Parallel()
	c, _ := newConduct(newFixture(t))
	for _, text := range []string{`[]`, `{"detail-type":"Other"}`, `{`,
		`{"detail-type":"Step Functions Execution Status Change","source":"aws.states","detail":{"input":"{}"}}`,
		`{"detail-type":"Step Functions Execution Status Change","source":"other",` +
			`"detail":{"input":"{\"batch_id\":\"b\"}"}}`,
	} {
		errtest.Fails(t, text, errtest.Of(c.HandleInput(t.Context(), json.RawMessage(text))))
	}
}

var schedule = map[string]any{"detail-type": "Scheduled Event", "source": "aws.events"}

// The sweep starts runs without an execution, leaves running ones alone, and ends searches whose execution has ended.
func TestSweep(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c, r := newConduct(f)
	b := f.create("p")
	in := execution.Input{Tenant: tenant, BatchID: b.ID, Run: 1}
	sweep := func(want string, started ...int) {
		t.Helper()
		errtest.Fatal(t, f.store.Postpone(t.Context(), tenant, b.ID, now))
		handle(t, c, schedule)
		f.expect(b.ID, "0 matches, 0 unresolved; p: "+want)
		if !slices.Equal(r.started, started) {
			t.Errorf("started the runs %v, want %v", r.started, started)
		}
	}
	sweep("Search In Progress", 1)
	handle(t, c, schedule) // it has been postponed
	r.states[in] = execution.Running
	sweep("Search In Progress", 1)
	r.states[in] = execution.Ended
	sweep("Return Failed E000", 1)
	handle(t, c, schedule)

	// One that fails is reported, and looked at again.
	b = f.create("p")
	r.err = errors.New("throttled")
	if _, err := c.HandleInput(t.Context(), json.RawMessage(`{"detail-type":"Scheduled Event"}`)); !errors.Is(err,
		r.err) {
		t.Errorf("got %v, want %v", err, r.err)
	}
	r.err = nil
	sweep("Search In Progress", 1, 1, 1)
}

// A run that has just been stored is probably being started.
func TestTheSweepLeavesNewRunsAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c, r := newConduct(f)
	f.create("p")
	c.Now = func() time.Time { return now.Add(time.Minute) }
	handle(t, c, schedule)
	difftest.Len(t, "started", 0, r.started)
	c.Now = func() time.Time { return now.Add(time.Minute + time.Second) }
	handle(t, c, schedule)
	difftest.Len(t, "started", 1, r.started)
}
