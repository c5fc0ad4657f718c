package evaluate_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"sluice/shared/kit/errtest"
	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// Formulas, patterns, numbers, dates and time zones that users write are compiled, or refused with one problem that
// names the field and the member.
func FuzzTextsOfRules(f *testing.F) {
	for _, seed := range [][4]string{
		{"{a}/{b}", `^\d+$`, "12", "2026-01-01"}, {"{f}+1", `(?=a)`, "-", "2026-02-30"}, {"(((1", `(a)\1`, "1e5",
			"2026-01-01T00:00:00+99:00"},
		{"", `(a{1000}){1000}`, "0.00", "Local"}, {"{a}{b}", `[[:alpha:]]`, "٣", "0000-00-00"}, {"{\x00}", "\xff",
			"\xff", "\xff"},
		{"1/0", `(?i)\p{Greek}{50}`, "99999999999999999999999999999999999999", "9999-12-31T23:59:60Z"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], "3")
	}
	f.Fuzz(func(t *testing.T, formulaText, patternText, number, date, value string) {
		rule := func(v policy.RuleValue) *policy.Rule { return &policy.Rule{IsActive: true, StaticRule: &v} }
		when := func(operation policy.Operation, text string) []policy.Condition {
			return []policy.Condition{{Operands: []policy.Operand{{FieldName: "a", Operation: operation,
				Value: []string{text}}}}}
		}
		var all policy.Contents
		for path, f := range map[string]policy.Field{
			"conditions[0].operands[0].value[0]": {Conditions: when(policy.LessThan, number)},
			"formulaSchema.formulaString":        {FormulaSchema: &policy.FormulaSchema{FormulaString: formulaText}},
			"validationRules.regex.staticRule": {ValidationRules: policy.ValidationRules{
				Regex: rule(policy.RuleValue{RegexValue: patternText})}},
			"validationRules.numberLimit.staticRule": {ValidationRules: policy.ValidationRules{
				NumberLimit: rule(policy.RuleValue{MinValue: number})}},
			"validationRules.dateLimit.staticRule": {ValidationRules: policy.ValidationRules{
				DateLimit: rule(policy.RuleValue{MaxDate: date})}},
			"validationRules.timeZoneId.staticRule": {ValidationRules: policy.ValidationRules{
				TimeZoneID: rule(policy.RuleValue{TimeZoneID: date})}},
		} {
			f.ID, f.DataKey, f.FieldType = path, path, "Text"
			c := policy.Contents{Fields: []policy.Field{f}}
			program, err := evaluate.Compile(c)
			var problems evaluate.Problems
			if errors.As(err, &problems) {
				checkProblems(t, c, err)
				if len(problems) != 1 || !strings.HasPrefix(problems[0].Path, path) {
					t.Fatalf("the text at %q has the problems %v", path, problems)
				}
				continue
			}
			all.Fields = append(all.Fields, f)
			properties := map[string]property.Text{"a": {Value: &value}, "b": {Value: &number}, path: {Value: &value}}
			checkEvaluation(t, program, evaluate.Request{
				Properties: property.Split{SingleProperties: properties}, ReturnValidationErrors: true,
				Now: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
			})
		}
		errtest.Fatal(t, errtest.Of(evaluate.Compile(all)))
	})
}
