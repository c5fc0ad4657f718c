package states

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// call sends a request to the JSON API and returns the response and the type of the error, if any.
func (b *testService) call(t *testing.T, operation, body string) (out map[string]any, kind string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("X-Amz-Target", TargetPrefix+operation)
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	errtest.Fatal(t, json.NewDecoder(bytes.NewReader(w.Body.Bytes())).Decode(&out))
	kind, _ = out["__type"].(string)
	if (w.Code == http.StatusOK) == (kind != "") {
		t.Errorf("%s: status %d with %s, want an error exactly for another status than 200", operation, w.Code, w.Body)
	}
	return out, kind
}

// startRequest returns the body of a StartExecution request.
func startRequest(name, input string) string {
	text, _ := json.Marshal(map[string]string{"stateMachineArn": machineARN, "name": name, "input": input})
	return string(text)
}

// waitingTask has the fields of a Task that waits for its token.
const waitingTask = `"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
	"Parameters": {"FunctionName": "toy", "Payload": {"token.$": "$$.Task.Token"}}`

func TestExecutionNames(t *testing.T) {
	t.Parallel()
	release := make(chan bool)
	b := newTestService(
		t,
		oneState(task+`"Parameters": {"FunctionName": "toy"}`),
		func(ctx context.Context, _ string, p map[string]any) (any, string) {
			<-release
			return p, ""
		},
	)
	first, _ := b.call(t, "StartExecution", startRequest("a", `{"n":1}`))
	arn, _ := first["executionArn"].(string)
	difftest.Equal(t, "ARN", "arn:aws:states:eu-west-1:000000000000:execution:toy:a", arn)
	if again, kind := b.call(t, "StartExecution", startRequest("a", `{"n":1}`)); kind != "" ||
		again["startDate"] != first["startDate"] {
		t.Errorf("same request while it runs: %v, %q; want the first execution", again, kind)
	}
	if _, kind := b.call(t, "StartExecution", startRequest("a", `{"n":2}`)); kind != "ExecutionAlreadyExists" {
		t.Errorf("other input while it runs: %q, want ExecutionAlreadyExists", kind)
	}
	close(release)
	b.waitForEnd(t, arn)
	for range 2 {
		if _, kind := b.call(t, "StartExecution", startRequest("a", `{"n":1}`)); kind != "ExecutionAlreadyExists" {
			t.Errorf("same request after its end: %q, want ExecutionAlreadyExists", kind)
		}
		b.Close()
		b.restart(t) // the names of ended executions remain in use after a restart
	}
	difftest.Equal(t, "calls", 1, len(b.functions.calls))
	for name, want := range map[string]string{strings.Repeat("x", 80): "", strings.Repeat("x", 81): "InvalidName",
		"a/b": "InvalidName", "..": ""} {
		if _, kind := b.call(t, "StartExecution", startRequest(name, `{}`)); kind != want {
			t.Errorf("name %q: %q, want %q", name, kind, want)
		}
	}
	for body, want := range map[string]string{
		startRequest("b", `{`): "InvalidExecutionInput",
		`{"stateMachineArn":"arn:aws:states:eu-west-1:000000000000:stateMachine:other"}`: "StateMachineDoesNotExist",
		`[]`: "SerializationException",
	} {
		if _, kind := b.call(t, "StartExecution", body); kind != want {
			t.Errorf("%s: %q, want %q", body, kind, want)
		}
	}
}

