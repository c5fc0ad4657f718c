package httpapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"

	"sluice/shared/kit/fault"
)

// ErrorFormat is the convention in which a group of routes reports errors.
type ErrorFormat struct {
	// Body returns the body of an error, sent as JSON with the given status in reply to r.
	Body func(e *fault.Error, status int, r *http.Request) any
	// InvalidStatus is the status of a fault.Invalid, in which conventions differ; 0 means 422.
	InvalidStatus int
	// Header is sent with every error.
	Header http.Header
	// ContentType is the content type of errors; "" means application/json.
	ContentType string
	// ContentTypes holds the content types of the kinds of errors that have another one.
	ContentTypes map[fault.Kind]string
}

// header returns the header of the reply to an error.
func (f ErrorFormat) header(k fault.Kind) http.Header {
	contentType := cmp.Or(f.ContentTypes[k], f.ContentType)
	if contentType == "" {
		return f.Header
	}
	h := f.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set("Content-Type", contentType)
	return h
}

// MaxErrors is how many validation errors one reply lists. A request may have any number of them, but the gateway
// replaces a reply that is too large with an error of its own.
const MaxErrors = 100

// CodeErrorsLeftOut is the code of the last item of a list of validation errors that says how many more there are.
const CodeErrorsLeftOut = "errors_left_out"

// maxPathChars is how many characters of one step of a validation error's path are sent back.
const maxPathChars = 1000

// LimitDetails returns the validation errors of one reply: the first MaxErrors and, if there are more, one that says
// how many. Steps of a path are cut to their first 1,000 characters.
func LimitDetails(details []fault.Detail) []fault.Detail {
	out := slices.Clone(details[:min(len(details), MaxErrors)])
	for i, d := range out {
		out[i].Path = slices.Clone(d.Path)
		for j, step := range d.Path {
			if s, ok := step.(string); ok {
				out[i].Path[j] = firstChars(s, maxPathChars)
			}
		}
	}
	if more := len(details) - len(out); more > 0 {
		message := fmt.Sprintf("%d more errors are not listed.", more)
		if more == 1 {
			message = "1 more error is not listed."
		}
		out = append(out, fault.Detail{Source: fault.InBody, Message: message, Code: CodeErrorsLeftOut})
	}
	return out
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

func monitoringError(e *fault.Error, _ int, _ *http.Request) any {
	if e.Kind != fault.Invalid {
		return map[string]string{"message": e.Message}
	}
	details := e.Details
	if len(details) == 0 {
		details = []fault.Detail{{Source: fault.InBody, Message: e.Message, Code: e.Code}}
	}
	details = LimitDetails(details)
	list := make([]validationError, len(details))
	for i, d := range details {
		list[i] = validationError{Loc: append([]any{d.Source}, d.Path...), Msg: d.Message, Type: d.Code}
	}
	return map[string]any{"detail": list}
}

// busyPause is how long a client is told to wait that met a table, a key or a function that is throttled.
const busyPause = time.Second

// errBusy has the message of the gateway for requests that it could not pass on.
var errBusy = fault.New(fault.Unavailable, "busy", "The service is busy. Try again later.").WithRetryAfter(busyPause)

// isThrottled reports whether AWS refused a call because of its rate, after the SDK had tried a few times.
func isThrottled(err error) bool {
	var api interface{ ErrorCode() string }
	if !errors.As(err, &api) {
		return false
	}
	_, throttled := awsretry.DefaultThrottleErrorCodes[api.ErrorCode()]
	return throttled
}
