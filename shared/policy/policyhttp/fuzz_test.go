package policyhttp_test

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
	"sluice/shared/policy/policyhttp"
)

// An accepted field survives its JSON form, and compiling it does not panic.
func FuzzFieldRequest(f *testing.F) {
	for _, seed := range []string{
		fieldData("a", ""),
		fieldData("a", `,"order":1e3,"conditions":[{"id":"c","logicalOperation":"OR","operands":[{"operands":[{}]}]}]`),
		fieldData("a", `,"validationRules":{"regex":{"isActive":true,"staticRule":{"regexValue":"^a{1,3}$"}}}`),
		fieldData("a", `,"formulaSchema":{"formulaString":"({a} - 1) / {b}"}`),
		collectionData("a", "d1e2f3a4-b5c6-4d7e-8f90-a1b2c3d4e5f6"), `null`, `{"categories":[""]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var in policyhttp.FieldRequest
		if json.Unmarshal(text, &in, json.RejectUnknownMembers(true)) != nil {
			return
		}
		var errs platform.ValidationErrors
		if in.Check(&errs); errs.Err() != nil {
			return
		}
		stored := errtest.Must(json.Marshal(in.Field))(t)
		var again policy.Field
		if err := json.Unmarshal(stored, &again); err != nil {
			t.Fatalf("%s: %v", stored, err)
		}
		difftest.Equal(t, fmt.Sprint(stored), string(stored), string(errtest.Must(json.Marshal(again))(t)))
		evaluate.Compile(policy.Contents{Fields: []policy.Field{again}})
	})
}