func TestDescribeAndList(t *testing.T) {
	t.Parallel()
	b := newTestService(
		t,
		`{"StartAt":"C","States":{"C":{"Type":"Choice","Choices":[{"Variable":"$.ok","BooleanEquals":true,"Next":"Y"}],
		"Default":"N"},"Y":{"Type":"Succeed"},"N":{"Type":"Fail","Error":"No","Cause":"because"}}}`,
		echo,
	)
	for i := range 5 {
		arn, _ := b.call(t, "StartExecution", startRequest(fmt.Sprint("e", i), fmt.Sprintf(`{"ok":%v}`, i%2 == 0)))
		b.waitForEnd(t, arn["executionArn"].(string))
	}
	arn := "arn:aws:states:eu-west-1:000000000000:execution:toy:e1"
	got, _ := b.call(t, "DescribeExecution", fmt.Sprintf(`{"executionArn":%q}`, arn))
	if got["status"] != Failed || got["error"] != "No" || got["cause"] != "because" || got["input"] != `{"ok":false}` ||
		got["stopDate"] == nil {
		t.Errorf("DescribeExecution: %v, want the failed execution", got)
	}
	seen := map[string]bool{}
	for next, pages := "", 0; ; pages++ {
		got, _ = b.call(
			t,
			"ListExecutions",
			fmt.Sprintf(`{"stateMachineArn":%q,"statusFilter":"SUCCEEDED","maxResults":2,"nextToken":%q}`, machineARN,
				next),
		)
		for _, e := range got["executions"].([]any) {
			seen[e.(map[string]any)["name"].(string)] = true
		}
		var more bool
		if next, more = got["nextToken"].(string); !more {
			break
		}
		if pages > 3 {
			t.Fatal("ListExecutions returned more than 4 pages of 3 executions")
		}
	}
	if len(seen) != 3 || !seen["e0"] || !seen["e2"] || !seen["e4"] {
		t.Errorf("ListExecutions returned %v, want e0, e2 and e4", seen)
	}
	got, _ = b.call(t, "GetExecutionHistory",
		fmt.Sprintf(`{"executionArn":%q,"reverseOrder":true,"maxResults":1}`, arn))
	events := got["events"].([]any)
	if event := events[0].(map[string]any); len(events) != 1 || event["type"] != "ExecutionFailed" ||
		event["executionFailedEventDetails"].(map[string]any)["cause"] != "because" || got["nextToken"] == nil {
		t.Errorf("GetExecutionHistory: %v, want only ExecutionFailed and a token", got)
	}
	for _, operation := range []string{"DescribeExecution", "GetExecutionHistory", "StopExecution"} {
		if _, kind := b.call(t, operation, `{"executionArn":"x"}`); kind != "ExecutionDoesNotExist" {
			t.Errorf("%s of an unknown execution: %q, want ExecutionDoesNotExist", operation, kind)
		}
	}
	if got, _ := b.call(t, "ListStateMachines", `{}`); len(got["stateMachines"].([]any)) != 1 {
		t.Errorf("ListStateMachines: %v, want one machine", got)
	}
	if got, _ := b.call(t, "DescribeStateMachine", fmt.Sprintf(`{"stateMachineArn":%q}`,
		machineARN)); got["status"] != "ACTIVE" {
		t.Errorf("DescribeStateMachine: %v, want an active machine", got)
	}
	if _, kind := b.call(t, "CreateActivity", `{}`); kind != "UnknownOperationException" {
		t.Errorf("unknown operation: %q, want UnknownOperationException", kind)
	}
}

func TestTaskTokens(t *testing.T) {
	t.Parallel()
	tokens := make(chan string, 1)
	b := newTestService(
		t,
		oneState(waitingTask+`, "TimeoutSecondsPath": "$.limit",
			"Catch": [{"ErrorEquals": ["Own", "States.Timeout"], "Next": "Caught"}]`),
		func(_ context.Context, _ string, p map[string]any) (any, string) {
			tokens <- p["token"].(string)
			return nil, ""
		},
	)
	send := func(operation, token, rest string) string {
		_, kind := b.call(t, operation, fmt.Sprintf(`{"taskToken":%q%s}`, token, rest))
		return kind
	}
	e := errtest.Must(b.Start(machineARN, "good", []byte(`{"limit":60}`)))(t)
	token := <-tokens
	difftest.Equal(t, "invalid output", "InvalidOutput", send("SendTaskSuccess", token, `,"output":"{"`))
	difftest.Equal(t, "success", "", send("SendTaskSuccess", token, `,"output":"{\"a\":1}"`))
	if got := b.waitForEnd(t, e.ARN); string(got.Output) != `{"a":1}` {
		t.Errorf("execution %s with output %s", got.Status, got.Output)
	}
	if got := b.MachineOfToken(token); got != machineARN || b.MachineOfToken("x") != "" || b.MachineOfToken("") != "" {
		t.Errorf("the token belongs to %q after the task, want its machine", got)
	}
	difftest.Equal(t, "SendTaskFailure after the task", "TaskTimedOut", send("SendTaskFailure", token, ""))
	e = errtest.Must(b.Start(machineARN, "bad", []byte(`{"limit":60}`)))(t)
	send("SendTaskFailure", <-tokens, `,"error":"Own","cause":"c"`)
	if got := b.waitForEnd(t, e.ARN); string(got.Output) != `{"Cause":"c","Error":"Own"}` {
		t.Errorf("execution %s with output %s", got.Status, got.Output)
	}
	e = errtest.Must(b.Start(machineARN, "silent", []byte(`{"limit":1}`)))(t)
	<-tokens
	if got := b.waitForEnd(t, e.ARN); !strings.Contains(string(got.Output), "States.Timeout") {
		t.Errorf("execution %s with output %s", got.Status, got.Output)
	}
}

