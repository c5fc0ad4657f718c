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

// deps is what an execution needs from outside.
type deps struct {
	functions Functions
	authorize func(machine, function string) error
	tokens    *taskTokens
	region    string
	now       func() time.Time
	sleep     func(ctx context.Context, d time.Duration) error // returns early with the context's error
	random    func() float64                                   // from [0, 1), for jitter
}

// interrupted is the failure of a state whose execution, or whose Map, has ended contextObject it. It is never matched.
var interrupted = &Failure{}

// interpreter runs the states of a definition, the outermost or one inside a Map.
type interpreter struct {
	*deps
	machine       string // ARN
	history       *history
	definition    *Definition
	contextObject map[string]any // without State and Task
	lastEvent     int64          // id of the last event
}

func (ip *interpreter) run(ctx context.Context, input any) (any, *Failure) {
	name := ip.definition.StartAt
	for {
		s := ip.definition.States[name]
		output, next, failure := ip.runState(ctx, s, input)
		if failure != nil || next == "" {
			return output, failure
		}
		input, name = output, next
	}
}

func (ip *interpreter) addEvent(kind string, details map[string]any) {
	ip.lastEvent = ip.history.add(ip.lastEvent, ip.now(), kind, details)
}

// runState runs one state. next is "" at the end of the flow.
func (ip *interpreter) runState(ctx context.Context, s *state, input any) (output any, next string, failure *Failure) {
	if ctx.Err() != nil {
		return nil, "", interrupted
	}
	text, failure := encodeLimited(input, "input of a state")
	if failure != nil {
		return nil, "", failure
	}
	ip.addEvent(s.Type+"StateEntered", map[string]any{"name": s.name, "input": string(text)})
	contextObject := ip.newContextObject(s)
	switch s.Type {
	case "Fail":
		return nil, "", s.failFailure(input, contextObject)
	case "Task", "Map":
		output, next, failure = ip.runWithRetries(ctx, s, input, contextObject)
	default:
		output, next, failure = ip.runSimple(ctx, s, input, contextObject)
	}
	if failure != nil {
		return nil, "", failure
	}
	if text, failure = encodeLimited(output, "output of a state"); failure != nil {
		return nil, "", failure
	}
	ip.addEvent(s.Type+"StateExited", map[string]any{"name": s.name, "output": string(text)})
	return output, next, nil
}

