package template

import "fmt"

// conditionHolds evaluates a condition by its name.
func (r *resolver) conditionHolds(name string) (bool, error) {
	c, ok := r.conditions[name]
	if !ok {
		return false, fmt.Errorf("names the condition %s, which the template does not define", name)
	}
	leave, err := r.enter("condition " + name)
	if err != nil {
		return false, err
	}
	defer leave()
	return r.evaluate(c)
}

// checkRules checks the rules of the template. The error for a violated assertion is its description.
func (r *resolver) checkRules(all map[string]any) error {
	for _, name := range sortedKeys(all) {
		rule, _ := all[name].(map[string]any)
		if when, ok := rule["RuleCondition"]; ok {
			if holds, err := r.evaluate(when); err != nil {
				return fmt.Errorf("the rule %s %w", name, err)
			} else if !holds {
				continue
			}
		}
		assertions, _ := rule["Assertions"].([]any)
		for _, a := range assertions {
			assertion, _ := a.(map[string]any)
			if holds, err := r.evaluate(assertion["Assert"]); err != nil {
				return fmt.Errorf("the rule %s %w", name, err)
			} else if !holds {
				return fmt.Errorf("%v", assertion["AssertDescription"])
			}
		}
	}
	return nil
}

// evaluate evaluates a condition function.
func (r *resolver) evaluate(v any) (bool, error) {
	m, ok := v.(map[string]any)
	if !ok || len(m) != 1 {
		return false, fmt.Errorf("contains a malformed condition")
	}
	for name, arg := range m {
		if name == "Condition" {
			return r.conditionHolds(scalarText(arg))
		}
		list, ok := arg.([]any)
		if !ok || len(list) == 0 {
			break
		}
		switch name {
		case "Fn::Equals":
			got, err := r.resolve(list)
			if pair, ok := got.([]any); err != nil || ok && len(pair) == 2 {
				return err == nil && scalarText(pair[0]) == scalarText(pair[1]), err
			}
		case "Fn::Not":
			if len(list) != 1 {
				break
			}
			holds, err := r.evaluate(list[0])
			return !holds, err
		case "Fn::And", "Fn::Or":
			isOr := name == "Fn::Or"
			for _, part := range list {
				if holds, err := r.evaluate(part); err != nil || holds == isOr {
					return err == nil && isOr, err
				}
			}
			return !isOr, nil
		}
	}
	return false, fmt.Errorf("contains a malformed condition")
}
