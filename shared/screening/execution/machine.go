package execution

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"sluice/shared/screening"
)

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
