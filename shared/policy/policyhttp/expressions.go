package policyhttp

import (
	"errors"
	"fmt"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/policy"
	"sluice/shared/policy/formula"
	"sluice/shared/policy/pattern"
)

// checkMeaning checks the rule of a field beyond its schema: its expressions can be compiled.
func (in *FieldRequest) checkMeaning(r *platform.Request) error {
	return r.Validate(func(v *platform.ValidationErrors) { checkExpressions(v, "", in.Field) })
}

// checkExpressions compiles the regular expressions and the formula of a field, so that their authors get the errors at
// once. References of the field are checked when its version is published.
func checkExpressions(v *platform.ValidationErrors, path string, f policy.Field) {
	if f.FormulaSchema != nil {
		if _, err := formula.Parse(f.FormulaSchema.FormulaString); err != nil {
			v.Add(join(path, "formulaSchema.formulaString"), "The formula is not valid: "+err.Error()+".", CodeFormula)
		}
	}
	rule := f.ValidationRules.Regex
	if rule == nil {
		return
	}
	check := func(path string, value policy.RuleValue) {
		if value.RegexValue == "" {
			return
		}
		var invalid *pattern.Error
		if _, err := pattern.Compile(value.RegexValue, value.MatchesCase()); errors.As(err, &invalid) {
			v.Add(path+".regexValue", "The expression is not valid: "+invalid.Error()+".", CodeRegex)
		}
	}
	at := join(path, "validationRules.regex")
	if rule.StaticRule != nil {
		check(at+".staticRule", *rule.StaticRule)
	}
	for i, d := range rule.DynamicRules {
		check(fmt.Sprintf("%s.dynamicRules.%d.value", at, i), d.Value)
	}
}
