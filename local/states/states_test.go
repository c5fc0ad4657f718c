package states

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
)

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
		{"output null", oneState(`"Type": "Pass", "OutputPath": null`), `{"a":1}`, `{}`},
		{"paths", oneState(`"Type": "Pass", "OutputPath": "$.a.b"`), `{"a":{"b":{"x":2}}}`, `{"x":2}`},
		{
			"parameters",
			oneState(task + `"Parameters": {"FunctionName": "toy", "Payload":
			{"k": "$.a", "l.$": "$.a", "m": [{"n.$": "$$.Execution.Name"}]}}, "OutputPath": "$.Payload"`),
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
			"ItemProcessor": {"ProcessorConfig": {"Mode": "INLINE"}, "StartAt": "I",
				"States": {"I": {"Type": "Pass", "End": true}}}`),
			`{"items":["a","b"],"n":1}`, `{"items":["a","b"],"n":1,"out":[{"i":0,"n":1,"v":"a"},{"i":1,"n":1,` +
				`"v":"b"}]}`},
		{"parallel", oneState(`"Type": "Parallel", "ResultPath": "$.out",
			"Branches": [{"StartAt": "A", "States": {"A": {"Type": "Pass", "OutputPath": "$.x", "End": true}}},
				{"StartAt": "B", "States": {"B": {"Type": "Pass", "Next": "C"},
					"C": {"Type": "Pass", "Result": 2, "ResultPath": "$.w", "End": true}}}]`),
			`{"x":[1]}`, `{"out":[[1],{"w":2,"x":[1]}],"x":[1]}`},
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
	inParallel := func(state string) string {
		return oneState(`"Type": "Parallel", "Branches": [{"StartAt": "I", "States": {"I": {` + state +
			`, "End": true}}}]`)
	}
	call := func(name string) string {
		return task + `"Parameters": {"FunctionName": "` + name + `", "Payload.$": "$"}`
	}
	tests := []struct{ name, definition, input, want string }{
		{"function", oneState(call("Broken")), `{}`, "Broken"},
		{"unnamed", oneState(call("unnamed")), `{}`, "Lambda.Unknown"},
		{"missing function", oneState(call("missing")), `{}`, "Lambda.ResourceNotFoundException"},
		{"throttled", oneState(call("throttled")), `{}`, "Lambda.TooManyRequestsException"},
		{"in map", inMap(call("Broken")), `[{},{}]`, "Broken"},
		{"in parallel", inParallel(call("Broken")), `{}`, "Broken"},
		{"a fail state in parallel", `{"StartAt":"S","States":{"S":{"Type":"Parallel","End":true,` +
			`"Branches":[{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"Own"}}}]}}}`, `{}`, "Own"},
		{"no array", inMap(call("toy")), `{}`, "States.Runtime"},
		{"output path", oneState(`"Type": "Pass", "OutputPath": "$.no"`), `{}`, "States.Runtime"},
		{"parameters", oneState(task + `"Parameters": {"FunctionName": "toy", "Payload.$": "$.no"}`), `{}`,
			"States.Runtime"},
		{"caught parameters", oneState(call("toy") + `, "ResultSelector": {"a.$": "$.no"},
			"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}]`), `{}`, "States.Runtime"},
		{"result path", oneState(`"Type": "Pass", "ResultPath": "$.a.b"`), `{"a":1}`, "States.ResultPathMatchFailure"},
		{"seconds", oneState(`"Type": "Wait", "SecondsPath": "$.n"`), `{"n":"7"}`, "States.Runtime"},
		{
			"no choice",
			`{"StartAt":"S","States":{"S":{"Type":"Choice","Choices":[{"Variable":"$.a",` +
				`"BooleanEquals":true,"Next":"Y"}]},"Y":{"Type":"Succeed"}}}`,
			`{"a":0}`,
			"States.NoChoiceMatched",
		},
		{
			"no variable",
			`{"StartAt":"S","States":{"S":{"Type":"Choice","Choices":[{"Variable":"$.a","BooleanEquals":true,` +
				`"Next":"Y"}]},"Y":{"Type":"Succeed"}}}`,
			`{}`,
			"States.Runtime",
		},
		{
			"fail",
			`{"StartAt":"S","States":{"S":{"Type":"Fail","Error":"Own","Cause":"x"}}}`,
			`{}`,
			"Own",
		},
		{"endless", `{"StartAt":"S","States":{"S":{"Type":"Pass","Next":"C"},"C":{"Type":"Choice","Default":"S",` +
			`"Choices":[{"Variable":"$.a","BooleanEquals":true,"Next":"Y"}]},"Y":{"Type":"Succeed"}}}`, `{"a":0}`,
			"States.Runtime"},
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
			difftest.Equal(t, "execution", []any{Failed, test.want}, []any{e.Status, e.Error})
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

