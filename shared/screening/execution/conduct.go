package execution

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sluice/shared/kit/deadline"
	"sluice/shared/kit/machine"
	"sluice/shared/screening"
)

// Coordinator begins and ends the executions of screening batches. Its method HandleInput is the conduct function: that
// of the states Begin and GiveUp, of executions that have ended otherwise, and of the sweep.
type Coordinator struct {
	Store screening.Store
	// Runs are the executions.
	Runs interface {
		StartRun(ctx context.Context, in Input) error
		Execution(ctx context.Context, in Input) (State, error)
	}
	// Patience is how long a provider may take to answer.
	Patience time.Duration
	// Width is how many providers of a batch search at once.
	Width int
	// SweepAge is the least age of a run for the sweep, at most longestSweepAge.
	SweepAge time.Duration
	Now      func() time.Time
	Log      *slog.Logger
}

// ConductInput is the input of the states Begin and GiveUp.
type ConductInput struct {
	Input
	// ProviderID is the provider that has failed; "" for all of the run.
	ProviderID string `json:"provider,omitempty"`
	// Failure is why the run, or the search of the provider, cannot go on; nil in the state Begin.
	Failure *machine.Failure `json:"failure,omitempty"`
}

// Plan is the work of an execution.
type Plan struct {
	Providers []PlannedProvider `json:"providers"`
	// Width is how many of them search at once.
	Width int `json:"width"`
	// Patience is for how many seconds the answer of a provider is awaited.
	Patience int `json:"patience"`
}

// PlannedProvider is a provider that searches.
type PlannedProvider struct {
	ID string `json:"id"`
	// IsBuiltIn tells the built-in provider from those that have adapters.
	IsBuiltIn bool `json:"built_in"`
}

// newConductInput returns the input for an event about an execution: to end the searches of the run, unless they have
// ended.
func newConductInput(e machine.Event) (ConductInput, error) {
	var in ConductInput
	if err := json.Unmarshal([]byte(e.Detail.Input), &in); err != nil {
		return ConductInput{}, fmt.Errorf("read the input of an execution that has ended: %w", err)
	}
	if !e.IsFromStepFunctions() || in.BatchID == "" {
		return ConductInput{}, fmt.Errorf("event from %q about an execution without a batch", e.Source)
	}
	in.ProviderID, in.Failure = "", e.Failure()
	return in, nil
}

// HandleInput handles the input of a state, the end of an execution that was stopped or ran out of time, or the
// schedule of the sweep. It returns an error for anything else.
func (c *Coordinator) HandleInput(ctx context.Context, text json.RawMessage) (Plan, error) {
	ctx, cancel := deadline.Shorten(ctx, margin)
	defer cancel()
	var e machine.Event
	var in ConductInput
	err := json.Unmarshal(text, &e)
	switch {
	case err != nil:
		return Plan{}, fmt.Errorf("read input: %w", err)
	case e.DetailType == machine.Scheduled:
		return Plan{}, c.sweep(ctx)
	case e.DetailType == machine.ExecutionEnded:
		in, err = newConductInput(e)
	case e.DetailType == "":
		err = json.Unmarshal(text, &in)
	default:
		err = fmt.Errorf("unknown kind of event: detail-type %q", e.DetailType)
	}
	if err != nil {
		return Plan{}, err
	}
	plan, err := c.Handle(ctx, in)
	if err != nil {
		c.Log.ErrorContext(ctx, "screening step failed", "batch", in.BatchID, "error", err)
		return Plan{}, &Transient{"the step did not finish; its log has the cause"}
	}
	return plan, nil
}

