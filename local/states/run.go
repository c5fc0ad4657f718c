package states

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"sluice/local/lambda"
)

// Functions are the Lambda functions that tasks call.
type Functions interface {
	// Invoke returns an error only when the function was not reached, or the context has ended.
	Invoke(ctx context.Context, name string, payload []byte) (lambda.Result, error)
}

// world is what an execution needs from outside.
type world struct {
	functions Functions
	allowed   func(machine, function string) error
	tokens    *tokens
	region    string
	now       func() time.Time
	sleep     func(ctx context.Context, d time.Duration) error // returns early with the context's error
	random    func() float64                                   // from [0, 1), for jitter
}

// interrupted is the failure of a state whose execution, or whose Map, has ended around it. It is never matched.
var interrupted = &Failure{}

// flow runs the states of a definition, the outermost or one inside a Map.
type flow struct {
	*world
	machine string // ARN
	history *history
	states  *Definition
	context map[string]any // without State and Task
	last    int64          // id of the last event
}

func (f *flow) run(ctx context.Context, input any) (any, *Failure) {
	name := f.states.StartAt
	for {
		s := f.states.States[name]
		output, next, failure := f.step(ctx, s, input)
		if failure != nil || next == "" {
			return output, failure
		}
		input, name = output, next
	}
}

func (f *flow) add(kind string, details map[string]any) {
	f.last = f.history.add(f.last, f.now(), kind, details)
}

// step runs one state. next is "" at the end of the flow.
func (f *flow) step(ctx context.Context, s *state, input any) (output any, next string, failure *Failure) {
	if ctx.Err() != nil {
		return nil, "", interrupted
	}
	text, failure := measured(input, "input of a state")
	if failure != nil {
		return nil, "", failure
	}
	f.add(s.Type+"StateEntered", map[string]any{"name": s.name, "input": string(text)})
	around := f.around(s)
	switch s.Type {
	case "Fail":
		return nil, "", s.failure(input, around)
	case "Task", "Map":
		output, next, failure = f.withRetries(ctx, s, input, around)
	default:
		output, next, failure = f.simple(ctx, s, input, around)
	}
	if failure != nil {
		return nil, "", failure
	}
	if text, failure = measured(output, "output of a state"); failure != nil {
		return nil, "", failure
	}
	f.add(s.Type+"StateExited", map[string]any{"name": s.name, "output": string(text)})
	return output, next, nil
}

