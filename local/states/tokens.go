package states

import (
	"encoding/base64"
	"strings"
	"sync"
)

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
