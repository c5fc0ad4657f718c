package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"sluice/shared/batch"
)

// Machine is the state machine of batches in Step Functions.
type Machine struct {
	client *sfn.Client
	arn    string
}

// NewMachine returns the state machine of that ARN.
func NewMachine(client *sfn.Client, arn string) *Machine { return &Machine{client, arn} }

// Start starts the execution named after the batch. Its input is made from the ID alone, so that starting it again is the
// same request: success while the execution is open, ExecutionAlreadyExists, and success too, once it is closed.
func (m *Machine) Start(ctx context.Context, id batch.ID) error {
	input, err := json.Marshal(map[string]batch.ID{"batch_id": id})
	if err != nil {
		return err
	}
	_, err = m.client.StartExecution(ctx, &sfn.StartExecutionInput{
		StateMachineArn: &m.arn, Name: aws.String(string(id)), Input: aws.String(string(input)),
	})
	var exists *types.ExecutionAlreadyExists
	if err != nil && !errors.As(err, &exists) {
		return fmt.Errorf("start batch %s: %w", id, err)
	}
	return nil
}
