package states

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
)

func TestUnsupportedDefinitionsAreErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, definition, named string }{
		{"no JSON", `{`, ""},
		{"no start", `{"StartAt":"X","States":{"S":{"Type":"Succeed"}}}`, "X"},
		{"dangling next", `{"StartAt":"S","States":{"S":{"Type":"Pass","Next":"X"}}}`, "S"},
		{"dangling catch", oneState(invocation + `"Catch":[{"ErrorEquals":["States.ALL"],"Next":"X"}]`),
			`leads to "X"`},
		{
			"dangling default",
			`{"StartAt":"S","States":{"S":{"Type":"Choice","Default":"X","Choices":[{"Variable":"$",` +
				`"BooleanEquals":true,"Next":"S"}]}}}`,
			"S",
		},
		{"neither next nor end", `{"StartAt":"S","States":{"S":{"Type":"Pass"}}}`, "S"},
		{"type", oneState(`"Type":"Activity"`), "Activity"},
		{"field", oneState(`"Type":"Pass","Assign":{}`), "Assign"},
		{"field of another type", oneState(`"Type":"Pass","Retry":[]`), "Retry"},
		{"top field", `{"StartAt":"S","Extra":1,"States":{"S":{"Type":"Succeed"}}}`, "Extra"},
		{"language", `{"StartAt":"S","QueryLanguage":"JSONata","States":{"S":{"Type":"Succeed"}}}`, "JSONata"},
		{"resource", oneState(`"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage"`), "sqs"},
		{
			"distributed",
			oneState(
				`"Type":"Map","ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED"},"StartAt":"I","States":{"I":{` +
					`"Type":"Succeed"}}}`,
			),
			"DISTRIBUTED",
		},
		{
			"item reader",
			oneState(`"Type":"Map","ItemReader":{},"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Succeed"}}}`),
			"ItemReader",
		},
		{"inner state", oneState(`"Type":"Map","ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Pass"}}}`), "I"},
		{"no processor", oneState(`"Type":"Map"`), "ItemProcessor"},
		{"no branches", oneState(`"Type":"Parallel","Branches":[]`), "S"},
		{"state of a branch", oneState(`"Type":"Parallel","Branches":[{"StartAt":"I","States":{"I":{"Type":"Pass"}}}]`),
			"I"},
		{"branch that leads out", oneState(`"Type":"Parallel","Branches":[{"StartAt":"I","States":{"I":{` +
			`"Type":"Pass","Next":"Caught"}}}]`), "I"},
		{"branch with a mode", oneState(`"Type":"Parallel","Branches":[{"ProcessorConfig":{},"StartAt":"I",` +
			`"States":{"I":{"Type":"Succeed"}}}]`), "ProcessorConfig"},
		{"null as a branch", oneState(`"Type":"Parallel","Branches":[null]`), "S"},
		{"parallel with items", oneState(`"Type":"Parallel","ItemsPath":"$.a","Branches":[{"StartAt":"I",` +
			`"States":{"I":{"Type":"Succeed"}}}]`), "ItemsPath"},
		{"intrinsic", oneState(task + `"Parameters":{"a.$":"States.Format('x')"}`), "States.Format"},
		{"filter", oneState(`"Type":"Pass","OutputPath":"$.a[?(@.b)]"`), "$.a[?(@.b)]"},
		{"wildcard", oneState(`"Type":"Pass","OutputPath":"$.*"`), "$.*"},
		{"descent", oneState(`"Type":"Pass","OutputPath":"$..a"`), "$..a"},
		{"no path", oneState(`"Type":"Pass","OutputPath":"a"`), `"a"`},
		{
			"choice test",
			`{"StartAt":"S","States":{"S":{"Type":"Choice","Choices":[{"Variable":"$","StringMatches":"*",` +
				`"Next":"S"}]}}}`,
			"StringMatches",
		},
		{"no test", `{"StartAt":"S","States":{"S":{"Type":"Choice","Choices":[{"Next":"S"}]}}}`, "S"},
		{
			"choice without next",
			`{"StartAt":"S","States":{"S":{"Type":"Choice","Choices":[{"Variable":"$","BooleanEquals":true}]}}}`,
			"S",
		},
		{"all with others", oneState(invocation + `"Retry":[{"ErrorEquals":["States.ALL","A"]}]`), "States.ALL alone"},
		{"all not last", oneState(invocation + `"Retry":[{"ErrorEquals":["States.ALL"]},{"ErrorEquals":["A"]}]`),
			"after the one for States.ALL"},
		{"empty errors", oneState(invocation + `"Retry":[{"ErrorEquals":[]}]`), "ErrorEquals"},
		{"wait", oneState(`"Type":"Wait"`), "S"},
		{"two timeouts", oneState(invocation + `"TimeoutSeconds":5,"TimeoutSecondsPath":"$.n"`), "both TimeoutSeconds"},
		{"heartbeat", oneState(invocation + `"HeartbeatSeconds":5`), "HeartbeatSeconds"},
		{"index", oneState(`"Type":"Pass","OutputPath":"$.a[0]"`), "$.a[0]"},
		{"no point", oneState(`"Type":"Pass","OutputPath":"$a"`), "$a"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse([]byte(test.definition))
			if err == nil || !strings.Contains(err.Error(), test.named) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line naming %s", err, test.named)
			}
		})
	}
}