func TestMapConcurrencyAndFailure(t *testing.T) {
	t.Parallel()
	for _, field := range []string{`"MaxConcurrencyPath": "$.n"`, `"MaxConcurrency": 3`} {
		t.Run(field, func(t *testing.T) { testMapConcurrencyAndFailure(t, field) })
	}
}

// testMapConcurrencyAndFailure tests a Map whose field allows three iterations at a time.
func testMapConcurrencyAndFailure(t *testing.T, field string) {
	definition := oneState(`"Type": "Map", "ItemsPath": "$.items", ` + field + `,
		"ItemProcessor": {"StartAt": "I", "States": {"I": {` +
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
	if e := b.run(t, `{"n":3,"items":[`+items+`{}]}`); e.Status != Succeeded || most > 3 {
		t.Errorf("execution %s (%s) with %d calls at a time, want SUCCEEDED with at most 3", e.Status, e.Error, most)
	}
	e := b.run(t, `{"n":3,"items":[{"hang":true},{"fail":true},`+items+`{}]}`)
	kinds := strings.Join(b.eventTypes(t, e.ARN), " ")
	if e.Error != "Broken" || !strings.Contains(kinds, "MapIterationAborted") ||
		!strings.HasSuffix(kinds, "MapStateFailed ExecutionFailed") {
		t.Errorf("execution %s (%s), want the error Broken and an aborted iteration: %s", e.Status, e.Error, kinds)
	}
}

// TestParallel tests the ends of branches: while one hangs, another one fails, is repeated, or is caught; and two that
// are there at the same time.
func TestParallel(t *testing.T) {
	t.Parallel()
	branch := func(name, function, fields string) string {
		return `{"StartAt": "` + name + `", "States": {"` + name + `": {` + task + `"Parameters": {"FunctionName": "` +
			function +
			`", "Payload.$": "$"}` + fields + `, "End": true}}}`
	}
	parallel := func(fields string, branches ...string) string {
		return oneState(`"Type": "Parallel", "Branches": [` + strings.Join(branches, ", ") + `]` + fields)
	}
	const retry = `, "Retry": [{"ErrorEquals": ["Once"], "MaxAttempts": 1}]`
	const catch = `, "Catch": [{"ErrorEquals": ["Broken"], "ResultPath": "$.failure", "Next": "Caught"}]`
	tests := []struct {
		name, definition string
		// want is the output, or the error of an execution that fails, and last are the last events before its end.
		want, last string
	}{
		{"at the same time", parallel(`, "ResultPath": null`, branch("A", "meet", ""), branch("B", "meet", "")),
			`{"a":1}`, "ParallelStateSucceeded ParallelStateExited ExecutionSucceeded"},
		{"one fails", parallel("", branch("A", "hang", ""), branch("B", "Broken", "")), "Broken",
			"ParallelStateFailed ExecutionFailed"},
		{"retry in a branch", parallel(`, "ResultPath": null`, branch("A", "Once", retry)), `{"a":1}`,
			"TaskSucceeded TaskStateExited ParallelStateSucceeded ParallelStateExited ExecutionSucceeded"},
		{"retry of all", parallel(`, "ResultPath": null`+retry, branch("A", "echo", ""), branch("B", "Once", "")),
			`{"a":1}`, "ParallelStateSucceeded ParallelStateExited ExecutionSucceeded"},
		{"catch", parallel(catch, branch("A", "hang", ""), branch("B", "Broken", "")),
			`{"a":1,"failure":{"Cause":"{\"errorMessage\":\"m\",\"errorType\":\"Broken\"}","Error":"Broken"}}`,
			"ParallelStateFailed ParallelStateExited PassStateEntered PassStateExited ExecutionSucceeded"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var once sync.Once
			var meeting sync.WaitGroup
			meeting.Add(2)
			b := newTestService(t, test.definition, func(ctx context.Context, name string, p map[string]any) (any,
				string) {
				failed := ""
				switch name {
				case "meet":
					meeting.Done()
					meeting.Wait()
				case "hang":
					<-ctx.Done()
				case "Once":
					once.Do(func() { failed = "Once" })
				case "Broken":
					failed = "Broken"
				}
				return p, failed
			})
			e := b.run(t, `{"a":1}`)
			difftest.Equal(t, "execution "+e.Status, test.want, string(e.Output)+e.Error)
			if kinds := strings.Join(b.eventTypes(t, e.ARN), " "); !strings.HasSuffix(kinds, test.last) {
				t.Errorf("got the events %s, want them to end with %s", kinds, test.last)
			}
		})
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	b := newTestService(t, `{"StartAt":"T","States":{
		"T":{`+task+`"Parameters":{"FunctionName":"toy"},"Next":"C"},
		"C":{"Type":"Choice","Choices":[{"Variable":"$","BooleanEquals":true,"Next":"E"}],"Default":"M"},
		"M":{"Type":"Map","ItemsPath":"$$.Execution.Input","ItemProcessor":
			{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}},"Next":"N"},
		"N":{"Type":"Parallel","Branches":[{"StartAt":"Q","States":{"Q":{"Type":"Pass","End":true}}}],"Next":"E"},
		"E":{"Type":"Succeed"}}}`, echo)
	e := b.run(t, `[1]`)
	want := strings.Fields(`ExecutionStarted TaskStateEntered TaskScheduled TaskStarted TaskSucceeded TaskStateExited
		ChoiceStateEntered ChoiceStateExited MapStateEntered MapStateStarted MapIterationStarted
		PassStateEntered PassStateExited MapIterationSucceeded MapStateSucceeded MapStateExited
		ParallelStateEntered ParallelStateStarted PassStateEntered PassStateExited
		ParallelStateSucceeded ParallelStateExited SucceedStateEntered SucceedStateExited ExecutionSucceeded`)
	difftest.Equal(t, "events", want, b.eventTypes(t, e.ARN))
}

// TestEndEvent tests the event about an execution that was stopped, as Step Functions sends it to EventBridge.
func TestEndEvent(t *testing.T) {
	stop := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	e := Execution{ARN: "a", MachineARN: "m", Name: "n", Status: Aborted, Start: stop.Add(-time.Second), Stop: stop,
		Input: []byte(`{"x":1}`), Error: "E"}
	want := `{"account":"1","detail":{"cause":null,"error":"E","executionArn":"a","input":"{\"x\":1}",` +
		`"inputDetails":{"included":true},"name":"n","output":null,"outputDetails":null,"startDate":1767323044000,` +
		`"stateMachineArn":"m","status":"ABORTED","stopDate":1767323045000},` +
		`"detail-type":"Step Functions Execution Status Change","id":"i","region":"r","resources":["a"],` +
		`"source":"aws.states","time":"2026-01-02T03:04:05Z","version":"0"}`
	difftest.Equal(t, "EndEvent", want, string(e.EndEvent("i", "r", "1")))
}
