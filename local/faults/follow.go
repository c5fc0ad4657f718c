package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"sluice/local/lambda"
)

// followed is a plan with the numbers of the calls that it has seen.
type followed struct {
	Plan
	// counts are the calls by label, and the asynchronous requests by function.
	counts map[string]int
}

// number counts a call and returns its number.
func (f *followed) number(label string) int {
	f.counts[label]++
	return f.counts[label]
}

// Record is one fault that has struck, a line of the journal.
type Record struct {
	Time time.Time `json:"time"`
	Seed uint64    `json:"seed"`
	Plan string    `json:"plan"`
	// Function and Part are what was struck, Call is the number of the call, Operation its name.
	Function  string `json:"function"`
	Part      string `json:"part,omitempty"`
	Call      int    `json:"call"`
	Kind      Kind   `json:"kind"`
	Operation string `json:"operation"`
}

// Journal makes the injector write each fault that strikes to w, as a line of JSON. It is set before the first call.
func (in *Injector) Journal(w io.Writer) { in.journal = w }

// OnStop sets what stops the execution of a thing, named by what a plan matches. It is set before the first call; plans
// that stop executions are refused without it.
func (in *Injector) OnStop(stop func(name string)) { in.stop = stop }

// Follow adds a plan. A plan of the same name and seed is replaced, and its calls are counted from the beginning.
func (in *Injector) Follow(p Plan) error {
	if err := p.check(); err != nil {
		return err
	}
	if in.stop == nil && slices.Contains(p.Kinds, Stop) {
		return fmt.Errorf("plan %q: there are no executions that could be stopped", p.Name)
	}
	in.Forget(p.Seed, p.Name)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.plans = append(in.plans, &followed{p, map[string]int{}})
	return nil
}

// Forget removes a plan, if there is one.
func (in *Injector) Forget(seed uint64, name string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.plans = slices.DeleteFunc(in.plans, func(f *followed) bool { return f.Seed == seed && f.Name == name })
}

// isScheduled reports whether an invocation comes from a schedule.
func isScheduled(payload []byte) bool { return bytes.Contains(payload, []byte(`"Scheduled Event"`)) }

// find returns the plan for an invocation, nil for none. call is what else identifies an invocation of a schedule.
func (in *Injector) find(payload []byte, call string) *followed {
	forClient, bySchedule := answersClient(payload), isScheduled(payload)
	for _, f := range in.plans {
		if f.Clients == forClient &&
			(bytes.Contains(payload, []byte(f.Match)) || bySchedule && strings.Contains(call, f.Match)) {
			return f
		}
	}
	return nil
}

// strike counts a call that no Kill has struck and returns the fault that its plan has for it, nil for none, and what a
// plan matches. text is what the call says, for invocations of schedules.
func (in *Injector) strike(function string, payload []byte, text, operation string) (s *strike, match string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	f := in.find(payload, text)
	if f == nil {
		return nil, ""
	}
	function = shortName(function)
	part := partOf(payload)
	if isScheduled(payload) {
		part = "schedule"
	}
	label := function + " " + part
	number := f.number(label)
	if s = f.strikeOf(label, number); s != nil {
		in.write(Record{Seed: f.Seed, Plan: f.Name, Function: function, Part: part, Call: number, Kind: s.Kind,
			Operation: operation})
	}
	return s, f.Match
}

// Deliveries returns after which times an asynchronous request is delivered. Without a plan for it that is once, at
// once.
func (in *Injector) Deliveries(function string, payload []byte) []time.Duration {
	in.mu.Lock()
	defer in.mu.Unlock()
	f := in.find(payload, "")
	if f == nil {
		return []time.Duration{0}
	}
	function = shortName(function)
	number := f.number("event for " + function)
	after, kind := f.deliveries(function, number, bytes.Contains(payload, []byte(`"aws:s3"`)))
	if kind != "" {
		in.write(Record{Seed: f.Seed, Plan: f.Name, Function: function, Call: number, Kind: kind, Operation: "event"})
	}
	return after
}

// write adds a line to the journal. A line that cannot be written is missing there and changes nothing else.
func (in *Injector) write(r Record) {
	if in.journal == nil {
		return
	}
	r.Time = time.Now().UTC()
	if line, err := json.Marshal(r); err == nil {
		_, _ = in.journal.Write(append(line, '\n'))
	}
}

// shortName returns the name of a function without the prefix of the deployment and a version.
func shortName(function string) string {
	function, _, _ = strings.Cut(function, ":")
	return function[strings.LastIndexByte(function, '-')+1:]
}

// Functions invokes functions for state machines, and strikes their invocations by the plans.
type Functions struct {
	Injector *Injector
	// Functions runs the functions.
	Functions interface {
		Invoke(ctx context.Context, name string, payload []byte) (lambda.Result, error)
	}
}

// Invoke runs a function unless a fault keeps it from running. A fault can also take its result away.
func (f Functions) Invoke(ctx context.Context, name string, payload []byte) (lambda.Result, error) {
	s, match := f.Injector.strike(invocations+shortName(name), payload, "", "Invoke")
	if s == nil {
		return f.Functions.Invoke(ctx, name, payload)
	}
	switch s.Kind {
	case Throttle:
		return failed("Lambda.TooManyRequestsException"), nil
	case Error:
		return failed("Lambda.ServiceException"), nil
	case Reset, KillBefore:
		return failed("Lambda.SdkClientException"), nil
	case Drop, Cut, KillAfter:
		if _, err := f.Functions.Invoke(ctx, name, payload); err != nil {
			return lambda.Result{}, err
		}
		return failed([]string{"Lambda.ClientExecutionTimeoutException", "Lambda.AWSLambdaException"}[s.variant]), nil
	case Stop:
		go f.Injector.stop(match) // it waits for this invocation
	}
	return f.Functions.Invoke(ctx, name, payload)
}

// failed returns the result of an invocation that has failed.
func failed(errorType string) lambda.Result {
	payload, _ := json.Marshal(map[string]string{"errorType": errorType, "errorMessage": "An injected fault."})
	return lambda.Result{Payload: payload, Failed: true, ErrorType: errorType}
}
