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
)

// call sends a request to the JSON API; kind is the name of the error, if any.
func (b *bench) call(t *testing.T, operation, body string) (out map[string]any, kind string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("X-Amz-Target", TargetPrefix+operation)
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	if err := json.NewDecoder(bytes.NewReader(w.Body.Bytes())).Decode(&out); err != nil {
		t.Fatal(err)
	}
	kind, _ = out["__type"].(string)
	if (w.Code == http.StatusOK) == (kind != "") {
		t.Errorf("%s: %d with %s", operation, w.Code, w.Body)
	}
	return out, kind
}

func start(name, input string) string {
	text, _ := json.Marshal(map[string]string{"stateMachineArn": machineARN, "name": name, "input": input})
	return string(text)
}

const waits = `"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
	"Parameters": {"FunctionName": "toy", "Payload": {"token.$": "$$.Task.Token"}}`

func TestExecutionNames(t *testing.T) {
	release := make(chan bool)
	b := open(t, one(task+`"Parameters": {"FunctionName": "toy"}`), func(ctx context.Context, _ string, p map[string]any) (any, string) {
		<-release
		return p, ""
	})
	first, _ := b.call(t, "StartExecution", start("a", `{"n":1}`))
	arn, _ := first["executionArn"].(string)
	if want := "arn:aws:states:eu-west-1:000000000000:execution:toy:a"; arn != want {
		t.Errorf("ARN %s, want %s", arn, want)
	}
	if again, kind := b.call(t, "StartExecution", start("a", `{"n":1}`)); kind != "" || again["startDate"] != first["startDate"] {
		t.Errorf("the same while it is open: %v", again)
	}
	if _, kind := b.call(t, "StartExecution", start("a", `{"n":2}`)); kind != "ExecutionAlreadyExists" {
		t.Errorf("another input while it is open: %q", kind)
	}
	close(release)
	b.end(t, arn)
	for range 2 {
		if _, kind := b.call(t, "StartExecution", start("a", `{"n":1}`)); kind != "ExecutionAlreadyExists" {
			t.Errorf("once it is closed: %q", kind)
		}
		b.Close()
		b.restart(t) // closed executions are known after a restart, too
	}
	if len(b.toys.calls) != 1 {
		t.Errorf("%d calls", len(b.toys.calls))
	}
	for name, want := range map[string]string{strings.Repeat("x", 80): "", strings.Repeat("x", 81): "InvalidName", "a/b": "InvalidName",
		"..": ""} {
		if _, kind := b.call(t, "StartExecution", start(name, `{}`)); kind != want {
			t.Errorf("name %q: %q, want %q", name, kind, want)
		}
	}
	for body, want := range map[string]string{
		start("b", `{`): "InvalidExecutionInput",
		`{"stateMachineArn":"arn:aws:states:eu-west-1:000000000000:stateMachine:other"}`: "StateMachineDoesNotExist",
		`[]`: "SerializationException",
	} {
		if _, kind := b.call(t, "StartExecution", body); kind != want {
			t.Errorf("%s: %q, want %q", body, kind, want)
		}
	}
}

func TestDescribeAndList(t *testing.T) {
	b := open(t, `{"StartAt":"C","States":{"C":{"Type":"Choice","Choices":[{"Variable":"$.ok","BooleanEquals":true,"Next":"Y"}],
		"Default":"N"},"Y":{"Type":"Succeed"},"N":{"Type":"Fail","Error":"No","Cause":"because"}}}`, echo)
	for i := range 5 {
		arn, _ := b.call(t, "StartExecution", start(fmt.Sprint("e", i), fmt.Sprintf(`{"ok":%v}`, i%2 == 0)))
		b.end(t, arn["executionArn"].(string))
	}
	arn := "arn:aws:states:eu-west-1:000000000000:execution:toy:e1"
	got, _ := b.call(t, "DescribeExecution", fmt.Sprintf(`{"executionArn":%q}`, arn))
	if got["status"] != Failed || got["error"] != "No" || got["cause"] != "because" || got["input"] != `{"ok":false}` || got["stopDate"] == nil {
		t.Errorf("described as %v", got)
	}
	seen := map[string]bool{}
	for next, pages := "", 0; ; pages++ {
		got, _ = b.call(t, "ListExecutions", fmt.Sprintf(`{"stateMachineArn":%q,"statusFilter":"SUCCEEDED","maxResults":2,"nextToken":%q}`, machineARN, next))
		for _, e := range got["executions"].([]any) {
			seen[e.(map[string]any)["name"].(string)] = true
		}
		var more bool
		if next, more = got["nextToken"].(string); !more {
			break
		}
		if pages > 3 {
			t.Fatal("the list has no end")
		}
	}
	if len(seen) != 3 || !seen["e0"] || !seen["e2"] || !seen["e4"] {
		t.Errorf("listed %v", seen)
	}
	got, _ = b.call(t, "GetExecutionHistory", fmt.Sprintf(`{"executionArn":%q,"reverseOrder":true,"maxResults":1}`, arn))
	events := got["events"].([]any)
	if event := events[0].(map[string]any); len(events) != 1 || event["type"] != "ExecutionFailed" ||
		event["executionFailedEventDetails"].(map[string]any)["cause"] != "because" || got["nextToken"] == nil {
		t.Errorf("history %v", got)
	}
	for _, operation := range []string{"DescribeExecution", "GetExecutionHistory", "StopExecution"} {
		if _, kind := b.call(t, operation, `{"executionArn":"x"}`); kind != "ExecutionDoesNotExist" {
			t.Errorf("%s of nothing: %q", operation, kind)
		}
	}
	if got, _ := b.call(t, "ListStateMachines", `{}`); len(got["stateMachines"].([]any)) != 1 {
		t.Errorf("machines %v", got)
	}
	if got, _ := b.call(t, "DescribeStateMachine", fmt.Sprintf(`{"stateMachineArn":%q}`, machineARN)); got["status"] != "ACTIVE" {
		t.Errorf("machine %v", got)
	}
	if _, kind := b.call(t, "CreateActivity", `{}`); kind != "UnknownOperationException" {
		t.Errorf("an unknown operation: %q", kind)
	}
}

