package lambda

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// registry finds processes by the id that is part of the address each of them was given.
type registry struct {
	mu    sync.RWMutex
	boxes map[string]*sandbox
}

func (r *registry) add(b *sandbox) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.boxes == nil {
		r.boxes = map[string]*sandbox{}
	}
	r.boxes[b.id] = b
}

func (r *registry) remove(b *sandbox) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.boxes, b.id)
}

func (r *registry) find(id string) *sandbox {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.boxes[id]
}

// serveRuntime is the Runtime API: /<process>/2018-06-01/runtime/...
func (s *Service) serveRuntime(w http.ResponseWriter, r *http.Request) {
	id, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	box := s.boxes.find(id)
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
	case req := <-b.next:
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
	body, err := limited(r.Body)
	result := Result{RequestID: requestID, Payload: body}
	status := http.StatusAccepted
	switch {
	case err == ErrTooLarge:
		result = failure(requestID, "Function.ResponseSizeTooLarge", "Response payload size exceeded maximum allowed payload size ("+
			strconv.Itoa(MaxPayload)+" bytes).")
		status = http.StatusRequestEntityTooLarge
	case err != nil:
		return
	}
	b.accept(w, result, status)
}

func (b *sandbox) serveError(w http.ResponseWriter, r *http.Request, requestID string) {
	body, err := limited(r.Body)
	if err != nil {
		return
	}
	// On AWS the name of the error is what the payload says; the header is for the platform.
	var named struct{ ErrorType string }
	_ = json.Unmarshal(body, &named)
	b.accept(w, Result{RequestID: requestID, Payload: body, Failed: true, ErrorType: named.ErrorType}, http.StatusAccepted)
}

func (b *sandbox) accept(w http.ResponseWriter, result Result, status int) {
	w.Header().Set("Content-Type", "application/json")
	if !b.answer(result) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"errorType":"InvalidRequestID","errorMessage":"Invalid request ID"}`))
		return
	}
	w.WriteHeader(status)
}
