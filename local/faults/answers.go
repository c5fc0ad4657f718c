package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// refuse answers a call instead of its service: as one of too many, or with an internal error.
func refuse(w http.ResponseWriter, r *http.Request, s *strike) {
	body, _ := io.ReadAll(r.Body)
	service, operation, isJSON := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	throttles := s.Kind == Throttle
	switch {
	case throttles && s.variant == 1 && strings.HasPrefix(operation, "Batch") && answerUnprocessed(w, operation, body):
	case isJSON:
		status, code := http.StatusInternalServerError, "InternalServerError"
		if throttles {
			status, code = http.StatusBadRequest, "ThrottlingException"
		}
		if throttles && strings.HasPrefix(service, "DynamoDB") {
			code = "ProvisionedThroughputExceededException"
		}
		writeJSONError(w, status, code)
	case strings.HasPrefix(r.URL.Path, "/2015-03-31/functions/"):
		status, code := http.StatusInternalServerError, "ServiceException"
		if throttles {
			status, code = http.StatusTooManyRequests, "TooManyRequestsException"
		}
		writeJSONError(w, status, code)
	default:
		status, code := http.StatusInternalServerError, "InternalError"
		if throttles {
			status, code = http.StatusServiceUnavailable, "SlowDown"
		}
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>An injected fault.</Message></Error>", code)
		}
	}
}

// writeJSONError answers with an error of a service with a JSON protocol.
func writeJSONError(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amzn-ErrorType", code)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": "An injected fault."})
}

// answerUnprocessed answers a call of many items as if each of them were throttled. It returns false for a call that it
// cannot read.
func answerUnprocessed(w http.ResponseWriter, operation string, body []byte) bool {
	var request struct{ RequestItems json.RawMessage }
	if json.Unmarshal(body, &request) != nil || request.RequestItems == nil {
		return false
	}
	reply := map[string]any{"UnprocessedItems": request.RequestItems}
	if operation == "BatchGetItem" {
		reply = map[string]any{"UnprocessedKeys": request.RequestItems, "Responses": map[string]any{}}
	}
	text, err := json.Marshal(reply)
	if err != nil {
		return false
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	_, _ = w.Write(text)
	return true
}

// reset closes the connection of a call without an answer, so that the caller sees that it was reset.
func reset(w http.ResponseWriter) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// sleep waits for a time, or until the caller of the request has disconnected.
func sleep(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}

// cutShort makes an answer end with an error in its middle. One without a body stays as it is.
func cutShort(r *http.Response) error {
	const longest = 64 << 20
	body, err := io.ReadAll(io.LimitReader(r.Body, longest))
	if err != nil {
		return err
	}
	r.Body.Close()
	half := io.Reader(bytes.NewReader(body))
	if len(body) > 0 {
		half = io.MultiReader(bytes.NewReader(body[:len(body)/2]), failing{})
	}
	r.Body = io.NopCloser(half)
	return nil
}

// failing is a reader that fails.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errStruck }