// around is the context object as a state sees it.
func (f *flow) around(s *state) map[string]any {
	object := make(map[string]any, len(f.context)+2)
	for k, v := range f.context {
		object[k] = v
	}
	object["State"] = map[string]any{"Name": s.name, "EnteredTime": stamp(f.now()), "RetryCount": integer(0)}
	return object
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// simple runs the states that cannot be retried.
func (f *flow) simple(ctx context.Context, s *state, input any, around map[string]any) (any, string, *Failure) {
	effective, failure := s.InputPath.apply(input, around, "InputPath")
	if failure != nil {
		return nil, "", failure
	}
	result, next := effective, s.Next
	switch s.Type {
	case "Pass":
		if s.Parameters.set {
			if result, failure = s.Parameters.fill(effective, around); failure != nil {
				return nil, "", failure
			}
		}
		if s.Result != nil {
			result, _ = decode(s.Result) // was checked when it was read
		}
		if result, failure = s.ResultPath.insert(input, result); failure != nil {
			return nil, "", failure
		}
	case "Choice":
		if next, failure = s.choose(effective, around); failure != nil {
			return nil, "", failure
		}
	case "Wait":
		seconds, failure := s.seconds(effective, around)
		if failure != nil {
			return nil, "", failure
		}
		if f.sleep(ctx, seconds) != nil {
			return nil, "", interrupted
		}
	}
	output, failure := s.OutputPath.apply(result, around, "OutputPath")
	return output, next, failure
}

func (s *state) choose(input, around any) (string, *Failure) {
	for i := range s.Choices {
		ok, failure := s.Choices[i].holds(input, around)
		if failure != nil {
			return "", failure
		}
		if ok {
			return s.Choices[i].Next, nil
		}
	}
	if s.Default == "" {
		return "", fail("States.NoChoiceMatched", "No rule of the state %s matches and it has no Default.", s.name)
	}
	return s.Default, nil
}

func (s *state) seconds(input, around any) (time.Duration, *Failure) {
	if s.Seconds != nil {
		return time.Duration(*s.Seconds) * time.Second, nil
	}
	v, ok := s.SecondsPath.get(input, around)
	n, isNumber := number(v)
	if !ok || !isNumber || n < 0 || n > 99_999_999 {
		return 0, fail("States.Runtime", "The SecondsPath %s leads to no number of seconds.", s.SecondsPath.text)
	}
	return time.Duration(n * float64(time.Second)), nil
}

// failure is what a Fail state ends with.
func (s *state) failure(input, around any) *Failure {
	failure := &Failure{s.Error, s.Cause}
	for _, field := range []struct {
		path optionalPath
		into *string
	}{{s.ErrorPath, &failure.Error}, {s.CausePath, &failure.Cause}} {
		if !field.path.set {
			continue
		}
		v, _ := field.path.get(input, around)
		text, ok := v.(string)
		if !ok {
			return fail("States.Runtime", "The path %s of the state %s leads to no text.", field.path.text, s.name)
		}
		*field.into = text
	}
	return failure
}

// withRetries runs a Task or a Map until it succeeds or no Retry is left, and then what catches its failure.
func (f *flow) withRetries(ctx context.Context, s *state, input any, around map[string]any) (any, string, *Failure) {
	used := make([]int, len(s.Retry))
	var output any
	var failure *Failure
	for count := 0; ; count++ {
		around["State"].(map[string]any)["RetryCount"] = integer(count)
		if output, failure = f.attempt(ctx, s, input, around); failure == nil {
			return output, s.Next, nil
		}
		i := slices.IndexFunc(s.Retry, func(r retrier) bool { return matches(r.ErrorEquals, failure.Error) })
		if i < 0 || used[i] >= s.Retry[i].attempts() {
			break
		}
		wait := s.Retry[i].delay(used[i], f.random)
		used[i]++
		if f.sleep(ctx, wait) != nil {
			return nil, "", interrupted
		}
	}
	for _, c := range s.Catch {
		if !matches(c.ErrorEquals, failure.Error) {
			continue
		}
		output, lost := c.ResultPath.insert(input, map[string]any{"Error": failure.Error, "Cause": failure.Cause})
		return output, c.Next, lost
	}
	return nil, "", failure
}

func (f *flow) attempt(ctx context.Context, s *state, input any, around map[string]any) (any, *Failure) {
	effective, failure := s.InputPath.apply(input, around, "InputPath")
	if failure != nil {
		return nil, failure
	}
	var result any
	if s.Type == "Task" {
		result, failure = f.task(ctx, s, effective, around)
	} else {
		result, failure = f.mapItems(ctx, s, effective, around)
	}
	if failure != nil {
		return nil, failure
	}
	if s.ResultSelector.set {
		if result, failure = s.ResultSelector.fill(result, around); failure != nil {
			return nil, failure
		}
	}
	output, failure := s.ResultPath.insert(input, result)
	if failure != nil {
		return nil, failure
	}
	return s.OutputPath.apply(output, around, "OutputPath")
}

// matches tells whether a list of error names catches an error. Some errors end an execution whatever it says.
func matches(names []string, failed string) bool {
	if failed == "" || failed == "States.Runtime" {
		return false
	}
	timeout := failed == "States.Timeout" || failed == "States.HeartbeatTimeout"
	terminal := failed == "States.DataLimitExceeded"
	return slices.ContainsFunc(names, func(n string) bool {
		return n == failed || n == "States.ALL" && !terminal || n == "States.TaskFailed" && !timeout && !terminal ||
			n == "States.Timeout" && timeout
	})
}

func (r retrier) attempts() int {
	if r.MaxAttempts == nil {
		return 3
	}
	return *r.MaxAttempts
}

// delay is the wait before a retry, of which n went before.
func (r retrier) delay(n int, random func() float64) time.Duration {
	interval, rate := 1.0, 2.0
	if r.IntervalSeconds != nil {
		interval = float64(*r.IntervalSeconds)
	}
	if r.BackoffRate != nil {
		rate = *r.BackoffRate
	}
	seconds := interval * math.Pow(rate, float64(n))
	if r.MaxDelaySeconds > 0 {
		seconds = min(seconds, float64(r.MaxDelaySeconds))
	}
	if r.JitterStrategy == "FULL" {
		seconds *= random()
	}
	return time.Duration(seconds * float64(time.Second))
}

// apply takes the part of a value that InputPath or OutputPath names; null stands for an empty object.
func (o optionalPath) apply(v, around any, field string) (any, *Failure) {
	switch {
	case !o.set:
		return v, nil
	case o.null:
		return map[string]any{}, nil
	}
	got, ok := o.get(v, around)
	if !ok {
		return nil, fail("States.Runtime", "The %s %s leads to nothing.", field, o.text)
	}
	return got, nil
}

// insert puts a result into the input where ResultPath says; null drops the result.
func (o optionalPath) insert(input, result any) (any, *Failure) {
	switch {
	case !o.set:
		return result, nil
	case o.null:
		return input, nil
	}
	out, ok := o.path.set(input, result)
	if !ok || o.context {
		return nil, fail("States.ResultPathMatchFailure", "The ResultPath %s cannot be applied to the input.", o.text)
	}
	return out, nil
}

func integer(n int) any { return json.Number(strconv.Itoa(n)) }
