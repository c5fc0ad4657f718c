package faults

import (
	"context"
	"encoding/json"

	"sluice/local/lambda"
)

// Functions invokes functions for state machines, and strikes their invocations by the plans.
type Functions struct {
	Injector *Injector
	// Functions runs the functions.
	Functions interface {
		Invoke(ctx context.Context, name string, payload []byte) (lambda.Result, error)
	}
}

// Invoke runs a function unless a fault keeps it from running. A fault can also take its result away.
func (f Functions) Invoke(ctx context.Context, name string, payload []byte) (lambda.Result, error) {
	s, match := f.Injector.strike(invocations+shortName(name), payload, "", "Invoke")
	if s == nil {
		return f.Functions.Invoke(ctx, name, payload)
	}
	switch s.Kind {
	case Throttle:
		return failed("Lambda.TooManyRequestsException"), nil
	case Error:
		return failed("Lambda.ServiceException"), nil
	case Reset, KillBefore:
		return failed("Lambda.SdkClientException"), nil
	case Drop, Cut, KillAfter:
		if _, err := f.Functions.Invoke(ctx, name, payload); err != nil {
			return lambda.Result{}, err
		}
		return failed([]string{"Lambda.ClientExecutionTimeoutException", "Lambda.AWSLambdaException"}[s.variant]), nil
	case Stop:
		go f.Injector.stop(match) // it waits for this invocation
	}
	return f.Functions.Invoke(ctx, name, payload)
}

// failed returns the result of an invocation that has failed.
func failed(errorType string) lambda.Result {
	payload, _ := json.Marshal(map[string]string{"errorType": errorType, "errorMessage": "An injected fault."})
	return lambda.Result{Payload: payload, Failed: true, ErrorType: errorType}
}
