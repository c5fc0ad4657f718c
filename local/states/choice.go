package states

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// choice is one rule of a Choice state: a test of a variable, or a combination of rules.
type choice struct {
	Next     string
	And, Or  []choice
	Not      *choice
	Variable optionalPath
	// test is the name of the test, such as StringEquals, and empty for a combination of rules.
	test string
	// operand is what the variable is compared with.
	operand any
}

// The fields of a rule: the supported tests, and those that every rule can have.
var (
	supportedTests = []string{
		"StringEquals",
		"BooleanEquals",
		"NumericEquals",
		"NumericLessThan",
		"NumericLessThanEquals",
		"NumericGreaterThan",
		"NumericGreaterThanEquals",
		"IsPresent",
		"IsNull",
		"IsString",
		"IsNumeric",
		"IsBoolean",
	}
	structuralFields = []string{"Next", "And", "Or", "Not", "Variable", "Comment"}
)

// UnmarshalJSON reads a rule. Its errors continue a sentence that begins with the state.
func (c *choice) UnmarshalJSON(text []byte) error {
	type fieldsOnly choice
	if err := json.Unmarshal(text, (*fieldsOnly)(c)); err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	kinds := 0
	for name, value := range fields {
		switch {
		case slices.Contains(supportedTests, name):
			kinds++
			c.test = name
			var err error
			if c.operand, err = decode(value); err != nil {
				return err
			}
			if !isOperand(name, c.operand) {
				return fmt.Errorf("has a choice that compares by %s with %s, which is of another type", name, value)
			}
		case !slices.Contains(structuralFields, name):
			return fmt.Errorf("has a choice with %s, which the local cloud does not support", name)
		}
	}
	for _, present := range []bool{len(c.And) > 0, len(c.Or) > 0, c.Not != nil} {
		if present {
			kinds++
		}
	}
	if kinds != 1 || (c.test != "") != c.Variable.isSet {
		return fmt.Errorf("has a choice that is neither one test of a Variable nor one of And, Or, Not")
	}
	return nil
}

// isOperand reports whether a test can compare a variable with a value.
func isOperand(test string, v any) bool {
	_, isText := v.(string)
	_, isNumber := v.(json.Number)
	_, isBool := v.(bool)
	switch {
	case strings.HasPrefix(test, "String"):
		return isText
	case strings.HasPrefix(test, "Numeric"):
		return isNumber
	}
	return isBool
}

// hasInnerNext reports whether a rule inside of the rule has a Next, which only the outermost one can have.
func (c *choice) hasInnerNext() bool {
	inner := slices.Concat(c.And, c.Or)
	if c.Not != nil {
		inner = append(inner, *c.Not)
	}
	return slices.ContainsFunc(inner, func(i choice) bool { return i.Next != "" || i.hasInnerNext() })
}

// evaluate reports whether the rule holds. A variable that does not exist is a failure unless the test is IsPresent.
func (c *choice) evaluate(input, context any) (bool, *Failure) {
	switch {
	case c.And != nil:
		for i := range c.And {
			if ok, failure := c.And[i].evaluate(input, context); failure != nil || !ok {
				return false, failure
			}
		}
		return true, nil
	case c.Or != nil:
		for i := range c.Or {
			if ok, failure := c.Or[i].evaluate(input, context); failure != nil || ok {
				return ok, failure
			}
		}
		return false, nil
	case c.Not != nil:
		ok, failure := c.Not.evaluate(input, context)
		return !ok && failure == nil, failure
	}
	v, present := c.Variable.lookup(input, context)
	if c.test == "IsPresent" {
		return present == (c.operand == true), nil
	}
	if !present {
		return false, newFailure("States.Runtime", "The variable %s of a choice does not exist.", c.Variable.text)
	}
	return evaluateTest(c.test, v, c.operand), nil
}

// evaluateTest compares a variable v with the operand of a test. A variable of another type satisfies no comparison.
func evaluateTest(test string, v, operand any) bool {
	switch test {
	case "StringEquals":
		s, ok := v.(string)
		return ok && s == operand
	case "BooleanEquals":
		b, ok := v.(bool)
		return ok && b == operand
	case "IsNull":
		return (v == nil) == (operand == true)
	case "IsString":
		_, ok := v.(string)
		return ok == (operand == true)
	case "IsBoolean":
		_, ok := v.(bool)
		return ok == (operand == true)
	case "IsNumeric":
		_, ok := v.(json.Number)
		return ok == (operand == true)
	}
	a, ok := toFloat(v)
	b, operandOK := toFloat(operand)
	if !ok || !operandOK {
		return false
	}
	switch test {
	case "NumericEquals":
		return a == b
	case "NumericLessThan":
		return a < b
	case "NumericLessThanEquals":
		return a <= b
	case "NumericGreaterThan":
		return a > b
	}
	return a >= b
}

// toFloat returns the value of a JSON number.
func toFloat(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// chooseNext returns the next state of a Choice.
func (s *state) chooseNext(input, contextObject any) (string, *Failure) {
	for i := range s.Choices {
		ok, failure := s.Choices[i].evaluate(input, contextObject)
		if failure != nil {
			return "", failure
		}
		if ok {
			return s.Choices[i].Next, nil
		}
	}
	if s.Default == "" {
		return "", newFailure("States.NoChoiceMatched", "No rule of the state %s matches and it has no Default.",
			s.name)
	}
	return s.Default, nil
}
