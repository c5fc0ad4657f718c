// Package platform is the kit of the platform interface (docs/contract/platform.md): the tenant header, envelopes,
// closed request bodies, validation errors with property names, error bodies, and page tokens.
package platform

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/fault"
)

// TenantHeader is the header of every platform call that names the tenant.
const TenantHeader = "X-Tenant-Id"

// Handler serves platform routes; public ones among them need no tenant header. Without limits, nothing is limited. It
// writes a record of each request to trail, unless that is nil.
func Handler(routes []httpapi.Route, limits *ratelimit.Limiter, trail *audit.Log, log *slog.Logger,
	now func() time.Time) http.Handler {
	return handler(routes, httpapi.API{Errors: Errors, Limits: limits, Audit: trail, Log: log, Now: now})
}

// ProblemHandler is Handler for an area whose errors are problem details.
func ProblemHandler(routes []httpapi.Route, limits *ratelimit.Limiter, trail *audit.Log, log *slog.Logger,
	now func() time.Time) http.Handler {
	return handler(routes, httpapi.API{Errors: ProblemErrors, Limits: limits, Audit: trail, Log: log, Now: now})
}

func handler(routes []httpapi.Route, api httpapi.API) http.Handler {
	api.Routes = make([]httpapi.Route, len(routes))
	for i, r := range routes {
		if !r.Public {
			r.Endpoint = requireTenantHeader(r.Endpoint)
		}
		api.Routes[i] = r
	}
	return api.Handler()
}

// requireTenantHeader makes an endpoint refuse requests whose tenant header does not name the tenant of the token.
func requireTenantHeader(next httpapi.Endpoint) httpapi.Endpoint {
	return func(ctx context.Context, c httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
		header := r.Header.Values(TenantHeader)
		if len(header) == 0 || header[0] == "" {
			return httpapi.Reply{}, fault.New(fault.BadRequest, "MissingTenantHeader",
				"The header X-TENANT-ID is missing.")
		}
		id, err := uuid.Parse(header[0])
		if len(header) != 1 || err != nil || !strings.EqualFold(id.String(), c.Tenant) {
			return httpapi.Reply{}, fault.New(fault.Forbidden, "TenantMismatch",
				"The header X-TENANT-ID names another tenant than the token.")
		}
		return next(ctx, c, r)
	}
}

// Envelope is the body of every reply.
type Envelope struct {
	Data     any       `json:"data"`
	Messages []Message `json:"messages"`
}

// Message is a remark beside the data of a reply.
type Message struct {
	Message string `json:"message"`
	// Type is Info, Warning, Error or Forbidden.
	Type      string `json:"type"`
	ErrorCode string `json:"errorCode,omitempty"`
}

// Warning returns a message about something that was not done as the client may expect.
func Warning(code, message string) Message {
	return Message{Message: message, Type: "Warning", ErrorCode: code}
}

// limitMessages returns the messages of one reply: the first httpapi.MaxErrors and, if there are more, one that says
// how many.
func limitMessages(messages []Message) []Message {
	more := len(messages) - httpapi.MaxErrors
	if more <= 0 {
		return messages
	}
	return append(slices.Clip(messages[:httpapi.MaxErrors]),
		Warning("messages_left_out", fmt.Sprintf("There are %d more messages like these.", more)))
}

// Errors is the convention for errors of the platform interface.
var Errors = httpapi.ErrorFormat{
	Body: errorBody, InvalidStatus: http.StatusBadRequest,
	ContentTypes: map[fault.Kind]string{fault.UnsupportedMedia: problemType},
}

func errorBody(e *fault.Error, status int, _ *http.Request) any {
	m := Message{e.Message, "Error", errorCodeOf(e)}
	var data any = struct{}{}
	switch e.Kind {
	case fault.Unauthorized:
		return map[string]string{"message": "Unauthorized"}
	case fault.Forbidden:
		m.Type = "Forbidden"
	case fault.UnsupportedMedia:
		return newProblem(e, status)
	case fault.BadRequest, fault.Invalid:
		data = nil
		if len(e.Details) > 0 {
			data = failuresOf(e.Details)
		}
	}
	return Envelope{data, []Message{m}}
}

// errorCodeOf returns the code of an error as clients see it: conflicts and failures of the service have one code each.
func errorCodeOf(e *fault.Error) string {
	switch e.Kind {
	case fault.Conflict:
		return "CONFLICT"
	case fault.Internal, fault.Unavailable:
		return "INTERNAL_SERVER_ERROR"
	}
	return e.Code
}

// Failure is one item of the data of a 400: a validation error.
type Failure struct {
	PropertyName string `json:"propertyName"`
	ErrorMessage string `json:"errorMessage"`
	// AttemptedValue is a text, a number or a boolean, otherwise null.
	AttemptedValue any    `json:"attemptedValue"`
	ErrorCode      string `json:"errorCode"`
}

func failuresOf(details []fault.Detail) []Failure {
	details = httpapi.LimitDetails(details)
	out := make([]Failure, len(details))
	for i, d := range details {
		out[i] = Failure{propertyName(d), d.Message, d.AttemptedValue, d.Code}
	}
	return out
}

// propertyName writes the place of a validation error as in "pageOptions.pageSize", or "body" for the whole body.
func propertyName(d fault.Detail) string {
	if len(d.Path) == 0 || d.Code == httpapi.CodeNotJSON { // whose path is a byte offset
		return d.Source
	}
	steps := make([]string, len(d.Path))
	for i, step := range d.Path {
		steps[i] = fmt.Sprint(step)
	}
	return strings.Join(steps, ".")
}

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
