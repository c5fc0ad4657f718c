package evaluate

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"sluice/shared/policy"
	"sluice/shared/property"
)

// TestResultsInWhichAnythingDiffersAreNotShared changes each member of an evaluated field that can differ between two
// items of a collection.
func TestResultsInWhichAnythingDiffersAreNotShared(t *testing.T) {
	t.Parallel()
	// These are the same for all items, because they come from the policy.
	fixed := map[string]bool{
		"DataKey": true, "Name": true, "Description": true, "FieldType": true, "FieldTypeID": true, "Order": true,
		"LinkChildFieldDataKey": true, "LinkedParentFieldDataKey": true, "ExternalSearchAPIProviderID": true,
		"IsSensitiveData": true, "FieldAccessLayers": true, "UIDecoration": true, "UIDecorationColor": true,
	}
	changes := map[reflect.Type]any{
		reflect.TypeFor[bool](): true, reflect.TypeFor[*string](): new("x"), reflect.TypeFor[[]string](): []string{"x"},
		reflect.TypeFor[map[string]ResolvedRule](): map[string]ResolvedRule{"mandatory": {}},
		reflect.TypeFor[[]ValidationError]():       []ValidationError{{"mandatory", "x"}},
	}
	for _, member := range reflect.VisibleFields(reflect.TypeFor[GroupField]()) {
		if fixed[member.Name] {
			continue
		}
		var a, b GroupField
		if !sameResult(&a, &b) {
			t.Fatal("equal results are not the same")
		}
		change, ok := changes[member.Type]
		if !ok {
			t.Fatalf("the test does not know how to change %s", member.Name)
		}
		reflect.ValueOf(&b).Elem().FieldByIndex(member.Index).Set(reflect.ValueOf(change))
		if sameResult(&a, &b) {
			t.Errorf("results that differ in %s are the same", member.Name)
		}
	}
}

// TestVariantsAreRemembered finds results again, up to as many as are remembered.
func TestVariantsAreRemembered(t *testing.T) {
	t.Parallel()
	var v variants
	field := func(i int) *GroupField { return &GroupField{CalculatedFieldResult: new(fmt.Sprint(i))} }
	for i := range maxVariants {
		if first := v.find(field(i)); v.find(field(i)) != first {
			t.Errorf("variant %d is not shared", i)
		}
	}
	for i := range 3 * maxVariants {
		if got := v.find(field(i)); *got.CalculatedFieldResult != fmt.Sprint(i) {
			t.Errorf("the result of item %d is that of item %s", i, *got.CalculatedFieldResult)
		}
	}
	if len(v.fields) != maxVariants {
		t.Errorf("%d variants are remembered, want %d", len(v.fields), maxVariants)
	}
}

// TestWorkIsLinear counts the items that conditions look at: for all items of a collection, those that do not depend on
// the item are looked at once.
func TestWorkIsLinear(t *testing.T) {
	t.Parallel()
	const items, fields = 1000, 30
	inner := []policy.Operand{{FieldName: "p0", Operation: policy.Equal, Value: []string{"none has this"}}}
	any := policy.Operand{FieldName: "owners", Operation: policy.Any, Operands: inner}
	nested := policy.Operand{FieldName: "owners", Operation: policy.Any, LogicalOperation: policy.Or,
		Operands: []policy.Operand{
			{FieldName: "owners", DataSource: "copy", Operation: policy.Any, Operands: inner}, inner[0],
		}}
	c := itemContents()
	for i := range c.DataGroups[0].Fields {
		c.DataGroups[0].Fields[i].Conditions = []policy.Condition{
			{Operands: []policy.Operand{any}}, {Operands: []policy.Operand{nested}},
		}
	}
	p, err := Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	r := benchRequest(fields, items)
	e := newEvaluation(t.Context(), p, &r)
	if _, err := e.run(nil); err != nil {
		t.Fatal(err)
	}
	if most := fields * items * 2; e.work > most {
		t.Errorf("conditions looked at %d items, want at most %d", e.work, most)
	}
}

// TestEvaluationEndsWithItsContext evaluates in a context that has ended, and in one that ends while a condition is
// asked.
func TestEvaluationEndsWithItsContext(t *testing.T) {
	t.Parallel()
	any := policy.Operand{FieldName: "owners", Operation: policy.Any, Operands: []policy.Operand{
		{FieldName: "p0", Operation: policy.Equal, Value: []string{"none has this"}},
	}}
	p, err := Compile(policy.Contents{Fields: []policy.Field{
		{DataKey: "f", Conditions: []policy.Condition{{Operands: []policy.Operand{any}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := benchRequest(1, 2*workPerCheck)
	ctx, cancel := context.WithCancel(t.Context())
	e := newEvaluation(ctx, p, &r)
	cancel()
	if e.program.fields[0].shown.conditions[0].predicate(e) || !errors.Is(e.interrupted(), context.Canceled) {
		t.Errorf("the condition went on: %v", e.err)
	}
	if e.work != workPerCheck {
		t.Errorf("the condition looked at %d items, want %d", e.work, workPerCheck)
	}
	if _, err := p.Evaluate(ctx, r, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the evaluation returns %v", err)
	}
}

// TestConditionsDoNotAllocate asks conditions of every kind again, once their values have been looked up.
func TestConditionsDoNotAllocate(t *testing.T) {
	many := `["a","b"]`
	r := Request{Properties: property.Split{SingleProperties: map[string]property.Text{
		"text": one("Netherlands"), "number": one("12345.67"), "day": one("2026-11-22"), "many": {Value: &many},
	}}}
	for _, o := range []policy.Operand{
		{FieldName: "text", Operation: policy.Equal, Value: []string{"Ireland", "NETHERLANDS"}},
		{FieldName: "text", Operation: policy.NotEqual, Value: manyValues(100)},
		{FieldName: "number", Operation: policy.Equal, Value: []string{"1", "12345.670"}},
		{FieldName: "text", Operation: policy.Contains, Value: []string{"LAND"}},
		{FieldName: "many", Operation: policy.Contains, Value: []string{"B"}},
		{FieldName: "number", Operation: policy.GreaterThan, Value: []string{"10000"}},
		{FieldName: "day", Operation: policy.LessThan, Value: []string{"2027-01-01T00:00:00Z"}},
		{FieldName: "text", Operation: policy.Equal, ValueField: "day"},
		{FieldName: "number", Operation: policy.GreaterThan, ValueField: "number"},
		{FieldName: "many", Operation: policy.CountBetween, Value: []string{"1", "2"}},
		{FieldName: "absent", Operation: policy.IsEmpty},
	} {
		p, err := Compile(policy.Contents{Fields: []policy.Field{
			{ID: "f", DataKey: "f", Conditions: []policy.Condition{{Operands: []policy.Operand{o}}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		e := newEvaluation(t.Context(), p, &r)
		isMet := p.fields[0].shown.conditions[0].predicate
		if n := testing.AllocsPerRun(10, func() { isMet(e) }); n != 0 {
			t.Errorf("%s of %s allocates %v times", o.Operation, o.FieldName, n)
		}
	}
}
