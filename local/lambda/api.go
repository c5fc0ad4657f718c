package lambda

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// PathPrefix is the beginning of all paths of the Invoke API.
const PathPrefix = "/2015-03-31/functions/"

// maxAsyncPayload is the largest size in bytes of an asynchronous request.
const maxAsyncPayload = 1 << 20

// ServeHTTP serves the Invoke API: POST /2015-03-31/functions/{name or ARN}/invocations.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, PathPrefix), "/")
	name = functionName(name)
	if qualifier := r.URL.Query().Get("Qualifier"); qualifier != "" && !strings.Contains(name, ":") {
		name += ":" + qualifier
	}
	if r.Method != http.MethodPost || rest != "invocations" {
		writeError(w, http.StatusNotFound, "UnknownOperationException", "The local cloud serves only Invoke.")
		return
	}
	payload, err := readLimited(r.Body)
	if err != nil && !errors.Is(err, ErrTooLarge) {
		return
	}
	if len(payload) == 0 {
		payload = []byte("{}")
	}
	kind := r.Header.Get("X-Amz-Invocation-Type")
	asynchronous := kind == "Event"
	switch {
	case kind != "" && kind != "RequestResponse" && !asynchronous:
		writeError(w, http.StatusBadRequest, "InvalidParameterValueException",
			"The local cloud serves only the invocation types RequestResponse and Event.")
	case err != nil, asynchronous && len(payload) > maxAsyncPayload:
		writeError(w, http.StatusRequestEntityTooLarge, "RequestTooLargeException", "The request is too large.")
	case !json.Valid(payload):
		writeError(w, http.StatusBadRequest, "InvalidRequestContentException",
			"Could not parse request body into json.")
	case asynchronous:
		s.serveAsyncInvoke(w, name, payload)
	default:
		s.serveInvoke(w, r, name, payload)
	}
}

// functionName returns the function's name in an ARN, which may be partial, with the version or alias that may follow
// it.
func functionName(s string) string {
	if _, after, found := strings.Cut(s, "function:"); found {
		return after
	}
	return s
}

// serveAsyncInvoke accepts an asynchronous request.
func (s *Service) serveAsyncInvoke(w http.ResponseWriter, name string, payload []byte) {
	id, err := s.InvokeAsync(name, payload)
	if err != nil {
		writeInvokeError(w, err)
		return
	}
	w.Header().Set("X-Amzn-RequestId", id)
	w.WriteHeader(http.StatusAccepted)
}

// serveInvoke runs a synchronous request and sends its result.
func (s *Service) serveInvoke(w http.ResponseWriter, r *http.Request, name string, payload []byte) {
	result, err := s.Invoke(r.Context(), name, payload)
	if err != nil {
		writeInvokeError(w, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Amzn-RequestId", result.RequestID)
	h.Set("X-Amz-Executed-Version", result.Version)
	if result.Failed {
		h.Set("X-Amz-Function-Error", "Unhandled")
	}
	_, _ = w.Write(result.Payload)
}

// writeInvokeError sends the error of a request that did not reach its function.
func writeInvokeError(w http.ResponseWriter, err error) {
	var throttled *ThrottledError
	switch {
	case errors.Is(err, ErrNotFound):
		writeError(w, http.StatusNotFound, "ResourceNotFoundException", err.Error())
	case errors.Is(err, ErrTooLarge):
		writeError(w, http.StatusRequestEntityTooLarge, "RequestTooLargeException", err.Error())
	case errors.As(err, &throttled):
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("X-Amzn-ErrorType", "TooManyRequestsException")
		h.Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = fmt.Fprintf(w, `{"Type":"User","Reason":%q,"message":%q}`, throttled.Reason, err.Error())
	default:
		writeError(w, http.StatusInternalServerError, "ServiceException", err.Error())
	}
}

// writeError sends an error in the form of the Invoke API.
func writeError(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-ErrorType", kind)
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"Type":"User","Message":%q}`, message)
}