func TestTaskTokens(t *testing.T) {
	given := make(chan string, 1)
	b := open(t, one(waits+`, "HeartbeatSeconds": 1, "Catch": [{"ErrorEquals": ["Own", "States.Timeout"], "Next": "Caught"}]`),
		func(_ context.Context, _ string, p map[string]any) (any, string) {
			given <- p["token"].(string)
			return nil, ""
		})
	send := func(operation, token, rest string) string {
		_, kind := b.call(t, operation, fmt.Sprintf(`{"taskToken":%q%s}`, token, rest))
		return kind
	}
	e, err := b.Start(machineARN, "good", nil)
	if err != nil {
		t.Fatal(err)
	}
	token := <-given
	if kind := send("SendTaskHeartbeat", token, ""); kind != "" {
		t.Errorf("heartbeat: %q", kind)
	}
	if kind := send("SendTaskSuccess", token, `,"output":"{"`); kind != "InvalidOutput" {
		t.Errorf("broken output: %q", kind)
	}
	if kind := send("SendTaskSuccess", token, `,"output":"{\"a\":1}"`); kind != "" {
		t.Errorf("success: %q", kind)
	}
	if got := b.end(t, e.ARN); string(got.Output) != `{"a":1}` {
		t.Errorf("ended with %s %s", got.Status, got.Output)
	}
	for _, operation := range []string{"SendTaskHeartbeat", "SendTaskFailure"} {
		if kind := send(operation, token, ""); kind != "TaskTimedOut" {
			t.Errorf("%s when it is over: %q", operation, kind)
		}
	}
	if e, err = b.Start(machineARN, "bad", nil); err != nil {
		t.Fatal(err)
	}
	send("SendTaskFailure", <-given, `,"error":"Own","cause":"c"`)
	if got := b.end(t, e.ARN); string(got.Output) != `{"Cause":"c","Error":"Own"}` {
		t.Errorf("ended with %s %s", got.Status, got.Output)
	}
	if e, err = b.Start(machineARN, "silent", nil); err != nil {
		t.Fatal(err)
	}
	<-given
	if got := b.end(t, e.ARN); !strings.Contains(string(got.Output), "States.HeartbeatTimeout") {
		t.Errorf("ended with %s %s", got.Status, got.Output)
	}
}

func TestStopAndTimeouts(t *testing.T) {
	hang := func(ctx context.Context, _ string, _ map[string]any) (any, string) { <-ctx.Done(); return nil, "" }
	b := open(t, one(task+`"Parameters": {"FunctionName": "toy"}, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}]`), hang)
	e, err := b.Start(machineARN, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, kind := b.call(t, "StopExecution", fmt.Sprintf(`{"executionArn":%q,"error":"E","cause":"C"}`, e.ARN)); kind != "" {
		t.Errorf("stop: %q", kind)
	}
	if got := b.end(t, e.ARN); got.Status != Aborted || got.Error != "E" || got.Cause != "C" {
		t.Errorf("stopped: %+v", got)
	}
	b = open(t, strings.Replace(one(task+`"Parameters": {"FunctionName": "toy"}`), `{"StartAt"`, `{"TimeoutSeconds": 1, "StartAt"`, 1), hang)
	if got := b.run(t, `{}`); got.Status != TimedOut {
		t.Errorf("timed out: %+v", got)
	}
	b = open(t, one(task+`"Parameters": {"FunctionName": "toy"}, "TimeoutSeconds": 1`), hang)
	if got := b.run(t, `{}`); got.Status != Failed || got.Error != "States.Timeout" {
		t.Errorf("task timed out: %+v", got)
	}
}

// An execution that was running when the program ended runs again from its first state.
func TestRestart(t *testing.T) {
	hanging := true
	b := open(t, `{"StartAt":"A","States":{"A":{"Type":"Pass","Next":"B"},"B":{`+task+`"Parameters":{"FunctionName":"toy"},"End":true}}}`,
		func(ctx context.Context, _ string, p map[string]any) (any, string) {
			if hanging {
				<-ctx.Done()
			}
			return p, ""
		})
	var ended []string
	b.cfg.OnEnded = func(e Execution) { ended = append(ended, e.Name+" "+e.Status) }
	e, err := b.Start(machineARN, "a", []byte(`{"n":1}`))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); len(b.kinds(t, e.ARN)) < 5; {
		if time.Now().After(deadline) {
			t.Fatal("the task does not start")
		}
	}
	b.Close()
	if _, err := b.Start(machineARN, "b", nil); err == nil {
		t.Error("an execution starts after the end")
	}
	hanging = false
	b.restart(t)
	if got := b.end(t, e.ARN); got.Status != Succeeded || !got.Start.Equal(e.Start) {
		t.Errorf("%+v", got)
	}
	b.Close()
	if len(ended) != 1 || ended[0] != "a SUCCEEDED" {
		t.Errorf("told of %v", ended)
	}
	if err := os.WriteFile(filepath.Join(b.cfg.Dir, "toy", "x"+recordSuffix), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(t.Context(), b.cfg); err == nil || !strings.Contains(err.Error(), "x"+recordSuffix) {
		t.Errorf("a damaged record: %v", err)
	}
}
