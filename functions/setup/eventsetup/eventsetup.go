// Package eventsetup makes the parts of functions that announce events. It is separate from setup, so that only those
// functions are linked with it.
package eventsetup

import (
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"sluice/functions/setup"
	"sluice/shared/connect/announce"
)

// NewAnnouncements returns the requester of the announce function.
func NewAnnouncements(env setup.Env) *announce.Requester {
	return announce.NewRequester(lambda.NewFromConfig(env.AWS), env.AnnounceFunction)
}

// NewWorker returns the requester of a function that does what batches owe.
func NewWorker(env setup.Env, function string) *announce.Worker {
	return announce.NewWorker(lambda.NewFromConfig(env.AWS), function)
}

// NewEventBus returns the event bus to which events are announced.
func NewEventBus(env setup.Env) *announce.Bus {
	return announce.NewBus(eventbridge.NewFromConfig(env.AWS), env.EventBusName)
}
