package httpapi

import (
	"cmp"
	"net/http"

	"sluice/shared/fault"
)

// ErrorFormat is the convention in which a group of routes reports errors.
type ErrorFormat struct {
	// Body returns the body of an error, sent as JSON.
	Body func(e *fault.Error) any
	// InvalidStatus is the status of a fault.Invalid, in which conventions differ; 0 means 422.
	InvalidStatus int
	// Header is sent with every error.
	Header http.Header
}

// statusOf is the one map from kinds of errors to statuses.
func (f ErrorFormat) statusOf(k fault.Kind) int {
	switch k {
	case fault.Invalid:
		return cmp.Or(f.InvalidStatus, http.StatusUnprocessableEntity)
	case fault.BadRequest:
		return http.StatusBadRequest
	case fault.Unauthorized:
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Conflict:
		return http.StatusConflict
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.UnsupportedMedia:
		return http.StatusUnsupportedMediaType
	case fault.Throttled:
		return http.StatusTooManyRequests
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// MonitoringErrors is the convention under /tm/realtime (docs/contract/batch.md): {"message"}, and for invalid requests
// 422 with an HTTPValidationError.
var MonitoringErrors = ErrorFormat{Body: monitoringError}

// validationError is an item of an HTTPValidationError.
type validationError struct {
	// Loc leads to the value: strings and integers, beginning with the part of the request.
	Loc  []any  `json:"loc"`
	Msg  string `json:"msg"`
	Type string `json:"type"`
}

func monitoringError(e *fault.Error) any {
	if e.Kind != fault.Invalid {
		return map[string]string{"message": e.Message}
	}
	details := e.Details
	if len(details) == 0 {
		details = []fault.Detail{{Source: fault.InBody, Message: e.Message, Code: e.Code}}
	}
	list := make([]validationError, len(details))
	for i, d := range details {
		list[i] = validationError{Loc: append([]any{d.Source}, d.Path...), Msg: d.Message, Type: d.Code}
	}
	return map[string]any{"detail": list}
}
