package evaluate_test

import (
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"sluice/shared/kit/errtest"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// checkProblems checks that each problem has a message and names a part of the policy.
func checkProblems(t *testing.T, c policy.Contents, err error) {
	t.Helper()
	var problems evaluate.Problems
	if !errors.As(err, &problems) || len(problems) == 0 || len(problems) > 100 || !utf8.ValidString(err.Error()) {
		t.Fatalf("Compile returns %#v", err)
	}
	keys, jurisdictions := map[string]string{}, map[string]bool{}
	add := func(fields []policy.Field) {
		for _, f := range fields {
			keys[f.ID+"/"+f.DataKey] = f.DataKey
		}
	}
	add(c.Fields)
	for _, g := range c.DataGroups {
		add(g.Fields)
	}
	for _, j := range c.Jurisdictions {
		jurisdictions[j.ID] = true
	}
	for _, p := range problems {
		_, isField := keys[p.FieldID+"/"+p.DataKey]
		isWhole := p.FieldID == "" && p.DataKey == "" && p.JurisdictionID == ""
		if !isField && !jurisdictions[p.JurisdictionID] && !isWhole || p.Path == "" || p.Message == "" ||
			len(p.Message) > 500 ||
			!utf8.ValidString(p.String()) {
			t.Fatalf("a problem does not say where it is: %#v", p)
		}
	}
}

// checkEvaluation checks that an evaluation gives the same text each time, as JSON.
func checkEvaluation(t *testing.T, program *evaluate.Program, r evaluate.Request) {
	t.Helper()
	var texts [2]string
	for i := range texts {
		result := errtest.Must(program.Evaluate(t.Context(), r, nil))(t)
		normalized := errtest.Must(evaluate.Normalize(result, unlimited))(t)
		for _, v := range []any{result, normalized} {
			text := errtest.Must(json.Marshal(v))(t)
			texts[i] += string(text)
		}
	}
	if texts[0] != texts[1] {
		t.Fatalf("the same request is answered differently:\n%s\n%s", texts[0], texts[1])
	}
}

// A policy with any logic in it is compiled and evaluated, or refused with problems that say where they are.
func FuzzPolicy(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		p := newFuzzedPolicy(seed)
		r := p.request()
		c := p.contents()
		program, err := evaluate.Compile(c)
		if err != nil {
			checkProblems(t, c, err)
			return
		}
		checkEvaluation(t, program, r)
	})
}

// FuzzPolicyJSON does the same for any JSON in the form of a version.
func FuzzPolicyJSON(f *testing.F) {
	for seed := range uint64(20) {
		text := errtest.Must(json.Marshal(newFuzzedPolicy(seed).contents()))(f)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var c policy.Contents
		if err := json.Unmarshal(text, &c); err != nil {
			return
		}
		program, err := evaluate.Compile(c)
		if err != nil {
			checkProblems(t, c, err)
			return
		}
		checkEvaluation(t, program, evaluate.Request{})
	})
}

// Problems that are not reported because there are too many are problems all the same.
func TestManyProblems(t *testing.T) {
	t.Parallel()
	const operands = 500
	c := policy.Contents{Fields: []policy.Field{{ID: "1", DataKey: "a", FieldType: "Text"}}}
	for _, operation := range []policy.Operation{
		policy.CountEqual, policy.CountBetween, policy.GreaterThan, policy.Contains,
	} {
		var condition policy.Condition
		for range operands {
			condition.Operands = append(condition.Operands, policy.Operand{FieldName: "a", Operation: operation})
		}
		c.Fields[0].Conditions = append(c.Fields[0].Conditions, condition)
	}
	_, err := evaluate.Compile(c)
	checkProblems(t, c, err)
}
