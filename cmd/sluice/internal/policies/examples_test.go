package policies

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"sluice/cmd/sluice/internal/policyfile"
	"sluice/shared/kit/errtest"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// The example policies can be evaluated, and have an example of every rule, of most operations and of all that a field
// can have of logic.
func TestExamplePolicies(t *testing.T) {
	rules, operations := map[string]bool{}, map[policy.Operation]bool{}
	var has struct{ isDefault, isConditional, isCalculated, isSensitive, isDynamic, isCleared bool }
	for _, name := range []string{"company", "individual"} {
		file, _, err := compilePolicyFile(t.Context(), "../../../../sampledata/policies/"+name+".yaml")
		errtest.Fatal(t, err)
		fields := slices.Clone(file.Contents.Fields)
		for _, g := range file.Contents.DataGroups {
			fields = append(fields, g.Fields...)
		}
		var note func(all []policy.Operand)
		note = func(all []policy.Operand) {
			for _, o := range all {
				operations[o.Operation] = true
				note(o.Operands)
			}
		}
		for _, f := range fields {
			has.isDefault = has.isDefault || f.DefaultValue != nil
			has.isConditional = has.isConditional || f.ConditionalValues != nil
			has.isCalculated = has.isCalculated || f.FormulaSchema != nil
			has.isSensitive = has.isSensitive || f.IsSensitiveData && f.AccessLayers != nil
			has.isCleared = has.isCleared || f.ClearValueIfTriggerConditionNotMet
			policyfile.EachCondition(&f, func(c *policy.Condition) { note(c.Operands) })
			all := reflect.ValueOf(f.ValidationRules)
			for i := range all.NumField() {
				if r := all.Field(i).Interface().(*policy.Rule); r != nil {
					rules[all.Type().Field(i).Name] = true
					has.isDynamic = has.isDynamic || r.DynamicRules != nil
				}
			}
		}
	}
	if !has.isDefault || !has.isConditional || !has.isCalculated || !has.isSensitive || !has.isDynamic ||
		!has.isCleared {
		t.Errorf("the examples lack some logic: %+v", has)
	}
	// The others are for providers outside and for limits that other fields set.
	left := []string{"ReadOnly", "ExternalDataGroupProvider", "ConditionalLimit"}
	all := reflect.TypeFor[policy.ValidationRules]()
	for i := range all.NumField() {
		if name := all.Field(i).Name; !rules[name] && !slices.Contains(left, name) {
			t.Errorf("no example of the rule %s", name)
		}
	}
	if len(operations) < 9 {
		t.Errorf("the examples have the operations %v, want 9 or more", operations)
	}
}

// The example of a company is evaluated as its comments and docs/policy.md say.
func TestExampleCompany(t *testing.T) {
	for layers, want := range map[string]struct {
		errors int
		masked string
	}{
		"":                  {4, "ownerDateOfBirth pepAssessment"},
		"Global:Compliance": {5, ""},
	} {
		e := evaluation{entity: "../../../../sampledata/policies/acme.yaml"}
		_, program, err := compilePolicyFile(t.Context(), "../../../../sampledata/policies/company.yaml")
		errtest.Fatal(t, err)
		in := errtest.Must(e.readInput(t.Context()))(t)
		r := in.request()
		r.Now = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
		r.Layers = errtest.Must(parseLayers(layers))(t)
		result := errtest.Must(program.Evaluate(t.Context(), r, nil))(t)
		masked := map[string]bool{}
		values := map[string]string{}
		eachGroupField(result, func(f *evaluate.GroupField) {
			if f.IsMasked {
				masked[f.DataKey] = true
			}
			if f.CalculatedFieldResult != nil {
				values[f.DataKey] = *f.CalculatedFieldResult
			} else if f.EvaluatedConditionalValue != nil {
				values[f.DataKey] = *f.EvaluatedConditionalValue
			}
		})
		var keys []string
		for key := range masked {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		if n := countErrors(result); n != want.errors || strings.Join(keys, " ") != want.masked {
			t.Errorf("layers %q: %d wrong values, masked %v, want %+v", layers, n, keys, want)
		}
		if values["cashRatio"] != "75" || values["riskClass"] != "High" || values["complexStructure"] != "Yes" {
			t.Errorf("layers %q: values %v", layers, values)
		}
	}
}

// One program is used at the same time, by callers with other layers. The race detector sees all that the examples have
// of logic here; the tests of package evaluate start no goroutines, so that they run without it, seven times as fast.
func TestExampleIsEvaluatedAtTheSameTime(t *testing.T) {
	t.Parallel()
	_, program, err := compilePolicyFile(t.Context(), "../../../../sampledata/policies/company.yaml")
	errtest.Fatal(t, err)
	e := evaluation{entity: "../../../../sampledata/policies/acme.yaml"}
	in := errtest.Must(e.readInput(t.Context()))(t)
	evaluated := func(layers string) (string, error) {
		r := in.request()
		r.Explain = true
		r.Now = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
		var err error
		if r.Layers, err = parseLayers(layers); err != nil {
			return "", err
		}
		result, err := program.Evaluate(t.Context(), r, nil)
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(result, json.Deterministic(true))
		return string(text), err
	}
	var all sync.WaitGroup
	for _, layers := range []string{"", "Global:Compliance"} {
		want := errtest.Must(evaluated(layers))(t)
		for range 4 {
			all.Go(func() {
				for range 3 {
					if got, err := evaluated(layers); err != nil || got != want {
						t.Errorf("layers %q: got the error %v and the result\n%s\nwant\n%s", layers, err, got, want)
					}
				}
			})
		}
	}
	all.Wait()
}
