// Package execution runs the searches of screening batches: a state machine of its own
// (statemachine/screening.asl.json), whose executions have the IDs of their batches as names. It has a branch for each
// provider. The step of the built-in provider searches the pinned lists, some entities at a time (Search); that of any
// other one sends a question to the provider's adapter (Ask) and waits for the answer, which the receptor records
// (Answers). A branch that fails, and an execution that is stopped, end their searches as failed (Conduct), which also
// starts executions whose start was lost.
//
// All of them can run any number of times, also at the same time: the IDs of matches follow from their contents,
// and a search ends by a conditional write.
package execution

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"sluice/shared/screening"
)

// Input is the input of an execution, and of each of its states.
type Input struct {
	Tenant  string `json:"tenant"`
	BatchID string `json:"batch_id"`
	Run     int    `json:"run"`
}

// margin is the time that a step leaves at the end of its invocation to report an error.
const margin = 2 * time.Second

// Transient asks the state machine to run the step again later. It is returned bare: Retry matches the name of the
// type.
type Transient struct{ Message string }

// Error implements error.
func (e *Transient) Error() string { return e.Message }

// Adapters sends messages to the adapters of providers.
type Adapters interface {
	// Screen asks the adapter of a provider to search for the entities of a batch. It returns nil once the adapter has
	// accepted the question, a *Refusal if it has not, and any other error if the service itself is at fault.
	Screen(ctx context.Context, b screening.Batch, p screening.ProviderRun, entities []screening.Entity) error
}

// Refusal is the reason why the adapter of a provider did not accept a message.
type Refusal struct {
	screening.ProviderError
	// MayPass means that the same message may be accepted later: the adapter was not reached, was busy, or has failed.
	MayPass bool
}

// Error implements error. It returns the code and the message.
func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

// State is the state of the execution of a run.
type State int

const (
	// NoExecution means that the run was not started, or so long ago that Step Functions has forgotten it.
	NoExecution State = iota
	// Running means that its execution runs.
	Running
	// Ended means that its execution has ended in any way.
	Ended
)

// Machine is the state machine of screening batches in Step Functions. It is safe for concurrent use.
type Machine struct {
	client *sfn.Client
	arn    string
}

var _ Tasks = (*Machine)(nil)

// NewMachine returns the state machine with the given ARN; "" is enough for Complete.
func NewMachine(client *sfn.Client, arn string) *Machine { return &Machine{client, arn} }

// executionName returns the name of the execution of a run: the ID of the batch and, after the first run, its number.
func executionName(batchID string, run int) string {
	if run > 1 {
		return fmt.Sprintf("%s_%d", batchID, run)
	}
	return batchID
}

// Start starts the execution of the batch's last run. Repeating it is success.
func (m *Machine) Start(ctx context.Context, b screening.Batch) error {
	return m.StartRun(ctx, Input{b.Tenant, b.ID, b.Runs})
}

// StartRun starts the execution of a run. Repeating it is success.
func (m *Machine) StartRun(ctx context.Context, in Input) error {
	input, err := json.Marshal(in)
	if err != nil {
		return err
	}
	_, err = m.client.StartExecution(ctx, &sfn.StartExecutionInput{
		StateMachineArn: &m.arn, Name: aws.String(executionName(in.BatchID, in.Run)), Input: aws.String(string(input)),
	})
	var exists *types.ExecutionAlreadyExists
	if err != nil && !errors.As(err, &exists) {
		return fmt.Errorf("start screening batch %s: %w", in.BatchID, err)
	}
	return nil
}

// Execution returns the state of the execution of a run.
func (m *Machine) Execution(ctx context.Context, in Input) (State, error) {
	arn := strings.Replace(m.arn, ":stateMachine:", ":execution:", 1) + ":" + executionName(in.BatchID, in.Run)
	out, err := m.client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &arn})
	var missing *types.ExecutionDoesNotExist
	switch {
	case errors.As(err, &missing):
		return NoExecution, nil
	case err != nil:
		return NoExecution, fmt.Errorf("describe the execution of screening batch %s: %w", in.BatchID, err)
	case out.Status == types.ExecutionStatusRunning || out.Status == types.ExecutionStatusPendingRedrive:
		return Running, nil
	}
	return Ended, nil
}

// Complete implements Tasks.
func (m *Machine) Complete(ctx context.Context, token string) error {
	_, err := m.client.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &token, Output: aws.String("{}")})
	var timedOut *types.TaskTimedOut
	var missing *types.TaskDoesNotExist
	var invalid *types.InvalidToken
	if err == nil || errors.As(err, &timedOut) || errors.As(err, &missing) || errors.As(err, &invalid) {
		return nil
	}
	return fmt.Errorf("complete the task of a screening: %w", err)
}
