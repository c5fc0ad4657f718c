package states

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/local/lambda"
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
	return lambda.Result{Payload: encode(result)}, nil
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
	s, err := New(t.Context(), b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	b.Service = s
}

// run starts an execution and waits for its end.
func (b *testService) run(t *testing.T, input string) Execution {
	t.Helper()
	e, err := b.Start(machineARN, "", []byte(input))
	if err != nil {
		t.Fatal(err)
	}
	return b.waitForEnd(t, e.ARN)
}

// waitForEnd waits for the end of an execution and returns it.
func (b *testService) waitForEnd(t *testing.T, arn string) Execution {
	t.Helper()
	e, err := b.find(arn)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-e.doneChannel():
	case <-time.After(20 * time.Second):
		t.Fatal("the execution did not end within 20 seconds")
	}
	return e.snapshot()
}

// eventTypes returns the types of the events in the history of an execution.
func (b *testService) eventTypes(t *testing.T, arn string) []string {
	t.Helper()
	e, err := b.find(arn)
	if err != nil {
		t.Fatal(err)
	}
	events, err := e.events()
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for i, text := range events {
		var event struct {
			ID, PreviousEventID int
			Type                string
		}
		if err := json.Unmarshal(text, &event); err != nil {
			t.Fatal(err)
		}
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
	return `{"StartAt": "S", "States": {"S": {` + fields + `, "End": true}, "Caught": {"Type": "Pass", "End": true}}}`
}

const task = `"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", `

func TestDataFlow(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, definition, input, want string }{
		{"pass", oneState(`"Type": "Pass"`), `{"a":1.50}`, `{"a":1.50}`},
		{
			"result",
			oneState(`"Type": "Pass", "Result": {"x": 1}, "ResultPath": "$.b.c"`),
			`{"a":1}`,
			`{"a":1,"b":{"c":{"x":1}}}`,
		},
		{"result dropped", oneState(`"Type": "Pass", "Result": 1, "ResultPath": null`), `{"a":1}`, `{"a":1}`},
		{"input null", oneState(`"Type": "Pass", "InputPath": null`), `{"a":1}`, `{}`},
		{"output null", oneState(`"Type": "Pass", "OutputPath": null`), `{"a":1}`, `{}`},
		{
			"paths",
			oneState(`"Type": "Pass", "InputPath": "$.a['b c'][1]", "OutputPath": "$.x"`),
			`{"a":{"b c":[0,{"x":2}]}}`,
			`2`,
		},
		{
			"parameters",
			oneState(`"Type": "Pass", "Parameters": {"k": "$.a", "l.$": "$.a", "m": [{"n.$": "$$.Execution.Name"}]}`),
			`{"a":"&<"}`,
			`{"k":"$.a","l":"&<","m":[{"n":"NAME"}]}`,
		},
		{"lambda", oneState(task + `"Parameters": {"FunctionName": "toy", "Payload.$": "$"}`), `{"a":1}`,
			`{"ExecutedVersion":"$LATEST","Payload":{"a":1},"StatusCode":200}`},
		{
			"selector",
			oneState(task + `"Parameters": {"FunctionName": "` + functionPrefix + `toy:1", "Payload": {"b.$": "$.a"}},
			"ResultSelector": {"r.$": "$.Payload.b"}, "ResultPath": "$.out", "OutputPath": "$.out"`),
			`{"a":1}`,
			`{"r":1}`,
		},
		{"plain function", oneState(`"Type": "Task", "Resource": "` + functionPrefix + `toy"`), `{"a":1}`, `{"a":1}`},
		{
			"no payload",
			oneState(task + `"Parameters": {"FunctionName": "toy"}, "OutputPath": "$.Payload"`),
			`{"a":1}`,
			`{}`,
		},
		{"wait", oneState(`"Type": "Wait", "SecondsPath": "$.n"`), `{"n":7}`, `{"n":7}`},
		{"succeed", `{"StartAt":"S","States":{"S":{"Type":"Succeed","OutputPath":"$.a"}}}`, `{"a":[1]}`, `[1]`},
		{"map", oneState(`"Type": "Map", "ItemsPath": "$.items", "MaxConcurrencyPath": "$.n", "ResultPath": "$.out",
			"ItemSelector": {"i.$": "$$.Map.Item.Index", "v.$": "$$.Map.Item.Value", "n.$": "$.n"},
			"ItemProcessor": {"ProcessorConfig": {"Mode": "INLINE"}, "StartAt": "I", "States": {"I": {"Type": "Pass", "End": true}}}`),
			`{"items":["a","b"],"n":1}`, `{"items":["a","b"],"n":1,"out":[{"i":0,"n":1,"v":"a"},{"i":1,"n":1,"v":"b"}]}`},
		{
			"empty map",
			oneState(
				`"Type": "Map", "ItemProcessor": {"StartAt": "I", "States": {"I": {"Type": "Pass", "End": true}}}`,
			),
			`[]`,
			`[]`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newTestService(t, test.definition, echo)
			e := b.run(t, test.input)
			if want := strings.ReplaceAll(test.want, "NAME", e.Name); e.Status != Succeeded ||
				string(e.Output) != want {
				t.Errorf("execution %s (%s %s) with output %s, want %s", e.Status, e.Error, e.Cause, e.Output, want)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	inMap := func(state string) string {
		return oneState(
			`"Type": "Map", "ItemProcessor": {"StartAt": "I", "States": {"I": {` + state + `, "End": true}}}`,
		)
	}
	call := func(name string) string {
		return task + `"Parameters": {"FunctionName": "` + name + `", "Payload.$": "$"}`
	}
	tests := []struct{ name, definition, input, want string }{
		{"function", oneState(call("Broken")), `{}`, "Broken"},
		{"unnamed", oneState(call("unnamed")), `{}`, "Lambda.Unknown"},
		{"missing function", oneState(call("missing")), `{}`, "Lambda.ResourceNotFoundException"},
		{"in map", inMap(call("Broken")), `[{},{}]`, "Broken"},
		{"no array", inMap(call("toy")), `{}`, "States.Runtime"},
		{"input path", oneState(`"Type": "Pass", "InputPath": "$.no"`), `{}`, "States.Runtime"},
		{"output path", oneState(`"Type": "Pass", "OutputPath": "$.no"`), `{}`, "States.Runtime"},
		{"parameters", oneState(`"Type": "Pass", "Parameters": {"a.$": "$.no"}`), `{}`, "States.ParameterPathFailure"},
		{"result path", oneState(`"Type": "Pass", "ResultPath": "$.a.b"`), `{"a":1}`, "States.ResultPathMatchFailure"},
		{"seconds", oneState(`"Type": "Wait", "SecondsPath": "$.n"`), `{"n":"7"}`, "States.Runtime"},
		{
			"no choice",
			`{"StartAt":"S","States":{"S":{"Type":"Choice","Choices":[{"Variable":"$.a","IsPresent":true,"Next":"S"}]}}}`,
			`{}`,
			"States.NoChoiceMatched",
		},
		{
			"no variable",
			`{"StartAt":"S","States":{"S":{"Type":"Choice","Choices":[{"Variable":"$.a","IsNull":true,"Next":"S"}]}}}`,
			`{}`,
			"States.Runtime",
		},
		{
			"fail",
			`{"StartAt":"S","States":{"S":{"Type":"Fail","Error":"Own","CausePath":"$.why"}}}`,
			`{"why":"x"}`,
			"Own",
		},
		{"endless", `{"StartAt":"S","States":{"S":{"Type":"Pass","Next":"S"}}}`, `{}`, "States.Runtime"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newTestService(
				t,
				test.definition,
				func(_ context.Context, name string, p map[string]any) (any, string) {
					if name != "toy" {
						return nil, name
					}
					return p, ""
				},
			)
			e := b.run(t, test.input)
			if e.Status != Failed || e.Error != test.want {
				t.Errorf("execution %s with %s (%s), want FAILED with %s", e.Status, e.Error, e.Cause, test.want)
			}
			kinds := b.eventTypes(t, e.ARN)
			if last := kinds[len(kinds)-1]; last != "ExecutionFailed" || len(kinds) > maxEvents {
				t.Errorf("%d events, the last one %s; want at most %d, the last one ExecutionFailed", len(kinds), last,
					maxEvents)
			}
		})
	}
}

func TestPayloadLimit(t *testing.T) {
	t.Parallel()
	definition := oneState(
		task + `"Parameters": {"FunctionName": "toy"}, "ResultPath": "$.r", "OutputPath": "$.r.Payload",
		"Retry": [{"ErrorEquals": ["States.ALL"]}], "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}]`,
	)
	for n, ok := range map[int]bool{MaxPayload - 1: true, MaxPayload: true, MaxPayload + 1: false} {
		b := newTestService(t, definition, func(context.Context, string, map[string]any) (any, string) {
			return strings.Repeat("<", n-2), ""
		})
		e := b.run(t, `{}`)
		if (e.Status == Succeeded) != ok || !ok && e.Error != "States.DataLimitExceeded" {
			t.Errorf("result of %d bytes: %s %s, want success = %v", n, e.Status, e.Error, ok)
		}
		if calls := len(b.functions.calls); calls != 1 {
			t.Errorf("%d calls, want 1: this failure is never retried", calls)
		}
		_, err := b.Start(machineARN, "", []byte(`"`+strings.Repeat("x", n-2)+`"`))
		if (err == nil) != ok {
			t.Errorf("input of %d bytes: %v, want success = %v", n, err, ok)
		}
	}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	retry := `"Retry": [
		{"ErrorEquals": ["Often"], "IntervalSeconds": 2, "BackoffRate": 3, "MaxAttempts": 4, "MaxDelaySeconds": 20},
		{"ErrorEquals": ["Never"], "MaxAttempts": 0},
		{"ErrorEquals": ["States.TaskFailed"], "MaxAttempts": 1, "JitterStrategy": "FULL"}],
		"Catch": [{"ErrorEquals": ["Never", "Often"], "ResultPath": "$.why", "Next": "Caught"}]`
	tests := []struct {
		// errors has the errors of the calls, in order. The next call succeeds.
		errors string
		calls  int
		status string
		// slept has the waiting times in seconds.
		slept []time.Duration
	}{
		{"", 1, Succeeded, nil},
		{"Often Often Often Often", 5, Succeeded, []time.Duration{2, 6, 18, 20}},
		{"Often Often Often Often Often", 5, Succeeded, []time.Duration{2, 6, 18, 20}}, // caught
		{"Never", 1, Succeeded, nil},
		{"Other", 2, Succeeded, nil},
		{"Other Often Often Other", 4, Failed, nil},
		{"States.Timeout", 1, Failed, nil},
	}
	for _, test := range tests {
		t.Run(test.errors, func(t *testing.T) {
			left := strings.Fields(test.errors)
			b := newTestService(
				t,
				oneState(
					task+`"Parameters": {"FunctionName": "toy", "Payload": {"n.$": "$$.State.RetryCount"}},`+retry,
				),
				func(_ context.Context, _ string, p map[string]any) (any, string) {
					if n := fmt.Sprint(len(strings.Fields(test.errors)) - len(left)); fmt.Sprint(p["n"]) != n {
						t.Errorf("RetryCount %v, want %s", p["n"], n)
					}
					if len(left) == 0 {
						return nil, ""
					}
					name := left[0]
					left = left[1:]
					return nil, name
				},
			)
			e := b.run(t, `{}`)
			if e.Status != test.status || len(b.functions.calls) != test.calls {
				t.Errorf("execution %s (%s) after %d calls, want %s after %d", e.Status, e.Error,
					len(b.functions.calls), test.status, test.calls)
			}
			for i, want := range test.slept {
				if b.slept[i] != want*time.Second {
					t.Errorf("slept %v, want %v seconds", b.slept, test.slept)
				}
			}
			if strings.HasPrefix(test.errors, "Never") && !strings.Contains(string(e.Output), `{"why":{"Cause":"{`) {
				t.Errorf("output %s, want the failure at $.why", e.Output)
			}
		})
	}
}

func TestMatchesError(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, failed string
		want         bool
	}{
		{"Own", "Own", true}, {"Own", "Other", false},
		{"States.ALL", "Own", true}, {"States.ALL", "States.Timeout", true},
		{"States.ALL", "States.Runtime", false}, {"States.Runtime", "States.Runtime", false},
		{
			"States.ALL",
			"States.DataLimitExceeded",
			false,
		}, {"States.DataLimitExceeded", "States.DataLimitExceeded", true},
		{"States.TaskFailed", "Own", true}, {"States.TaskFailed", "States.Timeout", false},
		{"States.Timeout", "States.HeartbeatTimeout", true}, {"States.HeartbeatTimeout", "States.Timeout", false},
		{"States.ALL", "", false},
	}
	for _, test := range tests {
		if got := matchesError([]string{test.name}, test.failed); got != test.want {
			t.Errorf("matchesError(%s, %s) = %v, want %v", test.name, test.failed, got, test.want)
		}
	}
}

func TestRetryJitter(t *testing.T) {
	t.Parallel()
	r := retrier{JitterStrategy: "FULL"}
	for random, want := range map[float64]time.Duration{0: 0, 0.5: 2 * time.Second} {
		if got := r.delayAfter(2, func() float64 { return random }); got != want {
			t.Errorf("delay for the random number %v = %v, want %v", random, got, want)
		}
	}
}

func TestMapConcurrencyAndFailure(t *testing.T) {
	t.Parallel()
	definition := oneState(`"Type": "Map", "MaxConcurrency": 3, "ItemProcessor": {"StartAt": "I", "States": {"I": {` +
		task + `"Parameters": {"FunctionName": "toy", "Payload.$": "$"}, "End": true}}}`)
	var mu sync.Mutex
	var now, most int
	b := newTestService(t, definition, func(ctx context.Context, _ string, p map[string]any) (any, string) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		defer func() { mu.Lock(); now--; mu.Unlock() }()
		if p["fail"] == true {
			return nil, "Broken"
		}
		if p["hang"] == true {
			<-ctx.Done()
		}
		return p, ""
	})
	items := strings.Repeat(`{},`, 30)
	if e := b.run(t, `[`+items+`{}]`); e.Status != Succeeded || most > 3 {
		t.Errorf("execution %s (%s) with %d calls at a time, want SUCCEEDED with at most 3", e.Status, e.Error, most)
	}
	e := b.run(t, `[{"hang":true},{"fail":true},`+items+`{}]`)
	kinds := strings.Join(b.eventTypes(t, e.ARN), " ")
	if e.Error != "Broken" || !strings.Contains(kinds, "MapIterationAborted") ||
		!strings.HasSuffix(kinds, "MapStateFailed ExecutionFailed") {
		t.Errorf("execution %s (%s), want the error Broken and an aborted iteration: %s", e.Status, e.Error, kinds)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	b := newTestService(t, `{"StartAt":"T","States":{
		"T":{`+task+`"Parameters":{"FunctionName":"toy"},"Next":"L"},
		"L":{"Type":"Task","Resource":"`+functionPrefix+`toy","Next":"C"},
		"C":{"Type":"Choice","Choices":[{"Variable":"$","IsNull":false,"Next":"M"}]},
		"M":{"Type":"Map","InputPath":"$$.Execution.Input","ItemProcessor":{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}},"Next":"E"},
		"E":{"Type":"Succeed"}}}`, echo)
	e := b.run(t, `[1]`)
	want := strings.Fields(`ExecutionStarted TaskStateEntered TaskScheduled TaskStarted TaskSucceeded TaskStateExited
		TaskStateEntered LambdaFunctionScheduled LambdaFunctionStarted LambdaFunctionSucceeded TaskStateExited
		ChoiceStateEntered ChoiceStateExited MapStateEntered MapStateStarted MapIterationStarted PassStateEntered PassStateExited
		MapIterationSucceeded MapStateSucceeded MapStateExited SucceedStateEntered SucceedStateExited ExecutionSucceeded`)
	if diff := cmp.Diff(want, b.eventTypes(t, e.ARN)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
