package evaluate_test

import (
	"strings"
	"testing"

	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// calculated returns a field with a formula.
func calculated(key, formula string) policy.Field {
	return policy.Field{ID: key, DataKey: key, FieldType: "Number",
		FormulaSchema: &policy.FormulaSchema{FormulaString: formula}}
}

// single returns a field that is a single value.
func single(key string) policy.Field { return policy.Field{ID: key, DataKey: key, FieldType: "Text"} }

// sensitive returns a field that only callers with the layer Ireland may see.
func sensitive(f policy.Field) policy.Field {
	f.IsSensitiveData, f.AccessLayers = true, &policy.AccessLayers{Geographic: []string{"Ireland"}}
	return f
}

// isYes returns an operand that is met if a field has the value yes.
func isYes(key string) policy.Operand {
	return policy.Operand{FieldName: key, Operation: policy.Equal, Value: []string{"yes"}}
}

// givenIf returns a conditional value that a field has if another has the value yes.
func givenIf(key, value string, priority int64) policy.ConditionalValue {
	return policy.ConditionalValue{
		Condition: policy.Condition{ID: "if " + key, Operands: []policy.Operand{isYes(key)}},
		Value:     value, ValueID: "id of " + value, Priority: priority,
	}
}

// byKey returns the evaluated fields by their data keys.
func byKey(r evaluate.Result) map[string]evaluate.GroupField {
	out := map[string]evaluate.GroupField{}
	for _, f := range r.EvaluatedFields {
		out[f.DataKey] = f.GroupField
	}
	return out
}

// orNone returns a text or "none".
func orNone(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}

func TestConditionalValues(t *testing.T) {
	t.Parallel()
	f := single("k")
	f.DefaultValue = ptr("default")
	f.ConditionalValues = []policy.ConditionalValue{givenIf("c", "C", 2), givenIf("a", "A", 1), givenIf("b", "B", 1)}
	for name, tt := range map[string]struct {
		met  []string
		skip bool
		want string
	}{
		"none is met":      {nil, false, "none"},
		"lowest priority":  {[]string{"c", "b"}, false, "B"},
		"first of equals":  {[]string{"c", "b", "a"}, false, "A"},
		"highest priority": {[]string{"c"}, false, "C"},
		"no values":        {[]string{"a"}, true, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			properties := texts("k", "mine")
			for _, key := range tt.met {
				properties[key] = property.Text{Value: ptr("yes")}
			}
			got := byKey(mustEvaluate(t, policy.Contents{Fields: []policy.Field{f}}, evaluate.Request{
				SkipValuesEvaluation: tt.skip, Explain: true, Properties: property.Split{SingleProperties: properties},
			}))["k"]
			if value := orNone(got.EvaluatedConditionalValue); value != tt.want ||
				got.HasEvaluatedConditionalValue != (tt.want != "none") {
				t.Errorf("got conditional value %s (%v), want %s", value, got.HasEvaluatedConditionalValue, tt.want)
			}
			if got.EvaluatedConditionalValueID != nil && *got.EvaluatedConditionalValueID != "id of "+tt.want {
				t.Errorf("got ID %s, want the ID of %s", *got.EvaluatedConditionalValueID, tt.want)
			}
			if tt.want != "none" && (len(got.DecidedBy) != 1 || got.DecidedBy[0] != "if "+strings.ToLower(tt.want)) {
				t.Errorf("got decided by %v, want the condition of %s", got.DecidedBy, tt.want)
			}
			if got.HasEvaluatedDefaultValue == tt.skip || tt.skip != (orNone(got.DefaultValue) == "none") {
				t.Errorf("got default value %s (%v)", orNone(got.DefaultValue), got.HasEvaluatedDefaultValue)
			}
		})
	}
}

// Conditions of conditional values see only values of fields that take part, unless that is disabled. Those that decide
// whether a field is shown see all.
func TestConditionalValuesOfFieldsThatTakePart(t *testing.T) {
	t.Parallel()
	other, f := single("other"), single("k")
	other.Categories = []string{"Other"}
	f.Categories = []string{"Mine"}
	f.ConditionalValues = []policy.ConditionalValue{givenIf("other", "A", 1), givenIf("unknown", "B", 2)}
	anyItem := policy.Operand{FieldName: "items", Operation: policy.Any, Operands: []policy.Operand{isYes("inner")}}
	f.ConditionalValues = append(f.ConditionalValues, policy.ConditionalValue{
		Condition: policy.Condition{ID: "any", Operands: []policy.Operand{anyItem}}, Value: "C", Priority: 3,
	})
	f.Conditions = []policy.Condition{{ID: "shown", Operands: []policy.Operand{{
		LogicalOperation: policy.Or, Operands: []policy.Operand{isYes("other"), isYes("unknown"), anyItem},
	}}}}
	items := policy.Field{ID: "items", DataKey: "items", FieldType: policy.TypeCollection, FieldTypeID: "g"}
	inner := single("inner")
	inner.Categories = []string{"Other"}
	contents := policy.Contents{
		Fields: []policy.Field{other, f, items}, DataGroups: []policy.DataGroup{{ID: "g",
			Fields: []policy.Field{inner}}},
	}
	for name, tt := range map[string]struct {
		key          string
		categories   []string
		isDisabled   bool
		wantFiltered string
	}{
		"of another category":           {"other", []string{"Mine"}, false, "none"},
		"of a category that is wanted":  {"other", []string{"Mine", "Other"}, false, "A"},
		"of any category":               {"other", nil, false, "A"},
		"filtering is disabled":         {"other", []string{"Mine"}, true, "A"},
		"of no field":                   {"unknown", []string{"Mine"}, false, "B"},
		"in an item":                    {"inner", []string{"Mine", "Other"}, false, "C"},
		"in an item, another category":  {"inner", []string{"Mine"}, false, "none"},
		"in an item, without filtering": {"inner", []string{"Mine"}, true, "C"},
	} {
		t.Run(name, func(t *testing.T) {
			oneItem := property.SplitCollection{
				Items: map[string]property.SplitItem{"1": {Properties: texts(tt.key, "yes")}},
			}
			got, isShown := byKey(mustEvaluate(t, contents, evaluate.Request{
				Categories: tt.categories, DisableFilteringForConditionalValues: tt.isDisabled,
				Properties: property.Split{
					SingleProperties:     texts(tt.key, "yes"),
					CollectionProperties: map[string]property.SplitCollection{"items": oneItem},
				},
			}))["k"]
			if value := orNone(got.EvaluatedConditionalValue); !isShown || value != tt.wantFiltered {
				t.Errorf("got %s, shown %v; want %s", value, isShown, tt.wantFiltered)
			}
		})
	}
}
