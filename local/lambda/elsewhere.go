package lambda

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// runRemotely runs a request at the Lambda endpoint of somebody else, who starts the function, gives it its settings and ends it
// when it takes too long. How long we wait for that has some room for a cold start.
func (p *pool) runRemotely(r request) Result {
	client := http.Client{Timeout: p.fn.Timeout + p.service.cfg.InitTimeout}
	at := strings.TrimSuffix(p.fn.Endpoint, "/") + PathPrefix + url.PathEscape(p.fn.Name) + "/invocations"
	resp, err := client.Post(at, "application/json", bytes.NewReader(r.payload))
	if err != nil {
		return unreachableResult(r, err)
	}
	defer resp.Body.Close()
	payload, err := io.ReadAll(io.LimitReader(resp.Body, MaxPayload+1))
	switch {
	case err != nil:
		return unreachableResult(r, err)
	case len(payload) > MaxPayload:
		return failedResult(r.id, "Function.ResponseSizeTooLarge", "Response payload size exceeded maximum allowed payload size (6291456 bytes).")
	case resp.StatusCode != http.StatusOK:
		return failedResult(r.id, "Lambda.ServiceException", fmt.Sprintf("%s: %s %.300s", p.fn.Name, resp.Status, payload))
	case len(payload) == 0:
		// `sam local` answers so when a function took too long.
		return failedResult(r.id, "Sandbox.Timedout", p.fn.Name+" did not answer.")
	case resp.Header.Get("X-Amz-Function-Error") == "":
		return Result{RequestID: r.id, Payload: payload}
	}
	var failed struct {
		ErrorType string `json:"errorType"`
	}
	_ = json.Unmarshal(payload, &failed) // without a type it is a failure all the same
	return Result{RequestID: r.id, Payload: payload, Failed: true, ErrorType: failed.ErrorType}
}

func unreachableResult(r request, err error) Result {
	var late interface{ Timeout() bool }
	if errors.As(err, &late) && late.Timeout() {
		return failedResult(r.id, "Sandbox.Timedout", err.Error())
	}
	return failedResult(r.id, "Lambda.ServiceException", err.Error())
}
