// Package invoke lets functions invoke each other.
package invoke

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

// Requester asks a function to do something, and does not wait for it. Lambda keeps a request until the function has
// done it, or has failed three times.
type Requester struct {
	client   *lambda.Client
	function string
}

// NewRequester returns a requester of the function of the given name or ARN.
func NewRequester(client *lambda.Client, function string) *Requester {
	return &Requester{client, function}
}

// requestPatience is how long a function waits until its request is accepted.
const requestPatience = 5 * time.Second

// Request sends the input to the function. If it returns an error, it is unknown whether the function gets it.
func (r *Requester) Request(ctx context.Context, input any) error {
	payload, err := json.Marshal(input)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestPatience)
	defer cancel()
	_, err = r.client.Invoke(ctx, &lambda.InvokeInput{
		FunctionName: &r.function, InvocationType: types.InvocationTypeEvent, Payload: payload,
	})
	if err != nil {
		return fmt.Errorf("request of %s: %w", r.function, err)
	}
	return nil
}