// newContextObject is the context object as a state sees it.
func (ip *interpreter) newContextObject(s *state) map[string]any {
	object := make(map[string]any, len(ip.contextObject)+2)
	for k, v := range ip.contextObject {
		object[k] = v
	}
	object["State"] = map[string]any{"Name": s.name, "EnteredTime": formatTime(ip.now()), "RetryCount": jsonInt(0)}
	return object
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// runSimple runs the states that cannot be retried.
func (ip *interpreter) runSimple(ctx context.Context, s *state, input any, contextObject map[string]any) (any, string, *Failure) {
	effective, failure := s.InputPath.selectFrom(input, contextObject, "InputPath")
	if failure != nil {
		return nil, "", failure
	}
	result, next := effective, s.Next
	switch s.Type {
	case "Pass":
		if s.Parameters.isSet {
			if result, failure = s.Parameters.fill(effective, contextObject); failure != nil {
				return nil, "", failure
			}
		}
		if s.Result != nil {
			result, _ = decode(s.Result) // was checked when it was read
		}
		if result, failure = s.ResultPath.insertInto(input, result); failure != nil {
			return nil, "", failure
		}
	case "Choice":
		if next, failure = s.chooseNext(effective, contextObject); failure != nil {
			return nil, "", failure
		}
	case "Wait":
		seconds, failure := s.waitDuration(effective, contextObject)
		if failure != nil {
			return nil, "", failure
		}
		if ip.sleep(ctx, seconds) != nil {
			return nil, "", interrupted
		}
	}
	output, failure := s.OutputPath.selectFrom(result, contextObject, "OutputPath")
	return output, next, failure
}

func (s *state) chooseNext(input, contextObject any) (string, *Failure) {
	for i := range s.Choices {
		ok, failure := s.Choices[i].evaluate(input, contextObject)
		if failure != nil {
			return "", failure
		}
		if ok {
			return s.Choices[i].Next, nil
		}
	}
	if s.Default == "" {
		return "", newFailure("States.NoChoiceMatched", "No rule of the state %s matches and it has no Default.", s.name)
	}
	return s.Default, nil
}

func (s *state) waitDuration(input, contextObject any) (time.Duration, *Failure) {
	if s.Seconds != nil {
		return time.Duration(*s.Seconds) * time.Second, nil
	}
	v, ok := s.SecondsPath.lookup(input, contextObject)
	n, isNumber := toFloat(v)
	if !ok || !isNumber || n < 0 || n > 99_999_999 {
		return 0, newFailure("States.Runtime", "The SecondsPath %s leads to no number of seconds.", s.SecondsPath.text)
	}
	return time.Duration(n * float64(time.Second)), nil
}

// failFailure is what a Fail state ends with.
func (s *state) failFailure(input, contextObject any) *Failure {
	failure := &Failure{s.Error, s.Cause}
	for _, field := range []struct {
		path optionalPath
		into *string
	}{{s.ErrorPath, &failure.Error}, {s.CausePath, &failure.Cause}} {
		if !field.path.isSet {
			continue
		}
		v, _ := field.path.lookup(input, contextObject)
		text, ok := v.(string)
		if !ok {
			return newFailure("States.Runtime", "The path %s of the state %s leads to no text.", field.path.text, s.name)
		}
		*field.into = text
	}
	return failure
}

// runWithRetries runs a Task or a Map until it succeeds or no Retry is left, and then what catches its failure.
func (ip *interpreter) runWithRetries(ctx context.Context, s *state, input any, contextObject map[string]any) (any, string, *Failure) {
	used := make([]int, len(s.Retry))
	var output any
	var failure *Failure
	for count := 0; ; count++ {
		contextObject["State"].(map[string]any)["RetryCount"] = jsonInt(count)
		if output, failure = ip.runAttempt(ctx, s, input, contextObject); failure == nil {
			return output, s.Next, nil
		}
		i := slices.IndexFunc(s.Retry, func(r retrier) bool { return matchesError(r.ErrorEquals, failure.Error) })
		if i < 0 || used[i] >= s.Retry[i].maxAttempts() {
			break
		}
		wait := s.Retry[i].delayAfter(used[i], ip.random)
		used[i]++
		if ip.sleep(ctx, wait) != nil {
			return nil, "", interrupted
		}
	}
	for _, c := range s.Catch {
		if !matchesError(c.ErrorEquals, failure.Error) {
			continue
		}
		output, lost := c.ResultPath.insertInto(input, map[string]any{"Error": failure.Error, "Cause": failure.Cause})
		return output, c.Next, lost
	}
	return nil, "", failure
}

func (ip *interpreter) runAttempt(ctx context.Context, s *state, input any, contextObject map[string]any) (any, *Failure) {
	effective, failure := s.InputPath.selectFrom(input, contextObject, "InputPath")
	if failure != nil {
		return nil, failure
	}
	var result any
	if s.Type == "Task" {
		result, failure = ip.runTask(ctx, s, effective, contextObject)
	} else {
		result, failure = ip.runMap(ctx, s, effective, contextObject)
	}
	if failure != nil {
		return nil, failure
	}
	if s.ResultSelector.isSet {
		if result, failure = s.ResultSelector.fill(result, contextObject); failure != nil {
			return nil, failure
		}
	}
	output, failure := s.ResultPath.insertInto(input, result)
	if failure != nil {
		return nil, failure
	}
	return s.OutputPath.selectFrom(output, contextObject, "OutputPath")
}

// matchesError tells whether a list of error names catches an error. Some errors end an execution whatever it says.
func matchesError(names []string, failed string) bool {
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

func (r retrier) maxAttempts() int {
	if r.MaxAttempts == nil {
		return 3
	}
	return *r.MaxAttempts
}

// delayAfter is the wait before a retry, of which n went before.
func (r retrier) delayAfter(n int, random func() float64) time.Duration {
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

// selectFrom takes the part of a value that InputPath or OutputPath names; null stands for an empty object.
func (o optionalPath) selectFrom(v, contextObject any, field string) (any, *Failure) {
	switch {
	case !o.isSet:
		return v, nil
	case o.isNull:
		return map[string]any{}, nil
	}
	got, ok := o.lookup(v, contextObject)
	if !ok {
		return nil, newFailure("States.Runtime", "The %s %s leads to nothing.", field, o.text)
	}
	return got, nil
}

// insertInto puts a result into the input where ResultPath says; null drops the result.
func (o optionalPath) insertInto(input, result any) (any, *Failure) {
	switch {
	case !o.isSet:
		return result, nil
	case o.isNull:
		return input, nil
	}
	out, ok := o.referencePath.replace(input, result)
	if !ok || o.inContextObject {
		return nil, newFailure("States.ResultPathMatchFailure", "The ResultPath %s cannot be applied to the input.", o.text)
	}
	return out, nil
}

func jsonInt(n int) any { return json.Number(strconv.Itoa(n)) }
