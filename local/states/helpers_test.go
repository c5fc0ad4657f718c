package states

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/local/lambda"
	"sluice/shared/kit/errtest"
)

// fakeFunctions stands in for Lambda functions. Its function do returns a result, or the type of an error.
type fakeFunctions struct {
	mu    sync.Mutex
	calls []string
	do    func(ctx context.Context, name string, payload map[string]any) (any, string)
}

func (t *fakeFunctions) Invoke(ctx context.Context, name string, payload []byte) (lambda.Result, error) {
	t.mu.Lock()
	t.calls = append(t.calls, name)
	t.mu.Unlock()
	v, err := decode(payload)
	if err != nil {
		return lambda.Result{}, err
	}
	m, _ := v.(map[string]any)
	if name == "missing" {
		return lambda.Result{}, lambda.ErrNotFound
	}
	if name == "throttled" {
		return lambda.Result{}, &lambda.ThrottledError{}
	}
	result, failed := t.do(ctx, name, m)
	if ctx.Err() != nil {
		return lambda.Result{}, ctx.Err()
	}
	if failed != "" {
		payload, _ := json.Marshal(map[string]string{"errorType": failed, "errorMessage": "m"})
		if failed == "unnamed" {
			return lambda.Result{Failed: true, Payload: []byte(`{}`)}, nil
		}
		return lambda.Result{Failed: true, ErrorType: failed, Payload: payload}, nil
	}
	return lambda.Result{Payload: encode(result), Version: "$LATEST"}, nil
}

const (
	machineARN     = "arn:aws:states:eu-west-1:000000000000:stateMachine:toy"
	functionPrefix = "arn:aws:lambda:eu-west-1:000000000000:function:"
)

// testService is a service with one machine, whose waiting times it records instead of waiting.
type testService struct {
	*Service
	cfg       Config
	functions *fakeFunctions
	mu        sync.Mutex
	slept     []time.Duration
}

// newTestService starts a service with a machine whose functions are do.
func newTestService(
	t *testing.T,
	definition string,
	do func(context.Context, string, map[string]any) (any, string),
) *testService {
	t.Helper()
	b := &testService{functions: &fakeFunctions{do: do}}
	b.cfg = Config{
		Machines:  []Machine{{Name: "toy", ARN: machineARN, Definition: []byte(definition)}},
		Functions: b.functions, Dir: t.TempDir(), Region: "eu-west-1", NewID: uuid.NewString,
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		Sleep: func(ctx context.Context, d time.Duration) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.slept = append(b.slept, d)
			return ctx.Err()
		},
	}
	b.restart(t)
	return b
}

// restart starts another service on the same folder.
func (b *testService) restart(t *testing.T) {
	t.Helper()
	s := errtest.Must(New(t.Context(), b.cfg))(t)
	t.Cleanup(s.Close)
	b.Service = s
}

// run starts an execution and waits for its end.
func (b *testService) run(t *testing.T, input string) Execution {
	t.Helper()
	e := errtest.Must(b.Start(machineARN, "", []byte(input)))(t)
	return b.waitForEnd(t, e.ARN)
}

// waitForEnd waits for the end of an execution and returns it.
func (b *testService) waitForEnd(t *testing.T, arn string) Execution {
	t.Helper()
	e := errtest.Must(b.find(arn))(t)
	select {
	case <-e.doneChannel():
	case <-time.After(time.Minute):
		t.Fatal("the execution did not end within a minute")
	}
	return e.snapshot()
}

// eventTypes returns the types of the events in the history of an execution.
func (b *testService) eventTypes(t *testing.T, arn string) []string {
	t.Helper()
	e := errtest.Must(b.find(arn))(t)
	events := errtest.Must(e.events())(t)
	var kinds []string
	for i, text := range events {
		var event struct {
			ID, PreviousEventID int
			Type                string
		}
		errtest.Fatal(t, json.Unmarshal(text, &event))
		if event.ID != i+1 || event.PreviousEventID > i {
			t.Errorf("event %d has the ID %d and the previous ID %d, want %d and a smaller one", i+1, event.ID,
				event.PreviousEventID, i+1)
		}
		kinds = append(kinds, event.Type)
	}
	return kinds
}

// echo returns its payload.
func echo(_ context.Context, _ string, payload map[string]any) (any, string) { return payload, "" }

// oneState returns a definition whose only state before the end is S with the fields.
func oneState(fields string) string {
	caught := ""
	if strings.Contains(fields, `"Caught"`) {
		caught = `, "Caught": {"Type": "Pass", "End": true}`
	}
	return `{"StartAt": "S", "States": {"S": {` + fields + `, "End": true}` + caught + `}}`
}

const (
	task       = `"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", `
	invocation = task + `"Parameters": {"FunctionName": "toy"}, `
)