func TestOwnDefinitions(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"batch", "delivery", "resolution", "screening"} {
		errtest.Is(t, name, errtest.Of(Parse(readOwnDefinition(t, name))), nil)
	}
}

// readOwnDefinition returns a definition of the service, for the partition aws.
func readOwnDefinition(t testing.TB, name string) []byte {
	t.Helper()
	text := errtest.Must(os.ReadFile("../../statemachine/" + name + ".asl.json"))(t)
	return bytes.ReplaceAll(text, []byte("${Partition}"), []byte("aws"))
}

func TestChoices(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rule, input string
		want        bool
	}{
		{`"Variable":"$.a","BooleanEquals":true`, `{"a":true}`, true},
		{`"Variable":"$.a","BooleanEquals":true`, `{"a":false}`, false},
		{`"Variable":"$.a.b","BooleanEquals":false`, `{"a":{"b":false}}`, true},
		{`"Variable":"$.a","BooleanEquals":true`, `{"a":"true"}`, false},
		{`"Variable":"$.a","BooleanEquals":false`, `{"a":null}`, false},
		{`"Variable":"$$.State.Ready","BooleanEquals":true`, `{}`, true},
	}
	for _, test := range tests {
		d, err := Parse([]byte(`{"StartAt":"S","States":{"S":{"Type":"Choice","Choices":[{` + test.rule +
			`,"Next":"Y"}],"Default":"N"},"Y":{"Type":"Succeed"},"N":{"Type":"Succeed"}}}`))
		if err != nil {
			t.Errorf("%s: %v", test.rule, err)
			continue
		}
		in := errtest.Must(decode([]byte(test.input)))(t)
		contextObject := map[string]any{"State": map[string]any{"Ready": true}}
		next, failure := d.States["S"].chooseNext(in, contextObject)
		if failure != nil || (next == "Y") != test.want {
			t.Errorf("rule %s for %s leads to %s, %v; want it to hold = %v", test.rule, test.input, next, failure,
				test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(readOwnDefinition(f, "batch"))
	f.Add([]byte(oneState(task + `"Parameters":{"a.$":"$.b.c"}`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse(text)
		if err == nil && d.States[d.StartAt] == nil {
			t.Error("Parse accepted a definition without its first state")
		}
	})
}

func FuzzPath(f *testing.F) {
	for _, seed := range []string{"$", "$.a.b", "$$.Map.Item.Value", "$.a[0].b", "$[", "$."} {
		f.Add(seed)
	}
	in := errtest.Must(decode([]byte(`{"a":{"b":1},"c":[]}`)))(f)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePath(text)
		if err != nil {
			return
		}
		p.lookup(in, in)
		if out, ok := p.replace(in, "new"); ok && !p.inContextObject {
			if v, ok := p.lookup(out, nil); !ok || v != "new" {
				t.Errorf("%s: lookup after replace returns %v, %v; want new", text, v, ok)
			}
		}
	})
}
