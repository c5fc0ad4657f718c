package httpapi

import (
	"net/http"

	"sluice/shared/fault"
)

// statusOf is the one map from error kinds to statuses.
func statusOf(k fault.Kind) int {
	switch k {
	case fault.Invalid:
		return http.StatusUnprocessableEntity
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

// MonitoringErrors is the shape of errors under /tm/realtime: {"message"}, and for requests of the wrong shape the
// contract's HTTPValidationError.
func MonitoringErrors(e *fault.Error) any {
	if e.Kind == fault.Invalid {
		details := e.Details
		if len(details) == 0 {
			details = []fault.Detail{{Loc: []any{"body"}, Msg: e.Message, Type: e.Code}}
		}
		return map[string]any{"detail": details}
	}
	return map[string]string{"message": e.Message}
}
