package evaluate_test

import (
	"errors"
	"fmt"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// A single condition is asked about one entity after another.
func TestSingleCondition(t *testing.T) {
	t.Parallel()
	c, err := evaluate.CompileCondition(when("c", "Company")[0])
	errtest.Fatal(t, err)
	for _, kind := range []string{"Company", "Individual", "", "company"} {
		var properties property.Split
		if kind != "" {
			properties.SingleProperties = map[string]property.Text{"kind": {Value: &kind}}
		}
		c.SetEntity(properties)
		difftest.Equal(t, fmt.Sprintf("an entity of the kind %q meets the condition", kind),
			kind == "Company" || kind == "company", c.IsMet())
	}
	_, err = evaluate.CompileCondition(policy.Condition{Operands: []policy.Operand{{FieldName: "kind",
		Operation: "is"}}})
	var problems evaluate.Problems
	if !errors.As(err, &problems) || problems[0].Path != "condition.operands[0].operation" {
		t.Errorf("an operation that does not exist: %v", err)
	}
}
