package platform

import (
	"net/http"

	"sluice/shared/access/httpapi"
	"sluice/shared/kit/fault"
)

// problemType is the content type of problem details (RFC 9457).
const problemType = "application/problem+json"

// CodeValidation is the error code of problem details that list validation errors.
const CodeValidation = "VALIDATION_ERROR"

// ProblemErrors is the convention for errors of the areas that answer with problem details (docs/contract/policy.md).
var ProblemErrors = httpapi.ErrorFormat{Body: problemBody, InvalidStatus: http.StatusBadRequest,
	ContentType: problemType}

// Problem is the body of an error as problem details.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// Instance is the path of the request.
	Instance  string `json:"instance,omitempty"`
	ErrorCode string `json:"errorCode,omitempty"`
	// ValidationErrors are there if the code is CodeValidation.
	ValidationErrors []ProblemFailure `json:"validationErrors,omitempty"`
}

// ProblemFailure is one item of Problem.ValidationErrors.
type ProblemFailure struct {
	PropertyName string `json:"propertyName"`
	ErrorMessage string `json:"errorMessage"`
	// AttemptedValue is a text, a number or a boolean, otherwise null.
	AttemptedValue any    `json:"attemptedValue"`
	ValidatorType  string `json:"validatorType"`
}

// newProblem returns the members that the problem details of every error have. Their type adds nothing to the status.
func newProblem(e *fault.Error, status int) Problem {
	return Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: e.Message}
}

func problemBody(e *fault.Error, status int, r *http.Request) any {
	p := newProblem(e, status)
	p.Instance, p.ErrorCode = r.URL.EscapedPath(), errorCodeOf(e)
	if e.Kind != fault.Invalid && len(e.Details) == 0 {
		return p
	}
	p.ErrorCode = CodeValidation
	for _, f := range failuresOf(e.Details) {
		p.ValidationErrors = append(p.ValidationErrors, ProblemFailure{PropertyName: f.PropertyName,
			ErrorMessage: f.ErrorMessage, AttemptedValue: f.AttemptedValue, ValidatorType: f.ErrorCode})
	}
	return p
}
