package lambda

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// sandboxRegistry finds processes by the id that is part of the address each of them was given.
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

// serveRuntime is the Runtime API: /<process>/2018-06-01/runtime/...
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
		// The process ends by itself after this; its end is what counts.
		w.WriteHeader(http.StatusAccepted)
	case r.Method == http.MethodPost && len(parts) == 3 && parts[0] == "invocation" && parts[2] == "response":
		box.serveResponse(w, r, parts[1])
	case r.Method == http.MethodPost && len(parts) == 3 && parts[0] == "invocation" && parts[2] == "error":
		box.serveError(w, r, parts[1])
	default:
		http.NotFound(w, r)
	}
}

func (b *sandbox) serveNext(w http.ResponseWriter, r *http.Request) {
	select {
	case req := <-b.requests:
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Lambda-Runtime-Aws-Request-Id", req.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(req.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", b.fn.ARN)
		_, _ = w.Write(req.payload) // a process that hangs up here dies or times out
	case <-r.Context().Done(): // the process has ended
	}
}

func (b *sandbox) serveResponse(w http.ResponseWriter, r *http.Request, requestID string) {
	body, err := readLimited(r.Body)
	result := Result{RequestID: requestID, Payload: body}
	status := http.StatusAccepted
	switch {
	case err == ErrTooLarge:
		result = failedResult(requestID, "Function.ResponseSizeTooLarge", "Response payload size exceeded maximum allowed payload size ("+
			strconv.Itoa(MaxPayload)+" bytes).")
		status = http.StatusRequestEntityTooLarge
	case err != nil:
		return
	}
	b.acceptResult(w, result, status)
}

func (b *sandbox) serveError(w http.ResponseWriter, r *http.Request, requestID string) {
	body, err := readLimited(r.Body)
	if err != nil {
		return
	}
	// On AWS the name of the error is what the payload says; the header is for the platform.
	var named struct{ ErrorType string }
	_ = json.Unmarshal(body, &named)
	b.acceptResult(w, Result{RequestID: requestID, Payload: body, Failed: true, ErrorType: named.ErrorType}, http.StatusAccepted)
}

func (b *sandbox) acceptResult(w http.ResponseWriter, result Result, status int) {
	w.Header().Set("Content-Type", "application/json")
	if !b.deliver(result) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"errorType":"InvalidRequestID","errorMessage":"Invalid request ID"}`))
		return
	}
	w.WriteHeader(status)
}
