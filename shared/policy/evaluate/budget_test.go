package evaluate_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/shared/kit/errtest"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// contentsOf returns a version of n fields. The function gives each its logic.
func contentsOf(n int, add func(i int, f *policy.Field)) policy.Contents {
	var c policy.Contents
	for i := range n {
		f := policy.Field{ID: fmt.Sprint(i), DataKey: fmt.Sprint(i), FieldType: "Text"}
		add(i, &f)
		c.Fields = append(c.Fields, f)
	}
	return c
}

// Everything in a version is bounded: the bound compiles, and one more is one problem.
func TestBoundsOfVersions(t *testing.T) {
	t.Parallel()
	conditions := contentsOf(3999, func(_ int, f *policy.Field) { f.Conditions = make([]policy.Condition, 5) })
	conditions.Jurisdictions = []policy.Jurisdiction{{ID: "j", Conditions: make([]policy.Condition, 5)}}
	equal := func(n int) []policy.Condition {
		v := slices.Repeat([]string{"v"}, n)
		o := policy.Operand{FieldName: "p", Operation: policy.Equal, Value: v[:(n+1)/2], ValueID: v[:n/2]}
		return []policy.Condition{{Operands: []policy.Operand{o}}}
	}
	values := contentsOf(400, func(_ int, f *policy.Field) { f.Conditions = equal(500) })
	formulaOf := func(text string) *policy.FormulaSchema { return &policy.FormulaSchema{FormulaString: text} }
	formulas := contentsOf(100, func(_ int, f *policy.Field) {
		f.FormulaSchema = formulaOf("-" + strings.Repeat("1+", 499) + "1")
	})
	patternOf := func(text string) policy.ValidationRules {
		return policy.ValidationRules{Regex: &policy.Rule{StaticRule: &policy.RuleValue{RegexValue: text}}}
	}
	patterns := contentsOf(250, func(i int, f *policy.Field) {
		f.ValidationRules = patternOf(fmt.Sprintf("%03d(?:[ab]{997})", i))
	})
	dynamic := policy.ValidationRules{Mandatory: &policy.Rule{DynamicRules: make([]policy.DynamicRule, 1)}}
	for name, test := range map[string]struct {
		most policy.Contents
		more policy.Field
		// path and message are the path and the message of the only problem.
		path, message string
	}{
		"conditions": {conditions, policy.Field{Conditions: make([]policy.Condition, 1)}, "conditions",
			"at most 20000 conditions"},
		"conditional values": {conditions, policy.Field{ConditionalValues: make([]policy.ConditionalValue, 1)},
			"conditionalValues",
			"at most 20000 conditions"},
		"dynamic rules": {conditions, policy.Field{ValidationRules: dynamic}, "validationRules.mandatory.dynamicRules",
			"at most 20000 conditions"},
		"values": {values, policy.Field{Conditions: equal(1)}, "conditions[0].operands[0].value",
			"at most 200000 values of operands"},
		"formulas": {formulas, policy.Field{FormulaSchema: formulaOf("1")}, "formulaSchema.formulaString",
			"at most 100000 operations"},
		"patterns": {patterns, policy.Field{ValidationRules: patternOf("[cd]{999}x")},
			"validationRules.regex.staticRule", "too large together"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := test.most
			errtest.Is(t, "the bound is refused", errtest.Of(evaluate.Compile(c)), nil)
			test.more.ID, test.more.DataKey = "more", "more"
			c.Fields = append(slices.Clone(c.Fields), test.more, test.more)
			_, err := evaluate.Compile(c)
			var problems evaluate.Problems
			if !errors.As(err, &problems) || len(problems) != 1 || problems[0].Path != test.path ||
				problems[0].FieldID != "more" ||
				!strings.Contains(problems[0].Message, test.message) {
				t.Errorf("one more: %v; want %s: %s", err, test.path, test.message)
			}
		})
	}
}

// Equal regular expressions count once.
func TestEqualRegularExpressions(t *testing.T) {
	t.Parallel()
	c := contentsOf(1000, func(_ int, f *policy.Field) {
		f.ValidationRules.Regex = &policy.Rule{StaticRule: &policy.RuleValue{RegexValue: "[ab]{1000}"}}
	})
	errtest.Fatal(t, errtest.Of(evaluate.Compile(c)))
}

// Messages that quote long parts of the policy are cut, between characters.
func TestMessagesAreShort(t *testing.T) {
	t.Parallel()
	for n := range 4 {
		long := strings.Repeat("x", n) + strings.Repeat("é", 100_000)
		c := contentsOf(3, func(i int, f *policy.Field) {
			o := policy.Operand{FieldName: "p", Operation: policy.Operation(long), Value: []string{"v"}}
			if i == 1 {
				o.Value, o.ValueField = nil, "q"
			}
			f.Conditions = []policy.Condition{{Operands: []policy.Operand{o}}}
			if i == 2 {
				f.Conditions = []policy.Condition{{LogicalOperation: policy.Logical(long)}}
			}
		})
		_, err := evaluate.Compile(c)
		var problems evaluate.Problems
		if !errors.As(err, &problems) || len(problems) != 3 {
			t.Fatalf("got %d problems, want 3", len(problems))
		}
		for _, p := range problems {
			if len(p.Message) > 500 || len(p.Message) < 490 || !utf8.ValidString(p.Message) ||
				!strings.HasSuffix(p.Message, "éé...") {
				t.Errorf("the message has %d bytes: %q", len(p.Message), p.Message)
			}
		}
	}
}
