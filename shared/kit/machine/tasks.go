package machine

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
)

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