// Handle returns the plan of a run or, with a failure, ends searches of it as failed. It may be repeated: searches that
// have ended stay as they are, and are not in the plan.
func (c *Coordinator) Handle(ctx context.Context, in ConductInput) (Plan, error) {
	plan := Plan{Providers: []PlannedProvider{}, Width: c.Width, Patience: int(c.Patience / time.Second)}
	b, err := c.Store.Get(ctx, in.Tenant, in.BatchID)
	if errors.Is(err, screening.ErrNotFound) {
		return plan, nil // executions are started for stored batches only, so this is not one of them
	}
	if err != nil {
		return Plan{}, err
	}
	for _, p := range b.Searching(in.Run) {
		switch {
		case in.Failure == nil:
			plan.Providers = append(plan.Providers, PlannedProvider{p.ID, p.ID == screening.BuiltIn})
		case in.ProviderID == "" || in.ProviderID == p.ID:
			c.Log.ErrorContext(ctx, "screening search given up", "batch", b.ID, "provider", p.ID,
				"error", in.Failure.Error, "cause", in.Failure.Cause)
			if err := c.fail(ctx, b, p, in.Failure); err != nil {
				return Plan{}, err
			}
		}
	}
	return plan, nil
}

// fail ends the search of a provider as failed.
func (c *Coordinator) fail(ctx context.Context, b screening.Batch, p screening.ProviderRun, f *machine.Failure) error {
	return finishCurrent(ctx, c.Store, b.Tenant, b.ID,
		screening.Answer{ID: answerID(p, "failure"), ProviderID: p.ID, Run: p.Run, Error: c.errorOf(p, f)})
}

// messageNoAnswer is the message for a provider that did not answer in time.
const messageNoAnswer = "The provider did not answer in time."

// errorOf returns the error of a failure for clients. Its cause is in the log.
func (c *Coordinator) errorOf(p screening.ProviderRun, f *machine.Failure) *screening.ProviderError {
	e := &screening.ProviderError{Source: screening.SourceInvoker, Code: screening.CodeNotSpecified}
	var lambda struct {
		Message string `json:"errorMessage"`
	}
	isForeign := p.ID != screening.BuiltIn
	switch {
	case isForeign && f.Error == "States.Timeout":
		e.Source = screening.SourceAdapter
		e.Message = messageNoAnswer
	case isForeign && f.Error == "Unreachable" && json.Unmarshal([]byte(f.Cause), &lambda) == nil &&
		lambda.Message != "":
		e.Source, e.Message = screening.SourceAdapter, lambda.Message
	default:
		e.Message = "The search was interrupted. Run it again."
	}
	return e
}

// Ages and pauses of the sweep.
const (
	// longestSweepAge is the age of a run at which its start is not under way any more.
	longestSweepAge = time.Minute
	// longestPause is the longest time after which the sweep inspects a batch again.
	longestPause = time.Hour
)

// sweep inspects the searching batches: it starts executions that were not started, and ends
// searches whose execution has ended without them. An error about one batch does not keep the others waiting.
func (c *Coordinator) sweep(ctx context.Context) error {
	var errs []error
	err := c.Store.EachSearching(ctx, c.Now().Add(-min(longestSweepAge, c.SweepAge)),
		func(tenant, batchID string) error {
			errs = append(errs, c.sweepBatch(ctx, tenant, batchID))
			return ctx.Err()
		})
	return errors.Join(append(errs, err)...)
}

func (c *Coordinator) sweepBatch(ctx context.Context, tenant, batchID string) error {
	b, err := c.Store.Get(ctx, tenant, batchID)
	if errors.Is(err, screening.ErrNotFound) || err == nil && !b.IsSearching() {
		return nil // the index is a moment late
	}
	if err != nil {
		return err
	}
	// The batch is postponed first: one that interrupts the function must not be the first of every sweep.
	now := c.Now()
	if err := c.Store.Postpone(ctx, tenant, batchID, now.Add(min(now.Sub(b.StartedAt)/4, longestPause))); err != nil {
		return err
	}
	var errs []error
	for _, run := range b.SearchingRuns() {
		errs = append(errs, c.sweepRun(ctx, Input{tenant, batchID, run}))
	}
	return errors.Join(errs...)
}

func (c *Coordinator) sweepRun(ctx context.Context, in Input) error {
	state, err := c.Runs.Execution(ctx, in)
	switch {
	case err != nil || state == Running:
		return err
	case state == NoExecution:
		c.Log.WarnContext(ctx, "the start of a screening was lost", "batch", in.BatchID, "run", in.Run)
		return c.Runs.StartRun(ctx, in)
	}
	ended := machine.Failure{Error: "Sweep", Cause: "the execution has ended"}
	_, err = c.Handle(ctx, ConductInput{Input: in, Failure: &ended})
	return err
}
