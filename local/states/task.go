package states

import (
	"context"
	"errors"
	"strings"
	"time"

	"sluice/local/lambda"
)

// runTask runs one attempt of a Task: it calls its function, and waits for its token if it says so.
func (ip *interpreter) runTask(ctx context.Context, s *state, input any, contextObject map[string]any) (any, *Failure) {
	own, waits, _ := s.taskTarget() // was checked when it was read
	var token *taskToken
	if waits {
		token = ip.tokens.create(ip.machine)
		defer ip.tokens.remove(token)
		contextObject["Task"] = map[string]any{"Token": token.id}
	}
	parameters := input
	if s.Parameters.isSet {
		var failure *Failure
		if parameters, failure = s.Parameters.fill(input, contextObject); failure != nil {
			return nil, failure
		}
	}
	if _, failure := encodeLimited(parameters, "input of a task"); failure != nil {
		return nil, failure
	}
	c := functionCall{interpreter: ip, direct: own != "", function: own, payload: parameters, token: token,
		heartbeat: time.Duration(s.HeartbeatSeconds) * time.Second}
	if own == "" {
		m, _ := parameters.(map[string]any)
		c.function, _ = m["FunctionName"].(string)
		if c.payload = m["Payload"]; c.payload == nil {
			c.payload = map[string]any{}
		}
		if c.function == "" {
			return nil, newFailure("States.Runtime", "The state %s names no function.", s.name)
		}
	}
	if s.TimeoutSeconds > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(s.TimeoutSeconds)*time.Second, errTaskTimeout)
		defer cancel()
	}
	c.recordStart(parameters)
	result, failure := c.invoke(ctx)
	return result, c.recordEnd(result, failure)
}

var errTaskTimeout = errors.New("the task took too long")

// functionCall is one call of a function by a Task.
type functionCall struct {
	*interpreter
	direct    bool // the Resource is the function itself
	function  string
	payload   any
	token     *taskToken
	heartbeat time.Duration
}

func (c *functionCall) invoke(ctx context.Context) (any, *Failure) {
	if err := c.authorize(c.machine, c.function); err != nil {
		return nil, newFailure("Lambda.AWSLambdaException", "%v", err)
	}
	result, err := c.functions.Invoke(ctx, functionName(c.function), encode(c.payload))
	switch {
	case errors.Is(err, lambda.ErrNotFound):
		return nil, newFailure("Lambda.ResourceNotFoundException", "Function not found: %s", c.function)
	case errors.Is(err, lambda.ErrClosed):
		return nil, interrupted
	case err != nil && context.Cause(ctx) == errTaskTimeout:
		return nil, newFailure("States.Timeout", "The task took longer than its TimeoutSeconds.")
	case err != nil && ctx.Err() != nil:
		return nil, interrupted
	case err != nil:
		return nil, newFailure("Lambda.SdkClientException", "%v", err)
	case result.Failed && result.ErrorType == "":
		return nil, newFailure("Lambda.Unknown", "The cause could not be determined because Lambda did not return an error type. "+
			"Returned payload: %s", result.Payload)
	case result.Failed:
		return nil, &Failure{result.ErrorType, string(result.Payload)}
	}
	if c.token != nil {
		return c.waitForToken(ctx)
	}
	if len(result.Payload) > MaxPayload {
		return nil, newFailure("States.DataLimitExceeded", "The function returned %d bytes; at most %d are allowed.",
			len(result.Payload), MaxPayload)
	}
	answer, err := decode(result.Payload)
	if err != nil {
		return nil, newFailure("States.Runtime", "The function did not return JSON.")
	}
	if c.direct {
		return answer, nil
	}
	return map[string]any{"ExecutedVersion": "$LATEST", "Payload": answer, "StatusCode": jsonInt(200)}, nil
}

func functionName(s string) string {
	if _, after, found := strings.Cut(s, ":function:"); found {
		s = after
	}
	name, _, _ := strings.Cut(s, ":")
	return name
}

// waitForToken returns what is sent for the token of the task.
func (c *functionCall) waitForToken(ctx context.Context) (any, *Failure) {
	silence := time.NewTimer(time.Hour)
	defer silence.Stop()
	for {
		if c.heartbeat > 0 {
			silence.Reset(c.heartbeat)
		}
		select {
		case sent := <-c.token.result:
			return sent.output, sent.failure
		case <-c.token.heartbeats:
		case <-silence.C:
			if c.heartbeat > 0 {
				return nil, newFailure("States.HeartbeatTimeout", "There was no heartbeat for %v.", c.heartbeat)
			}
		case <-ctx.Done():
			if context.Cause(ctx) == errTaskTimeout {
				return nil, newFailure("States.Timeout", "The task took longer than its TimeoutSeconds.")
			}
			return nil, interrupted
		}
	}
}

// recordStart and ended write what the history says of a call.
func (c *functionCall) recordStart(parameters any) {
	text := string(encode(parameters))
	if c.direct {
		c.addEvent("LambdaFunctionScheduled", map[string]any{"resource": c.function, "input": text})
		c.addEvent("LambdaFunctionStarted", nil)
		return
	}
	c.addEvent("TaskScheduled", c.integrationDetails(map[string]any{"region": c.region, "parameters": text}))
	c.addEvent("TaskStarted", c.integrationDetails(nil))
}

func (c *functionCall) recordEnd(result any, failure *Failure) *Failure {
	kind, details := "Succeeded", map[string]any{}
	switch {
	case failure == interrupted:
		return failure
	case failure != nil && (failure.Error == "States.Timeout" || failure.Error == "States.HeartbeatTimeout"):
		kind, details["error"], details["cause"] = "TimedOut", failure.Error, failure.Cause
	case failure != nil:
		kind, details["error"], details["cause"] = "Failed", failure.Error, failure.Cause
	default:
		details["output"] = string(encode(result))
	}
	if c.direct {
		c.addEvent("LambdaFunction"+kind, details)
	} else {
		c.addEvent("Task"+kind, c.integrationDetails(details))
	}
	return failure
}

func (c *functionCall) integrationDetails(details map[string]any) map[string]any {
	if details == nil {
		details = map[string]any{}
	}
	details["resourceType"], details["resource"] = "lambda", "invoke"
	if c.token != nil {
		details["resource"] = "invoke" + waitForTokenSuffix
	}
	return details
}
