package policyhttp

import (
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/policy/evaluate"
)

// EncodePlain is encodePlain.
var EncodePlain = encodePlain

// Request returns the request for the evaluation of a caller.
func (in *EvaluationRequest) Request(r *platform.Request) evaluate.Request { return in.request(r) }

// Request returns the request for the evaluation of a caller.
func (in *ReadOnlyRequest) Request(r *platform.Request) evaluate.Request {
	return in.request(r).ForReadOnly()
}
