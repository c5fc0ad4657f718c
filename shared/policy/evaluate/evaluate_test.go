package evaluate_test

import (
	"testing"

	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// kindIs returns the condition that the property kind has a value.
func kindIs(value string) []policy.Condition {
	return []policy.Condition{{ID: value, Operands: []policy.Operand{
		{FieldName: "kind", Operation: policy.Equal, Value: []string{value}},
	}}}
}

func TestShowsFieldsWhoseConditionsAreMet(t *testing.T) {
	t.Parallel()
	company := "Company"
	p, err := evaluate.Compile(policy.Contents{EntityType: "Company", Fields: []policy.Field{
		{ID: "1", DataKey: "always", FieldType: "Text", Order: 2},
		{ID: "2", DataKey: "met", FieldType: "Text", Order: 1, Conditions: kindIs("Company")},
		{ID: "3", DataKey: "notMet", FieldType: "Text", Order: 3, Conditions: kindIs("Individual")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Evaluate(t.Context(), evaluate.Request{Properties: property.Split{
		SingleProperties: map[string]property.Text{"kind": {Value: &company}},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.EvaluatedFields {
		got = append(got, f.DataKey)
	}
	if len(got) != 2 || got[0] != "met" || got[1] != "always" {
		t.Errorf("evaluated fields are %v, want met and always", got)
	}
}
