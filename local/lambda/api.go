package lambda

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
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

// sandboxRegistry finds processes by their IDs, which are part of the addresses of the Runtime API that they receive.
// It is safe for concurrent use.
type sandboxRegistry struct {
	mu   sync.RWMutex
	byID map[string]*sandbox
}

func (r *sandboxRegistry) add(b *sandbox) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = map[string]*sandbox{}
	}
	r.byID[b.id] = b
}

func (r *sandboxRegistry) remove(b *sandbox) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, b.id)
}

func (r *sandboxRegistry) find(id string) *sandbox {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byID[id]
}

// serveRuntime serves the Runtime API: /<process>/2018-06-01/runtime/...
func (s *Service) serveRuntime(w http.ResponseWriter, r *http.Request) {
	id, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	box := s.sandboxes.find(id)
	path, versioned := strings.CutPrefix(path, "2018-06-01/runtime/")
	if box == nil || !versioned {
		http.NotFound(w, r)
		return
	}
	parts := strings.Split(path, "/")
	switch {
	case r.Method == http.MethodGet && path == "invocation/next":
		box.serveNext(w, r)
	case r.Method == http.MethodPost && path == "init/error":
		// The process ends after this, which is what the request's failure is derived from.
		w.WriteHeader(http.StatusAccepted)
	case r.Method == http.MethodPost && len(parts) == 3 && parts[0] == "invocation" && parts[2] == "response":
		box.serveResponse(w, r, parts[1])
	case r.Method == http.MethodPost && len(parts) == 3 && parts[0] == "invocation" && parts[2] == "error":
		box.serveError(w, r, parts[1])
	default:
		http.NotFound(w, r)
	}
}

// serveNext sends the process its next request as soon as there is one.
func (b *sandbox) serveNext(w http.ResponseWriter, r *http.Request) {
	select {
	case req := <-b.requests:
		// As on AWS, the start of a process takes nothing of the function's time.
		req.deadline = time.Now().Add(b.fn.Timeout)
		b.received <- req
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Lambda-Runtime-Aws-Request-Id", req.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(req.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", b.fn.ARN)
		_, _ = w.Write(req.payload) // on an error the process ends or exceeds its timeout
	case <-r.Context().Done(): // the process has ended
	}
}

// serveResponse accepts the response to a request.
func (b *sandbox) serveResponse(w http.ResponseWriter, r *http.Request, requestID string) {
	body, err := readLimited(r.Body)
	result := Result{RequestID: requestID, Payload: body}
	status := http.StatusAccepted
	switch {
	case errors.Is(err, ErrTooLarge):
		result = failedResult(
			requestID,
			"Function.ResponseSizeTooLarge",
			"Response payload size exceeded maximum allowed payload size ("+
				strconv.Itoa(MaxPayload)+" bytes).",
		)
		status = http.StatusRequestEntityTooLarge
	case err != nil:
		return
	}
	b.acceptResult(w, result, status)
}

// serveError accepts the failure of a request.
func (b *sandbox) serveError(w http.ResponseWriter, r *http.Request, requestID string) {
	body, err := readLimited(r.Body)
	if err != nil {
		return
	}
	// As on AWS the type of the error is taken from the payload, not from the header.
	var named struct{ ErrorType string }
	_ = json.Unmarshal(body, &named)
	b.acceptResult(w, Result{RequestID: requestID, Payload: body, Failed: true, ErrorType: named.ErrorType},
		http.StatusAccepted)
}

// acceptResult delivers a result and responds with status, or 400 if the process is not handling that request.
func (b *sandbox) acceptResult(w http.ResponseWriter, result Result, status int) {
	w.Header().Set("Content-Type", "application/json")
	if !b.deliver(result) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"errorType":"InvalidRequestID","errorMessage":"Invalid request ID"}`))
		return
	}
	w.WriteHeader(status)
}
