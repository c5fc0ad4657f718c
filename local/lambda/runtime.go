package lambda

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

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
