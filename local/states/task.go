package states

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"time"

	"sluice/local/lambda"
)

// runTask runs one attempt of a Task: it invokes the function and, if the task has a token, waits until the token is
// answered.
func (ip *interpreter) runTask(ctx context.Context, s *state, input any, contextObject map[string]any) (any, *Failure) {
	var token *taskToken
	if strings.HasSuffix(s.Resource, waitForTokenSuffix) {
		token = ip.tokens.create(ip.machine)
		defer ip.tokens.remove(token)
		contextObject["Task"] = map[string]any{"Token": token.id}
	}
	parameters, failure := s.Parameters.fill(input, contextObject)
	if failure != nil {
		return nil, failure
	}
	if _, failure := encodeLimited(parameters, "input of a task"); failure != nil {
		return nil, failure
	}
	m, _ := parameters.(map[string]any)
	c := functionCall{interpreter: ip, payload: m["Payload"], token: token}
	if c.payload == nil {
		c.payload = map[string]any{}
	}
	if c.function, _ = m["FunctionName"].(string); c.function == "" {
		return nil, newFailure("States.Runtime", "The state %s does not name a function.", s.name)
	}
	timeout, failure := s.timeout(input, contextObject)
	if failure != nil {
		return nil, failure
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, errTaskTimeout)
		defer cancel()
	}
	c.recordStart(parameters)
	result, failure := c.invoke(ctx)
	return result, c.recordEnd(result, failure)
}

// timeout returns how long one attempt of a Task may take, 0 for no limit.
func (s *state) timeout(input any, contextObject map[string]any) (time.Duration, *Failure) {
	if !s.TimeoutSecondsPath.isSet {
		return time.Duration(s.TimeoutSeconds) * time.Second, nil
	}
	v, _ := s.TimeoutSecondsPath.lookup(input, contextObject)
	seconds, ok := toFloat(v)
	if !ok || seconds < 1 {
		return 0, newFailure("States.Runtime", "The TimeoutSecondsPath %s does not lead to a number of 1 or more.",
			s.TimeoutSecondsPath.text)
	}
	return time.Duration(min(seconds, 1e8)) * time.Second, nil
}

// errTaskTimeout is the cause that interrupts a task after its TimeoutSeconds.
var errTaskTimeout = errors.New("the task took too long")

// functionCall is one invocation of a function by a Task.
type functionCall struct {
	*interpreter
	// function is an ARN or a name.
	function string
	payload  any
	// token is nil for a task that does not wait for one.
	token *taskToken
}

// invoke invokes the function and returns the result of the task.
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
	case errors.As(err, new(*lambda.ThrottledError)):
		return nil, newFailure("Lambda.TooManyRequestsException", "%v (Service: Lambda, Status Code: 429)", err)
	case err != nil && context.Cause(ctx) == errTaskTimeout:
		return nil, newFailure("States.Timeout", "The task took longer than its TimeoutSeconds.")
	case err != nil && ctx.Err() != nil:
		return nil, interrupted
	case err != nil:
		return nil, newFailure("Lambda.SdkClientException", "%v", err)
	case result.Failed && result.ErrorType == "":
		return nil, newFailure(
			"Lambda.Unknown",
			"The cause could not be determined because Lambda did not return an error type. "+
				"Returned payload: %s",
			result.Payload,
		)
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
	return map[string]any{"ExecutedVersion": result.Version, "Payload": answer, "StatusCode": jsonInt(200)}, nil
}

// functionName returns the name of a function that is given by its name or its ARN, with its version or alias if it has
// one.
func functionName(s string) string {
	if _, after, found := strings.Cut(s, ":function:"); found {
		return after
	}
	return s
}

// waitForToken returns the result that is sent for the token of the task.
func (c *functionCall) waitForToken(ctx context.Context) (any, *Failure) {
	select {
	case sent := <-c.token.result:
		return sent.output, sent.failure
	case <-ctx.Done():
		if context.Cause(ctx) == errTaskTimeout {
			return c.withdrawToken(newFailure("States.Timeout", "The task took longer than its TimeoutSeconds."))
		}
		return nil, interrupted
	}
}

// withdrawToken ends a task whose time is over with a failure. If its token was answered just before, the answer
// counts: whoever sent it was told so.
func (c *functionCall) withdrawToken(failure *Failure) (any, *Failure) {
	c.tokens.remove(c.token)
	select {
	case sent := <-c.token.result:
		return sent.output, sent.failure
	default:
		return nil, failure
	}
}

// recordStart adds the events of the beginning of a call to the history.
func (c *functionCall) recordStart(parameters any) {
	scheduled := map[string]any{"region": c.region, "parameters": string(encode(parameters))}
	c.addEvent("TaskScheduled", c.integrationDetails(scheduled))
	c.addEvent("TaskStarted", c.integrationDetails(nil))
}

// recordEnd adds the event of the end of a call to the history and returns the failure, if any.
func (c *functionCall) recordEnd(result any, failure *Failure) *Failure {
	kind, details := "Succeeded", map[string]any{}
	switch {
	case failure == interrupted:
		return failure
	case failure != nil && failure.Error == "States.Timeout":
		kind, details["error"], details["cause"] = "TimedOut", failure.Error, failure.Cause
	case failure != nil:
		kind, details["error"], details["cause"] = "Failed", failure.Error, failure.Cause
	default:
		details["output"] = string(encode(result))
	}
	c.addEvent("Task"+kind, c.integrationDetails(details))
	return failure
}

// integrationDetails adds the fields that all events of the Lambda integration have.
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

// taskTokens holds the tokens of the tasks that wait for one. It is safe for concurrent use.
type taskTokens struct {
	newID func() string
	mu    sync.Mutex
	open  map[string]*taskToken
}

// taskToken is the token of one waiting task.
type taskToken struct {
	// id begins with the ARN of the task's machine, encoded.
	id string
	// result has room for one result.
	result chan taskResult
}

// taskResult is what was sent for a token: an output, or a failure.
type taskResult struct {
	output  any
	failure *Failure
}

// create returns a new token for a task of a machine.
func (t *taskTokens) create(machineARN string) *taskToken {
	t.mu.Lock()
	defer t.mu.Unlock()
	token := &taskToken{
		id:     base64.RawURLEncoding.EncodeToString([]byte(machineARN)) + "." + t.newID(),
		result: make(chan taskResult, 1),
	}
	t.open[token.id] = token
	return token
}

// remove invalidates a token.
func (t *taskTokens) remove(token *taskToken) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, token.id)
}

// machineOfToken returns the ARN of the machine of a token, whether or not a task waits for it, and "" for what is not
// a token.
func machineOfToken(id string) string {
	encoded, _, isToken := strings.Cut(id, ".")
	arn, err := base64.RawURLEncoding.DecodeString(encoded)
	if !isToken || err != nil {
		return ""
	}
	return string(arn)
}

// complete sends a task its result and invalidates the token. It returns false if no task waits for the token.
func (t *taskTokens) complete(id string, result taskResult) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	token, ok := t.open[id]
	if ok {
		delete(t.open, id)
		token.result <- result
	}
	return ok
}
