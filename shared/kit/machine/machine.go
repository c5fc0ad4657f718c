// Package machine holds what Step Functions and EventBridge hand to the functions of state machines: errors that Catch
// passes on, and events about executions that have ended; and how functions complete tasks.
package machine

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
)

// Failure is the error of a task as the state machine's Catch passes it on.
type Failure struct {
	// Error is the name of the error.
	Error string `json:"Error"`
	// Cause is internal: it is logged and never shown to a client.
	Cause string `json:"Cause"`
}

// Types of events, by their detail-type.
const (
	// ExecutionEnded is the type of an event about the end of an execution.
	ExecutionEnded = "Step Functions Execution Status Change"
	// Scheduled is the type of an event of a schedule.
	Scheduled = "Scheduled Event"
)

// source is the source of events about executions.
const source = "aws.states"

// Event is an event of EventBridge
// (docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html). Members that are not read are left out.
type Event struct {
	// DetailType is "" if the input of a function is no event.
	DetailType string `json:"detail-type"`
	Source     string `json:"source"`
	// Detail is the detail of an event about the end of an execution.
	Detail struct {
		// Name is the name of the execution, Input its input as JSON.
		Name  string `json:"name"`
		Input string `json:"input"`
		// Status is FAILED, TIMED_OUT or ABORTED.
		Status string `json:"status"`
		Error  string `json:"error"`
		Cause  string `json:"cause"`
	} `json:"detail"`
}

// IsFromStepFunctions reports whether Step Functions has sent the event.
func (e Event) IsFromStepFunctions() bool { return e.Source == source }

// Failure returns how the execution has ended.
func (e Event) Failure() *Failure {
	return &Failure{Error: "Execution." + e.Detail.Status, Cause: e.Detail.Error + ": " + e.Detail.Cause}
}

// Tasks completes tasks that wait for a token. It is safe for concurrent use.
type Tasks struct{ client *sfn.Client }

// NewTasks returns the tasks of all state machines.
func NewTasks(client *sfn.Client) *Tasks { return &Tasks{client} }

// Complete ends the task that waits for a token. It returns false if no task waits for it: the task has ended, or it
// was never the token of one.
func (t *Tasks) Complete(ctx context.Context, token string) (isWaiting bool, err error) {
	_, err = t.client.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &token, Output: aws.String("{}")})
	var timedOut *types.TaskTimedOut
	var missing *types.TaskDoesNotExist
	var invalid *types.InvalidToken
	switch {
	case errors.As(err, &timedOut), errors.As(err, &missing), errors.As(err, &invalid):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("complete a task: %w", err)
	}
	return true, nil
}
