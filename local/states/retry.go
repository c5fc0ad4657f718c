package states

import (
	"context"
	"math"
	"slices"
	"time"
)

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
