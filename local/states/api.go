package states

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// TargetPrefix is the beginning of the header X-Amz-Target of every request.
const TargetPrefix = "AWSStepFunctions."

// ServeHTTP serves the JSON API of Step Functions.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 4<<20))
	if err != nil {
		return
	}
	out, err := s.call(strings.TrimPrefix(r.Header.Get("X-Amz-Target"), TargetPrefix), body)
	status := http.StatusOK
	var failure *apiError
	switch {
	case errors.As(err, &failure):
		status, out = http.StatusBadRequest, map[string]string{"__type": failure.errorType, "message": failure.message}
	case err != nil:
		status, out = http.StatusInternalServerError, map[string]string{
			"__type":  "InternalFailure",
			"message": err.Error(),
		}
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out)
}

// requestFields holds the fields of the requests of all operations.
type requestFields struct {
	StateMachineArn, Name, Input string
	ExecutionArn, Error, Cause   string
	StatusFilter                 string
	TaskToken, Output            string
	MaxResults                   int
	NextToken                    string
	ReverseOrder                 bool
}

// call runs an operation and returns the fields of its response.
func (s *Service) call(operation string, body []byte) (any, error) {
	var in requestFields
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, newAPIError("SerializationException", "The request is not a JSON object of the required form.")
	}
	switch operation {
	case "StartExecution":
		e, err := s.Start(in.StateMachineArn, in.Name, []byte(in.Input))
		return map[string]any{"executionArn": e.ARN, "startDate": epochSeconds(e.Start)}, err
	case "StopExecution":
		e, err := s.Stop(in.ExecutionArn, in.Error, in.Cause)
		return map[string]any{"stopDate": epochSeconds(e.Stop)}, err
	case "DescribeExecution":
		e, err := s.Describe(in.ExecutionArn)
		return executionDescription(e), err
	case "ListExecutions":
		return s.listExecutions(in)
	case "GetExecutionHistory":
		return s.executionHistory(in)
	case "ListStateMachines", "DescribeStateMachine":
		return s.describeMachines(operation, in)
	case "SendTaskSuccess":
		output, err := decode([]byte(in.Output))
		if err != nil || len(in.Output) > MaxPayload {
			return nil, newAPIError("InvalidOutput", "Invalid Output")
		}
		return tokenResponse(s.deps.tokens.complete(in.TaskToken, taskResult{output: output}))
	case "SendTaskFailure":
		return tokenResponse(s.deps.tokens.complete(in.TaskToken, taskResult{failure: &Failure{in.Error, in.Cause}}))
	}
	return nil, newAPIError("UnknownOperationException", "The local cloud does not support the operation %s.",
		operation)
}

// tokenResponse returns the response to a request with a task token.
func tokenResponse(ok bool) (any, error) {
	if !ok {
		return nil, newAPIError("TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'")
	}
	return struct{}{}, nil
}

// executionDescription returns an execution as DescribeExecution does.
func executionDescription(e Execution) map[string]any {
	out := executionSummary(e)
	out["input"] = string(e.Input)
	if e.Status == Succeeded {
		out["output"] = string(e.Output)
	}
	if e.Error != "" {
		out["error"], out["cause"] = e.Error, e.Cause
	}
	return out
}

// executionSummary returns an execution as ListExecutions does.
func executionSummary(e Execution) map[string]any {
	out := map[string]any{"executionArn": e.ARN, "stateMachineArn": e.MachineARN, "name": e.Name, "status": e.Status,
		"startDate": epochSeconds(e.Start)}
	if !e.Stop.IsZero() {
		out["stopDate"] = epochSeconds(e.Stop)
	}
	return out
}

// page returns the requested part of a list and the token of the next part, which is the number of items before it.
func page[T any](all []T, in requestFields) (items []T, next string) {
	start, _ := strconv.Atoi(in.NextToken)
	start = max(0, min(start, len(all)))
	size := min(max(in.MaxResults, 0), 1000)
	if size == 0 {
		size = 100
	}
	end := min(start+size, len(all))
	if end < len(all) {
		next = strconv.Itoa(end)
	}
	return all[start:end], next
}

// pageResponse returns a response with a part of a list.
func pageResponse(name string, items any, next string) map[string]any {
	out := map[string]any{name: items}
	if next != "" {
		out["nextToken"] = next
	}
	return out
}

// listExecutions returns the executions of a machine, the newest first.
func (s *Service) listExecutions(in requestFields) (any, error) {
	if s.machines[in.StateMachineArn] == nil {
		return nil, newAPIError("StateMachineDoesNotExist", "State Machine Does Not Exist: '%s'", in.StateMachineArn)
	}
	s.mu.Lock()
	found := []Execution{}
	for _, e := range s.executions {
		if got := e.snapshot(); got.MachineARN == in.StateMachineArn &&
			(in.StatusFilter == "" || in.StatusFilter == got.Status) {
			found = append(found, got)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(found,
		func(a, b Execution) int { return cmp.Or(b.Start.Compare(a.Start), cmp.Compare(a.ARN, b.ARN)) })
	items, next := page(found, in)
	list := make([]any, len(items))
	for i, e := range items {
		list[i] = executionSummary(e)
	}
	return pageResponse("executions", list, next), nil
}

// executionHistory returns the events of an execution.
func (s *Service) executionHistory(in requestFields) (any, error) {
	e, err := s.find(in.ExecutionArn)
	if err != nil {
		return nil, err
	}
	events, err := e.events()
	if err != nil {
		return nil, err
	}
	if in.ReverseOrder {
		slices.Reverse(events)
	}
	items, next := page(events, in)
	return pageResponse("events", append([]json.RawMessage{}, items...), next), nil
}

// describeMachines answers the two operations about state machines.
func (s *Service) describeMachines(operation string, in requestFields) (any, error) {
	if operation == "DescribeStateMachine" {
		m, ok := s.machines[in.StateMachineArn]
		if !ok {
			return nil, newAPIError("StateMachineDoesNotExist", "State Machine Does Not Exist: '%s'",
				in.StateMachineArn)
		}
		return map[string]any{
			"stateMachineArn": m.ARN,
			"name":            m.Name,
			"status":          "ACTIVE",
			"type":            "STANDARD",
			"roleArn":         "",
			"definition":      string(m.Definition),
			"creationDate":    epochSeconds(time.Unix(0, 0)),
		}, nil
	}
	list := []any{}
	for _, m := range s.cfg.Machines {
		list = append(list, map[string]any{"stateMachineArn": m.ARN, "name": m.Name, "type": "STANDARD",
			"creationDate": epochSeconds(time.Unix(0, 0))})
	}
	return pageResponse("stateMachines", list, ""), nil
}
