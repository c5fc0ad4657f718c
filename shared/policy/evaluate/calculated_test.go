package evaluate_test

import (
	"strings"
	"testing"

	"sluice/shared/access"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

func TestCalculatedValues(t *testing.T) {
	t.Parallel()
	whole, cents := calculated("whole", "{a} / {b}"), calculated("cents", "{a} / {b}")
	setRule(&whole, "onlyInteger", &policy.Rule{IsActive: true})
	setRule(&cents, "onlyDecimal", &policy.Rule{IsActive: true})
	contents := policy.Contents{Fields: []policy.Field{
		calculated("second", "{first} * 2"), calculated("first", "{quotient} + 1"), calculated("quotient", "{a} / {b}"),
		whole, cents, calculated("fixed", "-(1.50 + 2)"),
	}}
	for name, tt := range map[string]struct {
		properties []string
		want       map[string]string
		wantError  string
	}{
		"exact": {[]string{"a", "3", "b", "2"}, map[string]string{
			"quotient": "1.5", "first": "2.5", "second": "5", "whole": "2", "cents": "1.5", "fixed": "-3.5"}, ""},
		"rounded": {[]string{"a", "-2", "b", "3.0"}, map[string]string{
			"quotient": "-0.6666666667", "first": "0.3333333333", "second": "0.6666666666", "whole": "-1",
			"cents": "-0.67", "fixed": "-3.5"}, ""},
		"stored results do not count": {[]string{"a", "1", "b", "1", "quotient", "7", "first", "7"}, map[string]string{
			"quotient": "1", "first": "2", "second": "4", "whole": "1", "cents": "1", "fixed": "-3.5"}, ""},
		"division by zero": {[]string{"a", "1", "b", "0.0", "quotient", "7"}, map[string]string{
			"quotient": "none", "first": "none", "second": "none", "whole": "none", "cents": "none", "fixed": "-3.5"},
			"Division by zero"},
		"missing": {[]string{"a", "1"}, map[string]string{
			"quotient": "none", "first": "none", "second": "none", "whole": "none", "cents": "none", "fixed": "-3.5"},
			""},
		"no number": {[]string{"a", "secret", "b", "2"}, map[string]string{
			"quotient": "none", "first": "none", "second": "none", "whole": "none", "cents": "none", "fixed": "-3.5"},
			`The value of "a" is not a number.`},
		"several values": {[]string{"a", `["1","2"]`, "b", "2"}, map[string]string{
			"quotient": "none", "first": "none", "second": "none", "whole": "none", "cents": "none", "fixed": "-3.5"},
			`The value of "a" is not a number.`},
		"out of range": {[]string{"a", strings.Repeat("9", 201), "b", "2"}, map[string]string{
			"quotient": "none", "first": "none", "second": "none", "whole": "none", "cents": "none", "fixed": "-3.5"},
			"A number is out of range."},
	} {
		t.Run(name, func(t *testing.T) {
			fields := byKey(mustEvaluate(t, contents, evaluate.Request{
				Properties: property.Split{SingleProperties: texts(tt.properties...)},
			}))
			got := map[string]string{}
			for key, f := range fields {
				got[key] = orNone(f.CalculatedFieldResult)
				if f.HasCalculatedValue != (f.CalculatedFieldResult != nil) {
					t.Errorf("%s has a calculated value: %v, and the result is %s", key, f.HasCalculatedValue, got[key])
				}
			}
			difftest.Equal(t, "results", tt.want, got)
			want := []evaluate.ValidationError{}
			if tt.wantError != "" {
				want = append(want, evaluate.ValidationError{Validator: "formula", Message: tt.wantError})
			}
			difftest.Equal(t, "errors", want, fields["quotient"].ValidationErrors)
			difftest.Len(t, "got errors of a field whose formula has no value", 0, fields["first"].ValidationErrors)
		})
	}
}

// A field that is filtered out or not shown calculates nothing: the stored value counts.
func TestCalculatedValuesOfFieldsThatAreNotShown(t *testing.T) {
	t.Parallel()
	hidden := calculated("inner", "1 + 1")
	hidden.Conditions = []policy.Condition{{ID: "c", Operands: []policy.Operand{isYes("show")}}}
	contents := policy.Contents{Fields: []policy.Field{hidden, calculated("outer", "{inner} * 10")}}
	for show, want := range map[string]string{"yes": "20", "no": "70"} {
		fields := byKey(mustEvaluate(t, contents, evaluate.Request{
			Properties: property.Split{SingleProperties: texts("inner", "7", "show", show)},
		}))
		difftest.Equal(t, "with show "+show, want, orNone(fields["outer"].CalculatedFieldResult))
	}
}

// The rules of a calculated field are held against its result.
func TestRulesOfCalculatedValues(t *testing.T) {
	t.Parallel()
	f := calculated("sum", "{a} + {b}")
	setRule(&f, "mandatory", &policy.Rule{IsActive: true})
	setRule(&f, "numberLimit", always(policy.RuleValue{MaxValue: "10"}))
	for name, tt := range map[string]struct {
		properties []string
		skip       bool
		want       []string
	}{
		"valid":                  {[]string{"a", "1", "b", "2", "sum", "100"}, false, nil},
		"too large":              {[]string{"a", "9", "b", "2", "sum", "1"}, false, []string{"numberLimit"}},
		"no result":              {[]string{"a", "9", "sum", "1"}, false, []string{"mandatory"}},
		"formula and rule":       {[]string{"a", "x", "b", "2"}, false, []string{"formula", "mandatory"}},
		"values are not counted": {[]string{"a", "1", "b", "2", "sum", "100"}, true, []string{"numberLimit"}},
	} {
		t.Run(name, func(t *testing.T) {
			fields := byKey(mustEvaluate(t, policy.Contents{Fields: []policy.Field{f}}, evaluate.Request{
				ReturnValidationErrors: true, SkipValuesEvaluation: tt.skip,
				Properties: property.Split{SingleProperties: texts(tt.properties...)},
			}))
			var got []string
			for _, e := range fields["sum"].ValidationErrors {
				got = append(got, e.Validator)
			}
			difftest.Equal(t, "errors", tt.want, got)
		})
	}
}

// A formula reads the item or the group that it is in, then the groups around it, and at last the entity.
func TestCalculatedValuesInGroups(t *testing.T) {
	t.Parallel()
	contents := policy.Contents{
		Fields: []policy.Field{
			{ID: "items", DataKey: "items", FieldType: policy.TypeCollection, FieldTypeID: "item"},
			{ID: "outer", DataKey: "outer", FieldType: policy.TypeCustom, FieldTypeID: "outer"},
			calculated("rate", "{base} * 2"),
		},
		DataGroups: []policy.DataGroup{
			{ID: "item", Fields: []policy.Field{calculated("total", "{net} + {tax}"),
				calculated("tax", "{amount} * {rate}"), single("amount"), calculated("net", "{amount}")}},
			{ID: "outer", Fields: []policy.Field{single("amount"), calculated("twice", "{amount} * 2"),
				{ID: "inner", DataKey: "inner", FieldType: policy.TypeCustom, FieldTypeID: "inner"}}},
			{ID: "inner", Fields: []policy.Field{calculated("all", "{amount} + {twice} + {rate} + {own}"),
				single("own")}},
		},
	}
	items := map[string]property.SplitItem{}
	for id, amount := range map[string]string{"1": "10", "2": "20", "3": ""} {
		items[id] = property.SplitItem{Properties: texts("amount", amount)}
	}
	result := mustEvaluate(t, contents, evaluate.Request{Properties: property.Split{
		SingleProperties:     texts("base", "0.5", "amount", "1000", "own", "7"),
		CollectionProperties: map[string]property.SplitCollection{"items": {Items: items}},
		CustomProperties: map[string]property.Split{"outer": {
			SingleProperties: texts("amount", "3"),
			CustomProperties: map[string]property.Split{"inner": {SingleProperties: texts("own", "100", "amount",
				"5000")}},
		}},
	}})
	got := map[string]string{}
	for id, item := range result.EvaluatedCollectionDataGroups[0].EvaluatedItems {
		for _, f := range item.EvaluatedFields {
			got[id+" "+f.DataKey] = orNone(f.CalculatedFieldResult)
		}
	}
	for _, f := range result.EvaluatedCustomDataGroups[0].CustomNestedFields[0].SingleFields {
		got[f.DataKey] = orNone(f.CalculatedFieldResult)
	}
	difftest.Equal(t, "results", map[string]string{
		"1 total": "20", "1 tax": "10", "1 amount": "none", "1 net": "10",
		"2 total": "40", "2 tax": "20", "2 amount": "none", "2 net": "20",
		"3 total": "none", "3 tax": "none", "3 amount": "none", "3 net": "none",
		"all": "110", "own": "none",
	}, got)
}

func TestFormulasThatCannotBe(t *testing.T) {
	t.Parallel()
	group := func(fields ...policy.Field) policy.Contents {
		return policy.Contents{
			Fields: []policy.Field{{ID: "items", DataKey: "items", FieldType: policy.TypeCollection,
				FieldTypeID: "g"}},
			DataGroups: []policy.DataGroup{{ID: "g", Fields: fields}},
		}
	}
	ofPolicy := func(fields ...policy.Field) policy.Contents { return policy.Contents{Fields: fields} }
	collection := calculated("items", "1")
	collection.FieldType, collection.FieldTypeID = policy.TypeCollection, "g"
	for name, tt := range map[string]struct {
		contents              policy.Contents
		field, group, message string
	}{
		"syntax": {ofPolicy(calculated("a", "{b} +")), "a", "", "The formula cannot be used: "},
		"itself": {ofPolicy(calculated("a", "{a} + 1")), "a", "", `needs the field "a"`},
		"two":    {ofPolicy(calculated("a", "{b}"), calculated("b", "{a}")), "b", "", `needs the field "a"`},
		"three": {ofPolicy(calculated("a", "{b}"), calculated("b", "{c}"), calculated("c", "{a}")), "c", "",
			`needs the field "a"`},
		"in a data group": {group(calculated("a", "{b}"), calculated("b", "{a}")), "b", "g", `needs the field "a"`},
		"of a collection": {policy.Contents{Fields: []policy.Field{collection},
			DataGroups: []policy.DataGroup{{ID: "g"}}}, "items", "", "has no formula"},
		"of the same name": {ofPolicy(single("a"), calculated("a", "{a} + 1")), "a", "", `needs the field "a"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := evaluate.Compile(tt.contents)
			checkProblem(t, err, evaluate.Problem{
				FieldID: tt.field, DataKey: tt.field, DataGroupID: tt.group, Path: "formulaSchema.formulaString",
				Message: tt.message,
			})
		})
	}
	// The fields of the item and of the entity share a key, but are different fields.
	contents := group(calculated("a", "{b}"), single("c"))
	contents.Fields = append(contents.Fields, calculated("b", "{a}"), calculated("c", "{b}"))
	errtest.Is(t, "got", errtest.Of(evaluate.Compile(contents)), nil)
}

// A field whose value is hidden gets no values, and no formula can read it.
func TestHiddenValuesAreNotCalculatedWith(t *testing.T) {
	t.Parallel()
	secret := sensitive(calculated("secret", "{a} + 1"))
	secret.DefaultValue = ptr("5")
	secret.ConditionalValues = []policy.ConditionalValue{{Value: "6"}}
	setRule(&secret, "numberLimit", always(policy.RuleValue{MaxValue: "0"}))
	contents := policy.Contents{Fields: []policy.Field{secret, calculated("b", "{secret} * 0"), calculated("c", "{b}")}}
	request := evaluate.Request{
		ReturnValidationErrors: true, Properties: property.Split{SingleProperties: texts("a", "1", "secret",
			"no number")},
	}
	fields := byKey(mustEvaluate(t, contents, request))
	if got := fields["secret"]; !got.IsMasked || got.HasCalculatedValue || got.HasEvaluatedConditionalValue ||
		got.HasEvaluatedDefaultValue || got.DefaultValue != nil || len(got.ValidationErrors) > 0 {
		t.Errorf("got %+v, want a masked field without values and errors", got)
	}
	for _, key := range []string{"b", "c"} {
		if got := fields[key]; got.CalculatedFieldResult != nil || len(got.ValidationErrors) > 0 {
			t.Errorf("%s: got result %s and errors %v, want none", key, orNone(got.CalculatedFieldResult),
				got.ValidationErrors)
		}
	}
	request.Layers = access.Layers{Geographic: []string{"Ireland"}}
	fields = byKey(mustEvaluate(t, contents, request))
	if got := fields["secret"]; got.IsMasked || orNone(got.CalculatedFieldResult) != "2" ||
		!got.HasEvaluatedConditionalValue ||
		!got.HasEvaluatedDefaultValue || len(got.ValidationErrors) != 1 {
		t.Errorf("got %+v, want a field with values and an error for who may see it", got)
	}
	difftest.Equal(t, "c", "0", orNone(fields["c"].CalculatedFieldResult))
}
