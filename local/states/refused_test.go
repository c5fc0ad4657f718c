package states

import (
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
)

// TestDefinitionsThatStepFunctionsRefuses has definitions that can be read but that CreateStateMachine refuses: with
// them, a deployment would fail.
func TestDefinitionsThatStepFunctionsRefuses(t *testing.T) {
	t.Parallel()
	const end = `"Y":{"Type":"Succeed"}`
	choice := func(rule string) string {
		return `{"StartAt":"S","States":{"S":{"Type":"Choice","Choices":[{` + rule + `,"Next":"Y"}]},` + end + `}}`
	}
	long := strings.Repeat("n", 81)
	tests := []struct{ name, definition, want string }{
		{"unreachable", `{"StartAt":"S","States":{"S":{"Type":"Pass","End":true},` + end + `}}`,
			"a state Y to which no other state leads"},
		{"a circle that nothing enters", `{"StartAt":"Y","States":{` + end + `,"S":{"Type":"Pass","Next":"S"}}}`,
			"a state S to which no other state leads"},
		{"endless", `{"StartAt":"S","States":{"S":{"Type":"Pass","Next":"S"}}}`, "no state that ends it"},
		{"the same name inside", oneState(`"Type":"Parallel","Branches":[{"StartAt":"I","States":{"I":` +
			`{"Type":"Succeed"}}},{"StartAt":"I","States":{"I":{"Type":"Succeed"}}}]`), "two states I"},
		{"the name of an outer state inside", oneState(`"Type":"Map","ItemProcessor":{"StartAt":"S","States":{"S":` +
			`{"Type":"Succeed"}}}`), "two states S"},
		{"long name", `{"StartAt":"` + long + `","States":{"` + long + `":{"Type":"Succeed"}}}`, "1 to 80 characters"},
		{"misspelt field of Retry", oneState(invocation + `"Retry":[{"ErrorEquals":["A"],"MaxAttempt":9}]`),
			"the field MaxAttempt,"},
		{"field of Retry in lower case", oneState(invocation + `"Retry":[{"errorEquals":["A"]}]`),
			"the field errorEquals,"},
		{"misspelt field of Catch", oneState(invocation + `"Catch":[{"ErrorEquals":["A"],"Next":"Caught",` +
			`"Resultpath":null}]`), "the field Resultpath,"},
		{"misspelt field of ProcessorConfig", oneState(`"Type":"Map","ItemProcessor":{"ProcessorConfig":{"mode":` +
			`"DISTRIBUTED"},"StartAt":"I","States":{"I":{"Type":"Succeed"}}}`), "the field mode,"},
		{"no interval", oneState(invocation + `"Retry":[{"ErrorEquals":["A"],"IntervalSeconds":0}]`),
			"the IntervalSeconds 0,"},
		{"backoff", oneState(invocation + `"Retry":[{"ErrorEquals":["A"],"BackoffRate":0.5}]`), "the BackoffRate 0.5,"},
		{"no delay", oneState(invocation + `"Retry":[{"ErrorEquals":["A"],"MaxDelaySeconds":0}]`),
			"the MaxDelaySeconds 0,"},
		{"delay of a year", oneState(invocation + `"Retry":[{"ErrorEquals":["A"],"MaxDelaySeconds":31622400}]`),
			"the MaxDelaySeconds 31622400,"},
		{"negative attempts", oneState(invocation + `"Retry":[{"ErrorEquals":["A"],"MaxAttempts":-1}]`),
			"the MaxAttempts -1,"},
		{"no time", oneState(invocation + `"TimeoutSeconds":0`), "the TimeoutSeconds 0,"},
		{"no time for an execution", `{"StartAt":"Y","TimeoutSeconds":-1,"States":{` + end + `}}`,
			"the TimeoutSeconds -1,"},
		{"misspelt parameter", oneState(task + `"Parameters":{"FunctionName":"f","payload.$":"$"}`),
			"the parameter payload,"},
		{"another way of invoking", oneState(task + `"Parameters":{"FunctionName":"f","InvocationType":"Event"}`),
			"the parameter InvocationType,"},
		{"no function", oneState(task + `"Parameters":{"Payload.$":"$"}`), "no FunctionName"},
		{"no parameters", oneState(`"Type":"Task","Resource":"arn:aws:states:::lambda:invoke"`), "no FunctionName"},
		{"number as a truth value", choice(`"Variable":"$.a","BooleanEquals":1`), "cannot unmarshal number"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			errtest.Fails(t, "error", errtest.Of(Parse([]byte(test.definition))), test.want)
		})
	}
}

// TestCommentsInRetryAndCatch has the comments that the editor of Step Functions writes.
func TestCommentsInRetryAndCatch(t *testing.T) {
	t.Parallel()
	definition := oneState(invocation + `"Retry":[{"Comment":"c","ErrorEquals":["A"],"MaxAttempts":0}],` +
		`"Catch":[{"Comment":"c","ErrorEquals":["States.ALL"],"Next":"Caught"}]`)
	errtest.Fatal(t, errtest.Of(Parse([]byte(definition))))
}
