package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/property"
	"sluice/shared/policy"
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
			t.Errorf("item %d has the result of item %s", i, *got.CalculatedFieldResult)
		}
	}
	difftest.Equal(t, "variants are remembered", maxVariants, len(v.fields))
}

// TestWorkIsLinear counts the items that conditions look at: for all items of a collection, those that do not depend on
// the item are looked at once.
func TestWorkIsLinear(t *testing.T) {
	t.Parallel()
	const items, fields, operands = 1000, 30, 5
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
	p := errtest.Must(Compile(c))(t)
	r := benchRequest(fields, items)
	e := newEvaluation(t.Context(), p, &r)
	errtest.Fatal(t, errtest.Of(e.run(nil)))
	// Each item has all fields and their operands once, and each any of the 30 fields goes through the items once.
	if most := fields * items * (1 + operands + 1 + operands); e.work > most {
		t.Errorf("the work is %d, want at most %d", e.work, most)
	}
}

// TestWorkOfLargeValues counts the work of conditions that compare long texts, many values, or both.
func TestWorkOfLargeValues(t *testing.T) {
	t.Parallel()
	const length, values = 6400, 500
	list := errtest.Must(json.Marshal(manyValues(1000)))(t)
	r := Request{Properties: property.Split{SingleProperties: map[string]property.Text{
		"short": one("x"), "long": one(strings.Repeat("x", length)), "many": one(string(list)),
	}}}
	compare := func(name string, operation policy.Operation, values []string, field string) policy.Operand {
		return policy.Operand{FieldName: name, Operation: operation, Value: values, ValueField: field}
	}
	for name, tt := range map[string]struct {
		o           policy.Operand
		least, most int
	}{
		"a short text":             {compare("short", policy.Equal, manyValues(values), ""), 0, 0},
		"a long text":              {compare("long", policy.Equal, manyValues(values), ""), 100, 110},
		"many values":              {compare("many", policy.Equal, manyValues(values), ""), 1000, 1010},
		"parts of a short text":    {compare("short", policy.Contains, manyValues(values), ""), 500, 510},
		"parts of a long text":     {compare("long", policy.Contains, manyValues(values), ""), 50_000, 51_000},
		"a field":                  {compare("many", policy.Equal, nil, "many"), 2000, 2010},
		"a long text with a field": {compare("long", policy.Contains, nil, "many"), 100_000, 110_000},
	} {
		p := errtest.Must(Compile(policy.Contents{Fields: []policy.Field{
			{ID: "f", DataKey: "f", Conditions: []policy.Condition{{Operands: []policy.Operand{tt.o}}}},
		}}))(t)
		e := newEvaluation(t.Context(), p, &r)
		p.fields[0].shown.conditions[0].predicate(e)
		if e.work < tt.least || e.work > tt.most {
			t.Errorf("%s: the work is %d, want %d to %d", name, e.work, tt.least, tt.most)
		}
	}
}

// TestEvaluationEnds evaluates in a context that has ended, and with too much work, while a condition is asked.
func TestEvaluationEnds(t *testing.T) {
	t.Parallel()
	any := policy.Operand{FieldName: "owners", Operation: policy.Any, Operands: []policy.Operand{
		{FieldName: "p0", Operation: policy.Equal, Value: []string{"none has this"}},
	}}
	p := errtest.Must(Compile(policy.Contents{Fields: []policy.Field{
		{DataKey: "f", Conditions: []policy.Condition{{Operands: []policy.Operand{any}}}},
	}}))(t)
	r := benchRequest(1, 3*workPerCheck)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx      context.Context
		most     int
		want     error
		wantWork int
	}{
		"enough":          {t.Context(), 3 * workPerCheck, nil, 3 * workPerCheck},
		"too little":      {t.Context(), workPerCheck, ErrTooMuchWork, 2 * workPerCheck},
		"a context ended": {ended, maxWork, context.Canceled, workPerCheck},
	} {
		e := newEvaluation(tt.ctx, p, &r)
		e.limit = tt.most
		if p.fields[0].shown.conditions[0].predicate(e) {
			t.Errorf("%s: the condition is met", name)
		}
		if e.work != tt.wantWork || !errors.Is(e.err, tt.want) {
			t.Errorf("%s: the work is %d and the error %v, want %d and %v", name, e.work, e.err, tt.wantWork, tt.want)
		}
		e = newEvaluation(tt.ctx, p, &r)
		e.limit = tt.most + 100 // the field and its operands count as well
		errtest.Is(t, name+": the evaluation", errtest.Of(e.run(nil)), tt.want)
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
		p := errtest.Must(Compile(policy.Contents{Fields: []policy.Field{
			{ID: "f", DataKey: "f", Conditions: []policy.Condition{{Operands: []policy.Operand{o}}}},
		}}))(t)
		e := newEvaluation(t.Context(), p, &r)
		isMet := p.fields[0].shown.conditions[0].predicate
		if n := testing.AllocsPerRun(10, func() { isMet(e) }); n != 0 {
			t.Errorf("%s of %s allocates %v times", o.Operation, o.FieldName, n)
		}
	}
}

// TestNumbersWithExponents moves the points of numbers in data sources.
func TestNumbersWithExponents(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0", "-12.50": "-12.50", "1e0": "1", "1E2": "100", "1.5e+1": "15", "1.25e1": "12.5", "-1.25e3": "-1250",
		"0.00125e2": "0.125", "0.001e1": "0.01", "1e-1": "0.1", "-12.5e-1": "-1.25", "12.5e-3": "0.0125",
		"100e-2": "1.00",
		"0e5":    "0", "1e40": "1" + strings.Repeat("0", 40), "1e-40": "0." + strings.Repeat("0", 39) + "1",
		"1e41": "1e41", "1e-41": "1e-41", "1e99999999999999999999": "1e99999999999999999999",
	} {
		difftest.Equal(t, text, want, parseValue(jsontext.Value(text)).text)
		x, _ := new(big.Rat).SetString(want)
		if y, ok := new(big.Rat).SetString(text); ok && len(text) < 10 && x.Cmp(y) != 0 {
			t.Errorf("%s is not the number %s", want, text)
		}
	}
}

// The operands of a data group are compiled once, and count for each field that refers to the group: a small version
// with many references must not become a large program.
func TestOperandsOfGroupsAreSharedByFields(t *testing.T) {
	t.Parallel()
	o := policy.Operand{FieldName: "x", Operation: policy.Contains, Value: []string{"a", "b"}, ValueID: []string{"c"}}
	c := policy.Contents{DataGroups: []policy.DataGroup{{ID: "g", Fields: []policy.Field{
		{ID: "inner", DataKey: "inner", FieldType: "Text", Conditions: []policy.Condition{
			{ID: "c", Operands: []policy.Operand{o}}}}}}}}
	for _, key := range []string{"one", "two", "three"} {
		c.Fields = append(c.Fields, policy.Field{ID: key, DataKey: key, FieldType: policy.TypeCustom, FieldTypeID: "g"})
	}
	co := newCompiler(c)
	co.compileFields(c.Fields, nil, requestScope)
	if len(co.problems) > 0 || len(co.tests) != 1 || co.values.used != 9 {
		t.Errorf("got %d tests and %d values, want 1 and 9; problems %v", len(co.tests), co.values.used, co.problems)
	}
}
