package policyhttp

import (
	"fmt"
	"reflect"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/policy"
	"sluice/shared/policy/pattern"
)

// codeForbidden is the code of a key that a body must not have.
const codeForbidden = "extra_forbidden"

// operations lists the operations of operands, and "" for operands that combine others.
var operations = []string{"", string(policy.Equal), string(policy.NotEqual), string(policy.Contains),
	string(policy.NotContains), string(policy.IsEmpty), string(policy.IsNotEmpty), string(policy.IsDefined),
	string(policy.IsNotDefined), string(policy.GreaterThan), string(policy.GreaterThanOrEqual), string(policy.LessThan),
	string(policy.LessThanOrEqual), string(policy.CountEqual), string(policy.CountNotEqual),
	string(policy.CountLessThan), string(policy.CountLessThanOrEqual), string(policy.CountGreaterThan),
	string(policy.CountGreaterThanOrEqual), string(policy.CountBetween), string(policy.CountNotBetween),
	string(policy.Any), string(policy.All), string(policy.None)}

// checkConditions checks the sizes of conditions and that they have different IDs. Their operands are checked when they
// are compiled.
func checkConditions(v *platform.ValidationErrors, property string, conditions []policy.Condition) {
	if !v.CheckCount(property, len(conditions), maxConditions) {
		return
	}
	var ids []platform.Item
	for i, c := range conditions {
		path := fmt.Sprintf("%s.%d", property, i)
		requireMembers(v, path, c)
		ids = append(ids, checkCondition(v, path, c)...)
	}
	v.CheckUniqueItems(property, ids)
}

// checkCondition checks a condition and returns its ID, nothing if it has no ID yet.
func checkCondition(v *platform.ValidationErrors, path string, c policy.Condition) []platform.Item {
	v.CheckID(path+".id", c.ID)
	v.CheckText(path+".name", c.Name, policy.MaxNameLength)
	v.CheckText(path+".description", c.Description, maxDescription)
	checkLogical(v, path, c.LogicalOperation)
	checkOperands(v, path+".operands", c.Operands, 1)
	if c.ID == "" {
		return nil
	}
	return []platform.Item{{Property: path + ".id", Value: c.ID}}
}

// requireMembers checks that an object has at least one member.
func requireMembers(v *platform.ValidationErrors, path string, object any) {
	v.RequireValue(path, !reflect.ValueOf(object).IsZero())
}

func checkLogical(v *platform.ValidationErrors, path string, l policy.Logical) {
	v.RequireOneOf(path+".logicalOperation", string(l), "", string(policy.And), string(policy.Or))
}

// checkOperands checks operands that are nested depth deep.
func checkOperands(v *platform.ValidationErrors, property string, operands []policy.Operand, depth int) {
	if len(operands) > 0 && depth > policy.MaxOperandDepth {
		v.Add(property, fmt.Sprintf("Operands are nested more than %d deep.", policy.MaxOperandDepth),
			CodeCompile)
		return
	}
	if !v.CheckCount(property, len(operands), maxOperands) {
		return
	}
	for i, o := range operands {
		path := fmt.Sprintf("%s.%d", property, i)
		requireMembers(v, path, o)
		v.CheckText(path+".fieldName", o.FieldName, policy.MaxNameLength)
		v.CheckText(path+".valueField", o.ValueField, policy.MaxNameLength)
		v.CheckText(path+".dataSource", o.DataSource, platform.MaxName)
		v.CheckText(path+".valueType", o.ValueType, platform.MaxName)
		v.RequireOneOf(path+".operation", string(o.Operation), operations...)
		checkLogical(v, path, o.LogicalOperation)
		checkTexts(v, path+".value", o.Value, policy.MaxOperandValues, policy.MaxOperandLength)
		checkTexts(v, path+".valueId", o.ValueID, policy.MaxOperandValues, policy.MaxOperandLength)
		checkOperands(v, path+".operands", o.Operands, depth+1)
	}
}

func checkConditionalValues(v *platform.ValidationErrors, property string, values []policy.ConditionalValue) {
	if !v.CheckCount(property, len(values), maxConditions) {
		return
	}
	var ids []platform.Item
	for i, c := range values {
		path := fmt.Sprintf("%s.%d", property, i)
		requireMembers(v, path, c)
		ids = append(ids, checkCondition(v, path, c.Condition)...)
		v.CheckText(path+".value", c.Value, platform.MaxText)
		v.CheckText(path+".valueId", c.ValueID, platform.MaxName)
	}
	v.CheckUniqueItems(property, ids)
}

// checkRules checks the sizes of validation rules. Their bounds and expressions are checked when they are compiled.
func checkRules(v *platform.ValidationErrors, property string, rules policy.ValidationRules) {
	for name, r := range rules.All() {
		path := property + "." + name
		if r.StaticRule != nil {
			checkRuleValue(v, path+".staticRule", *r.StaticRule)
		}
		if !v.CheckCount(path+".dynamicRules", len(r.DynamicRules), maxConditions) {
			continue
		}
		var ids []platform.Item
		for i, d := range r.DynamicRules {
			dynamic := fmt.Sprintf("%s.dynamicRules.%d", path, i)
			requireMembers(v, dynamic, d)
			ids = append(ids, checkCondition(v, dynamic, d.Condition)...)
			checkRuleValue(v, dynamic+".value", d.Value)
		}
		v.CheckUniqueItems(path+".dynamicRules", ids)
	}
}

func checkRuleValue(v *platform.ValidationErrors, path string, r policy.RuleValue) {
	v.CheckText(path+".errorMessage", r.ErrorMessage, maxDescription)
	v.CheckText(path+".regexValue", r.RegexValue, pattern.MaxLength)
	for name, text := range inOrder("minValue", r.MinValue, "maxValue", r.MaxValue, "minDate", r.MinDate, "maxDate",
		r.MaxDate, "providerId", r.ProviderID, "timeZoneId", r.TimeZoneID) {
		v.CheckText(path+"."+name, text, platform.MaxName)
	}
	requireNotNegative(v, path+".limit", r.Limit)
	requireNotNegative(v, path+".overallMinimumCount", r.OverallMinimumCount)
	if !v.CheckCount(path+".requiredTypesMinCount", len(r.RequiredTypesMinCount), maxItems) {
		return
	}
	for i, t := range r.RequiredTypesMinCount {
		at := fmt.Sprintf("%s.requiredTypesMinCount.%d", path, i)
		v.RequireText(at+".type", t.Type, platform.MaxName)
		if t.MinCount < 1 {
			v.Add(at+".minCount", "The value must be 1 or more.", platform.CodeRange)
		}
	}
}

func requireNotNegative(v *platform.ValidationErrors, property string, n *int64) {
	if n != nil && *n < 0 {
		v.Add(property, "The value must not be negative.", platform.CodeRange)
	}
}