func TestStopAndTimeouts(t *testing.T) {
	t.Parallel()
	hang := func(ctx context.Context, _ string, _ map[string]any) (any, string) { <-ctx.Done(); return nil, "" }
	b := newTestService(
		t,
		oneState(
			task+`"Parameters": {"FunctionName": "toy"}, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}]`,
		),
		hang,
	)
	e := errtest.Must(b.Start(machineARN, "", nil))(t)
	if _, kind := b.call(t, "StopExecution", fmt.Sprintf(`{"executionArn":%q,"error":"E","cause":"C"}`,
		e.ARN)); kind != "" {
		t.Errorf("StopExecution: %q, want success", kind)
	}
	if got := b.waitForEnd(t, e.ARN); got.Status != Aborted || got.Error != "E" || got.Cause != "C" {
		t.Errorf("stopped execution %+v, want ABORTED with E and C", got)
	}
	b = newTestService(
		t,
		strings.Replace(oneState(task+`"Parameters": {"FunctionName": "toy"}`), `{"StartAt"`,
			`{"TimeoutSeconds": 1, "StartAt"`, 1),
		hang,
	)
	if got := b.run(t, `{}`); got.Status != TimedOut {
		t.Errorf("execution after its timeout: %+v, want TIMED_OUT", got)
	}
	b = newTestService(t, oneState(task+`"Parameters": {"FunctionName": "toy"}, "TimeoutSeconds": 1`), hang)
	if got := b.run(t, `{}`); got.Status != Failed || got.Error != "States.Timeout" {
		t.Errorf("execution after a task's timeout: %+v, want FAILED with States.Timeout", got)
	}
	b = newTestService(t, oneState(task+`"Parameters": {"FunctionName": "toy"}, "TimeoutSecondsPath": "$.n"`), hang)
	for input, want := range map[string]string{`{"n":1}`: "States.Timeout", `{"n":0}`: "States.Runtime",
		`{"n":"1"}`: "States.Runtime", `{}`: "States.Runtime"} {
		if got := b.run(t, input); got.Status != Failed || got.Error != want {
			t.Errorf("execution with the timeout of %s: %+v, want FAILED with %s", input, got, want)
		}
	}
}

// An execution that was running when the program ended is restarted at its first state.
func TestRestart(t *testing.T) {
	t.Parallel()
	hanging := true
	b := newTestService(
		t,
		`{"StartAt":"A","States":{"A":{"Type":"Pass","Next":"B"},"B":{`+task+
			`"Parameters":{"FunctionName":"toy"},"End":true}}}`,
		func(ctx context.Context, _ string, p map[string]any) (any, string) {
			if hanging {
				<-ctx.Done()
			}
			return p, ""
		},
	)
	var ended []string
	b.cfg.OnEnded = func(e Execution) { ended = append(ended, e.Name+" "+e.Status) }
	e := errtest.Must(b.Start(machineARN, "a", []byte(`{"n":1}`)))(t)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); len(b.eventTypes(t, e.ARN)) < 5; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("the task did not start within a minute")
		}
	}
	b.Close()
	errtest.Fails(t, "Start after Close", errtest.Of(b.Start(machineARN, "b", nil)))
	hanging = false
	b.restart(t)
	if got := b.waitForEnd(t, e.ARN); got.Status != Succeeded || !got.Start.Equal(e.Start) {
		t.Errorf("restarted execution %+v, want SUCCEEDED with the start time of the first run", got)
	}
	b.Close()
	if len(ended) != 1 || ended[0] != "a SUCCEEDED" {
		t.Errorf("OnEnded was called for %v, want one call", ended)
	}
	errtest.Fatal(t, os.WriteFile(filepath.Join(b.cfg.Dir, "toy", "x"+recordSuffix), []byte("{"), 0o600))
	errtest.Fails(t, "damaged file", errtest.Of(New(t.Context(), b.cfg)), "x"+recordSuffix)
}
