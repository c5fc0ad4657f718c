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
	var known *refused
	switch {
	case errors.As(err, &known):
		status, out = http.StatusBadRequest, map[string]string{"__type": known.kind, "message": known.message}
	case err != nil:
		status, out = http.StatusInternalServerError, map[string]string{"__type": "InternalFailure", "message": err.Error()}
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out)
}

// input holds the fields of all operations.
type input struct {
	StateMachineArn, Name, Input string
	ExecutionArn, Error, Cause   string
	StatusFilter                 string
	TaskToken, Output            string
	MaxResults                   int
	NextToken                    string
	ReverseOrder                 bool
}

func (s *Service) call(operation string, body []byte) (any, error) {
	var in input
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, refusal("SerializationException", "The request is no JSON object of the right form.")
	}
	switch operation {
	case "StartExecution":
		e, err := s.Start(in.StateMachineArn, in.Name, []byte(in.Input))
		return map[string]any{"executionArn": e.ARN, "startDate": seconds(e.Start)}, err
	case "StopExecution":
		e, err := s.Stop(in.ExecutionArn, in.Error, in.Cause)
		return map[string]any{"stopDate": seconds(e.Stop)}, err
	case "DescribeExecution":
		e, err := s.Describe(in.ExecutionArn)
		return described(e), err
	case "ListExecutions":
		return s.list(in)
	case "GetExecutionHistory":
		return s.history(in)
	case "ListStateMachines", "DescribeStateMachine":
		return s.machine(operation, in)
	case "SendTaskSuccess":
		output, err := decode([]byte(in.Output))
		if err != nil || len(in.Output) > MaxPayload {
			return nil, refusal("InvalidOutput", "Invalid Output")
		}
		return sent(s.world.tokens.answer(in.TaskToken, answer{output: output}))
	case "SendTaskFailure":
		return sent(s.world.tokens.answer(in.TaskToken, answer{failure: &Failure{in.Error, in.Cause}}))
	case "SendTaskHeartbeat":
		return sent(s.world.tokens.beat(in.TaskToken))
	}
	return nil, refusal("UnknownOperationException", "The local cloud does not know the operation %s.", operation)
}

func sent(ok bool) (any, error) {
	if !ok {
		return nil, refusal("TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'")
	}
	return struct{}{}, nil
}

func described(e Execution) map[string]any {
	out := listed(e)
	out["input"] = string(e.Input)
	if e.Status == Succeeded {
		out["output"] = string(e.Output)
	}
	if e.Error != "" {
		out["error"], out["cause"] = e.Error, e.Cause
	}
	return out
}

func listed(e Execution) map[string]any {
	out := map[string]any{"executionArn": e.ARN, "stateMachineArn": e.MachineARN, "name": e.Name, "status": e.Status,
		"startDate": seconds(e.Start)}
	if !e.Stop.IsZero() {
		out["stopDate"] = seconds(e.Stop)
	}
	return out
}

// page cuts a list; a token is the number of items before it.
func page[T any](all []T, in input) (items []T, next string) {
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

func paged(name string, items any, next string) map[string]any {
	out := map[string]any{name: items}
	if next != "" {
		out["nextToken"] = next
	}
	return out
}

// list gives executions, the newest first.
func (s *Service) list(in input) (any, error) {
	if s.machines[in.StateMachineArn] == nil {
		return nil, refusal("StateMachineDoesNotExist", "State Machine Does Not Exist: '%s'", in.StateMachineArn)
	}
	s.mu.Lock()
	found := []Execution{}
	for _, e := range s.executions {
		if got := e.get(); got.MachineARN == in.StateMachineArn && (in.StatusFilter == "" || in.StatusFilter == got.Status) {
			found = append(found, got)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(found, func(a, b Execution) int { return cmp.Or(b.Start.Compare(a.Start), cmp.Compare(a.ARN, b.ARN)) })
	items, next := page(found, in)
	list := make([]any, len(items))
	for i, e := range items {
		list[i] = listed(e)
	}
	return paged("executions", list, next), nil
}

func (s *Service) history(in input) (any, error) {
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
	return paged("events", append([]json.RawMessage{}, items...), next), nil
}

func (s *Service) machine(operation string, in input) (any, error) {
	if operation == "DescribeStateMachine" {
		m, ok := s.machines[in.StateMachineArn]
		if !ok {
			return nil, refusal("StateMachineDoesNotExist", "State Machine Does Not Exist: '%s'", in.StateMachineArn)
		}
		return map[string]any{"stateMachineArn": m.ARN, "name": m.Name, "status": "ACTIVE", "type": "STANDARD", "roleArn": "",
			"definition": string(m.Definition), "creationDate": seconds(time.Unix(0, 0))}, nil
	}
	list := []any{}
	for _, m := range s.cfg.Machines {
		list = append(list, map[string]any{"stateMachineArn": m.ARN, "name": m.Name, "type": "STANDARD",
			"creationDate": seconds(time.Unix(0, 0))})
	}
	return paged("stateMachines", list, ""), nil
}
