package states

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"sluice/local/lambda"
)

// Functions invokes the Lambda functions of tasks.
type Functions interface {
	// Invoke runs a function and returns its result, also if the function failed. It returns an error only if the
	// function was not reached or the context has ended.
	Invoke(ctx context.Context, name string, payload []byte) (lambda.Result, error)
}

// deps holds what executions need from outside.
type deps struct {
	functions Functions
	// authorize returns an error if a machine, given by its ARN, may not invoke a function.
	authorize func(machine, function string) error
	tokens    *taskTokens
	region    string
	now       func() time.Time
	// sleep waits, and returns the context's error if the context ends first.
	sleep func(ctx context.Context, d time.Duration) error
	// random returns a number in [0, 1), for the jitter of retries.
	random func() float64
}

// interrupted is the failure of a state that was interrupted because its execution, its Map or its Parallel has ended.
// No Retry or Catch matches it.
var interrupted = &Failure{}

// interpreter runs the states of a definition: those of a machine, or those inside a Map or a Parallel.
type interpreter struct {
	*deps
	// machine is the ARN of the machine.
	machine    string
	history    *history
	definition *Definition
	// contextObject lacks State and Task, which differ from state to state.
	contextObject map[string]any
	// lastEvent is the ID of the last event.
	lastEvent int64
}

// run runs the states from the first to the last and returns the output.
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

// addEvent adds an event to the history.
func (ip *interpreter) addEvent(kind string, details map[string]any) {
	ip.lastEvent = ip.history.write(ip.lastEvent, ip.now(), kind, details)
}

// runState runs one state, including its retries. next is "" after the last state.
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
		return nil, "", &Failure{s.Error, s.Cause}
	case "Task", "Map", "Parallel":
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

// newContextObject returns the context object as a state sees it.
func (ip *interpreter) newContextObject(s *state) map[string]any {
	object := maps.Clone(ip.contextObject)
	object["State"] = map[string]any{"Name": s.name, "EnteredTime": formatTime(ip.now()), "RetryCount": jsonInt(0)}
	return object
}

// formatTime formats a time as the context object contains it.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// runSimple runs a state of a type that has no Retry and no Catch.
func (ip *interpreter) runSimple(
	ctx context.Context,
	s *state,
	input any,
	contextObject map[string]any,
) (result any, next string, failure *Failure) {
	result, next = input, s.Next
	switch s.Type {
	case "Pass":
		if s.Result != nil {
			result, _ = decode(s.Result) // valid JSON: the definition was parsed from it
		}
		if result, failure = s.ResultPath.insertInto(input, result); failure != nil {
			return nil, "", failure
		}
	case "Choice":
		if next, failure = s.chooseNext(input, contextObject); failure != nil {
			return nil, "", failure
		}
	case "Wait":
		seconds, failure := s.waitDuration(input, contextObject)
		if failure != nil {
			return nil, "", failure
		}
		if ip.sleep(ctx, seconds) != nil {
			return nil, "", interrupted
		}
	}
	result, failure = s.OutputPath.selectFrom(result, contextObject, "OutputPath")
	return result, next, failure
}

// waitDuration returns the duration of a Wait state.
func (s *state) waitDuration(input, contextObject any) (time.Duration, *Failure) {
	v, ok := s.SecondsPath.lookup(input, contextObject)
	n, isNumber := toFloat(v)
	if !ok || !isNumber || n < 0 || n > 99_999_999 {
		return 0, newFailure("States.Runtime", "The SecondsPath %s does not lead to a number of seconds.",
			s.SecondsPath.text)
	}
	return time.Duration(n * float64(time.Second)), nil
}

// chooseNext returns the next state of a Choice. A variable that does not exist is a failure; one of another type
// than a truth value satisfies no rule.
func (s *state) chooseNext(input, contextObject any) (string, *Failure) {
	for _, c := range s.Choices {
		v, present := c.Variable.lookup(input, contextObject)
		if !present {
			return "", newFailure("States.Runtime", "The variable %s of a choice does not exist.", c.Variable.text)
		}
		if v == *c.BooleanEquals {
			return c.Next, nil
		}
	}
	if s.Default == "" {
		return "", newFailure("States.NoChoiceMatched", "No rule of the state %s matches and it has no Default.",
			s.name)
	}
	return s.Default, nil
}

// runWithRetries runs a Task, a Map or a Parallel until it succeeds or no Retry applies. A failure then leads to the
// state of the first matching Catch, if any.
func (ip *interpreter) runWithRetries(
	ctx context.Context, s *state, input any, contextObject map[string]any,
) (output any, next string, failure *Failure) {
	retriesUsed := make([]int, len(s.Retry))
	for count := 0; ; count++ {
		contextObject["State"].(map[string]any)["RetryCount"] = jsonInt(count)
		if output, failure = ip.runAttempt(ctx, s, input, contextObject); failure == nil {
			return output, s.Next, nil
		}
		i := slices.IndexFunc(s.Retry, func(r retrier) bool { return matchesError(r.ErrorEquals, failure.Error) })
		if i < 0 || retriesUsed[i] >= s.Retry[i].MaxAttempts {
			break
		}
		wait := s.Retry[i].delayAfter(retriesUsed[i], ip.random)
		retriesUsed[i]++
		if ip.sleep(ctx, wait) != nil {
			return nil, "", interrupted
		}
	}
	for _, c := range s.Catch {
		if !matchesError(c.ErrorEquals, failure.Error) {
			continue
		}
		output, insertFailure := c.ResultPath.insertInto(input,
			map[string]any{"Error": failure.Error, "Cause": failure.Cause})
		return output, c.Next, insertFailure
	}
	return nil, "", failure
}

// runAttempt runs a Task, a Map or a Parallel once, with its input and output processing.
func (ip *interpreter) runAttempt(
	ctx context.Context,
	s *state,
	input any,
	contextObject map[string]any,
) (any, *Failure) {
	var result any
	var failure *Failure
	switch s.Type {
	case "Task":
		result, failure = ip.runTask(ctx, s, input, contextObject)
	case "Map":
		result, failure = ip.runMap(ctx, s, input, contextObject)
	default:
		result, failure = ip.runParallel(ctx, s, input, contextObject)
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

// matchesError reports whether a list of error names matches an error. No list matches States.Runtime, and only its own
// name matches States.DataLimitExceeded.
func matchesError(names []string, failed string) bool {
	if failed == "" || failed == "States.Runtime" {
		return false
	}
	terminal := failed == "States.DataLimitExceeded"
	return slices.ContainsFunc(names, func(n string) bool {
		return n == failed || n == "States.ALL" && !terminal ||
			n == "States.TaskFailed" && failed != "States.Timeout" && !terminal
	})
}

// maxDelaySeconds is the greatest value of MaxDelaySeconds, a little less than a year.
const maxDelaySeconds = 31_622_399

// delayAfter returns the time to wait before the next retry when n retries have been used.
func (r retrier) delayAfter(n int, random func() float64) time.Duration {
	seconds := min(float64(r.IntervalSeconds)*math.Pow(r.BackoffRate, float64(n)), float64(r.MaxDelaySeconds))
	if r.JitterStrategy == "FULL" {
		seconds *= random()
	}
	return time.Duration(seconds * float64(time.Second))
}
