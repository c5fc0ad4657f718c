package states

import (
	"context"
	"errors"
	"strings"
	"time"

	"sluice/local/lambda"
)

// task runs one attempt of a Task: it calls its function, and waits for its token if it says so.
func (f *flow) task(ctx context.Context, s *state, input any, around map[string]any) (any, *Failure) {
	own, waits, _ := s.resource() // was checked when it was read
	var token *token
	if waits {
		token = f.tokens.issue(f.machine)
		defer f.tokens.forget(token)
		around["Task"] = map[string]any{"Token": token.id}
	}
	parameters := input
	if s.Parameters.set {
		var failure *Failure
		if parameters, failure = s.Parameters.fill(input, around); failure != nil {
			return nil, failure
		}
	}
	if _, failure := measured(parameters, "input of a task"); failure != nil {
		return nil, failure
	}
	c := call{flow: f, plain: own != "", function: own, payload: parameters, token: token,
		heartbeat: time.Duration(s.HeartbeatSeconds) * time.Second}
	if own == "" {
		m, _ := parameters.(map[string]any)
		c.function, _ = m["FunctionName"].(string)
		if c.payload = m["Payload"]; c.payload == nil {
			c.payload = map[string]any{}
		}
		if c.function == "" {
			return nil, fail("States.Runtime", "The state %s names no function.", s.name)
		}
	}
	if s.TimeoutSeconds > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(s.TimeoutSeconds)*time.Second, errTaskTimeout)
		defer cancel()
	}
	c.started(parameters)
	result, failure := c.run(ctx)
	return result, c.ended(result, failure)
}

var errTaskTimeout = errors.New("the task took too long")

// call is one call of a function by a Task.
type call struct {
	*flow
	plain     bool // the Resource is the function itself
	function  string
	payload   any
	token     *token
	heartbeat time.Duration
}

func (c *call) run(ctx context.Context) (any, *Failure) {
	if err := c.allowed(c.machine, c.function); err != nil {
		return nil, fail("Lambda.AWSLambdaException", "%v", err)
	}
	result, err := c.functions.Invoke(ctx, functionName(c.function), encode(c.payload))
	switch {
	case errors.Is(err, lambda.ErrNotFound):
		return nil, fail("Lambda.ResourceNotFoundException", "Function not found: %s", c.function)
	case errors.Is(err, lambda.ErrClosed):
		return nil, interrupted
	case err != nil && context.Cause(ctx) == errTaskTimeout:
		return nil, fail("States.Timeout", "The task took longer than its TimeoutSeconds.")
	case err != nil && ctx.Err() != nil:
		return nil, interrupted
	case err != nil:
		return nil, fail("Lambda.SdkClientException", "%v", err)
	case result.Failed && result.ErrorType == "":
		return nil, fail("Lambda.Unknown", "The cause could not be determined because Lambda did not return an error type. "+
			"Returned payload: %s", result.Payload)
	case result.Failed:
		return nil, &Failure{result.ErrorType, string(result.Payload)}
	}
	if c.token != nil {
		return c.wait(ctx)
	}
	if len(result.Payload) > MaxPayload {
		return nil, fail("States.DataLimitExceeded", "The function returned %d bytes; at most %d are allowed.",
			len(result.Payload), MaxPayload)
	}
	answer, err := decode(result.Payload)
	if err != nil {
		return nil, fail("States.Runtime", "The function did not return JSON.")
	}
	if c.plain {
		return answer, nil
	}
	return map[string]any{"ExecutedVersion": "$LATEST", "Payload": answer, "StatusCode": integer(200)}, nil
}

func functionName(s string) string {
	if _, after, found := strings.Cut(s, ":function:"); found {
		s = after
	}
	name, _, _ := strings.Cut(s, ":")
	return name
}

// wait returns what is sent for the token of the task.
func (c *call) wait(ctx context.Context) (any, *Failure) {
	silence := time.NewTimer(time.Hour)
	defer silence.Stop()
	for {
		if c.heartbeat > 0 {
			silence.Reset(c.heartbeat)
		}
		select {
		case sent := <-c.token.sent:
			return sent.output, sent.failure
		case <-c.token.beats:
		case <-silence.C:
			if c.heartbeat > 0 {
				return nil, fail("States.HeartbeatTimeout", "There was no heartbeat for %v.", c.heartbeat)
			}
		case <-ctx.Done():
			if context.Cause(ctx) == errTaskTimeout {
				return nil, fail("States.Timeout", "The task took longer than its TimeoutSeconds.")
			}
			return nil, interrupted
		}
	}
}

// started and ended write what the history says of a call.
func (c *call) started(parameters any) {
	text := string(encode(parameters))
	if c.plain {
		c.add("LambdaFunctionScheduled", map[string]any{"resource": c.function, "input": text})
		c.add("LambdaFunctionStarted", nil)
		return
	}
	c.add("TaskScheduled", c.integration(map[string]any{"region": c.region, "parameters": text}))
	c.add("TaskStarted", c.integration(nil))
}

func (c *call) ended(result any, failure *Failure) *Failure {
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
	if c.plain {
		c.add("LambdaFunction"+kind, details)
	} else {
		c.add("Task"+kind, c.integration(details))
	}
	return failure
}

func (c *call) integration(details map[string]any) map[string]any {
	if details == nil {
		details = map[string]any{}
	}
	details["resourceType"], details["resource"] = "lambda", "invoke"
	if c.token != nil {
		details["resource"] = "invoke" + tokenTail
	}
	return details
}
