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

// TargetPrefix begins the X-Amz-Target of every request.
const TargetPrefix = "AWSStepFunctions."

// ServeHTTP is the JSON API of Step Functions.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 4<<20))
	if err != nil {
		return
	}
	out, err := s.call(strings.TrimPrefix(r.Header.Get("X-Amz-Target"), TargetPrefix), body)
	status := http.StatusOK
	var known *apiError
	switch {
	case errors.As(err, &known):
		status, out = http.StatusBadRequest, map[string]string{"__type": known.errorType, "message": known.message}
	case err != nil:
		status, out = http.StatusInternalServerError, map[string]string{"__type": "InternalFailure", "message": err.Error()}
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out)
}

// requestFields holds the fields of all operations.
type requestFields struct {
	StateMachineArn, Name, Input string
	ExecutionArn, Error, Cause   string
	StatusFilter                 string
	TaskToken, Output            string
	MaxResults                   int
	NextToken                    string
	ReverseOrder                 bool
}

func (s *Service) call(operation string, body []byte) (any, error) {
	var in requestFields
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, newAPIError("SerializationException", "The request is no JSON object of the right form.")
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
	case "SendTaskHeartbeat":
		return tokenResponse(s.deps.tokens.heartbeat(in.TaskToken))
	}
	return nil, newAPIError("UnknownOperationException", "The local cloud does not know the operation %s.", operation)
}

func tokenResponse(ok bool) (any, error) {
	if !ok {
		return nil, newAPIError("TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'")
	}
	return struct{}{}, nil
}

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

func executionSummary(e Execution) map[string]any {
	out := map[string]any{"executionArn": e.ARN, "stateMachineArn": e.MachineARN, "name": e.Name, "status": e.Status,
		"startDate": epochSeconds(e.Start)}
	if !e.Stop.IsZero() {
		out["stopDate"] = epochSeconds(e.Stop)
	}
	return out
}

// page cuts a list; a token is the number of items before it.
func page[T any](all []T, in requestFields) (items []T, next string) {
	from, _ := strconv.Atoi(in.NextToken)
	from = max(0, min(from, len(all)))
	size := min(max(in.MaxResults, 0), 1000)
	if size == 0 {
		size = 100
	}
	to := min(from+size, len(all))
	if to < len(all) {
		next = strconv.Itoa(to)
	}
	return all[from:to], next
}

func pageResponse(name string, items any, next string) map[string]any {
	out := map[string]any{name: items}
	if next != "" {
		out["nextToken"] = next
	}
	return out
}

// listExecutions gives executions, the newest first.
func (s *Service) listExecutions(in requestFields) (any, error) {
	if s.machines[in.StateMachineArn] == nil {
		return nil, newAPIError("StateMachineDoesNotExist", "State Machine Does Not Exist: '%s'", in.StateMachineArn)
	}
	s.mu.Lock()
	found := []Execution{}
	for _, e := range s.executions {
		if got := e.snapshot(); got.MachineARN == in.StateMachineArn && (in.StatusFilter == "" || in.StatusFilter == got.Status) {
			found = append(found, got)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(found, func(a, b Execution) int { return cmp.Or(b.Start.Compare(a.Start), cmp.Compare(a.ARN, b.ARN)) })
	items, next := page(found, in)
	list := make([]any, len(items))
	for i, e := range items {
		list[i] = executionSummary(e)
	}
	return pageResponse("executions", list, next), nil
}

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

func (s *Service) describeMachines(operation string, in requestFields) (any, error) {
	if operation == "DescribeStateMachine" {
		m, ok := s.machines[in.StateMachineArn]
		if !ok {
			return nil, newAPIError("StateMachineDoesNotExist", "State Machine Does Not Exist: '%s'", in.StateMachineArn)
		}
		return map[string]any{"stateMachineArn": m.ARN, "name": m.Name, "status": "ACTIVE", "type": "STANDARD", "roleArn": "",
			"definition": string(m.Definition), "creationDate": epochSeconds(time.Unix(0, 0))}, nil
	}
	list := []any{}
	for _, m := range s.cfg.Machines {
		list = append(list, map[string]any{"stateMachineArn": m.ARN, "name": m.Name, "type": "STANDARD",
			"creationDate": epochSeconds(time.Unix(0, 0))})
	}
	return pageResponse("stateMachines", list, ""), nil
}
